"""Random poses of a machine, and motions through a given state."""

import numpy as np
from numpy.typing import NDArray
from scales import scale_of
from scipy.spatial.transform import Rotation
from turns import turn_of

Array = NDArray[np.float64]

TRIES = 200


def moved(platform, pose, twist, acceleration, time):
    """Return poses that pass `pose` at time 0 with this twist and acceleration.

    The rotation vector omega t + alpha t^2 / 2 has angular velocity omega and acceleration alpha
    at t = 0. On pillars height, roll and pitch follow it, and the rest follows from them.
    """
    path = twist * time + 0.5 * acceleration * time**2
    turned = Rotation.from_rotvec(path[:, 3:]) * turn_of(pose)
    wanted = np.hstack([pose[:, :3] + path[:, :3], turned.as_quat(scalar_first=True)])
    return platform.constrain(wanted).pose


def shifted(pose, x, y, z):
    """Return a pose moved [m]."""
    return pose + np.pad([x, y, z], (0, 4))


def poses_about_home(platform, distance, angle, count, seed):
    """Return random poses up to `distance` [m] and `angle` [rad] away from home on each axis."""
    random = np.random.default_rng(seed)
    place = platform.home[:3] + random.uniform(-distance, distance, (count, 3))
    home = turn_of(platform.home)
    turn = Rotation.from_rotvec(random.uniform(-angle, angle, (count, 3))) * home
    return platform.constrain(np.hstack([place, turn.as_quat(scalar_first=True)])).pose


def poses_near(platform, count, seed, share=0.06):
    """Return random poses near home: up to `share` of the machine's length, or as many radians."""
    return poses_about_home(platform, share * scale_of(platform).length, share, count, seed)


def poses_within_limits(platform, count, seed):
    """Return `count` random poses whose actuators are inside their limits."""
    reach = 0.6 * stroke_length(platform)
    size = float(np.linalg.norm(platform.platform_joints, axis=1).mean())
    found = np.empty((0, 7))
    for k in range(TRIES):
        poses = poses_about_home(platform, reach, reach / size, 1000, 1000 * seed + k)
        found = np.vstack([found, poses[platform.within_limits(poses)]])
        if len(found) >= count:
            return found[:count]
    raise AssertionError(f"{platform.name}: too few poses inside the limits")


def stroke_length(platform):
    """Return how far [m] the actuators' strokes move the platform, roughly."""
    stroke = float((platform.maximum_coordinates - platform.minimum_coordinates).max())
    if platform.coordinate_unit == "m":
        return stroke
    jacobian = platform.jacobian(platform.home)
    return stroke / float(np.linalg.norm(jacobian[:, :3], axis=1).max())


def fitting(platform, coordinates):
    """Return coordinates `(..., n)` that a pose can have: pillars on a rectangle fit in pairs."""
    found = np.array(coordinates)[..., : platform.n_actuators]
    if platform.kind == "pillar":
        found[..., 3] = found[..., 0] + found[..., 2] - found[..., 1]
    return found
