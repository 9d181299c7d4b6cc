"""Constant-orientation workspace in closed form, for legs with two straight ends.

With the attitude R held, leg i is between its limits where the reference point p is between two
spheres about c_i = a_i - R b_i: minimum_i <= |p - c_i| <= maximum_i. The workspace is what the
shells have in common. Independent of the platform's kinematics: base and platform joints and the
rotation matrix are all it takes.

Reference: Merlet, Parallel Robots, section on workspace; Gosselin, Determination of the workspace
of 6-dof parallel manipulators, 1990.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.workspace.admissible import plate_heights, plates_apart
from twin.basics.arrays import BoolArray, FloatArray, as_floats, as_pose
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model

CLOSE = 1e-9
"""[m] and [1]; joints given in degrees agree to rounding."""


def shell_centers(platform: MachineModel, pose: Any) -> FloatArray:
    """Return the shells' centres `(n, 3)` [m] at the attitude of a pose `(7,)`.

    Raises:
        InputError: legs that are not straight, or not one pose.
    """
    from scipy.spatial.transform import Rotation

    if not as_model(platform).leg.is_straight:
        raise InputError("platform", f"{platform.name} has no straight legs with two free ends")
    place = as_pose(pose)
    if place.shape != (7,):
        raise InputError("pose", f"must be one pose (7,), got shape {place.shape}")
    matrix = Rotation.from_quat(place[[4, 5, 6, 3]]).as_matrix()
    return np.asarray(platform.base_joints - platform.platform_joints @ matrix.T)


def within_shells(platform: MachineModel, pose: Any, positions: Any) -> BoolArray:
    """Return whether positions `(..., 3)` [m] are between all shells at the attitude of `pose`.

    Raises:
        InputError: legs that are not straight, wrong shapes, not finite.
    """
    centers = shell_centers(platform, pose)
    places = as_floats(positions, "positions", 3)
    distance = np.linalg.norm(places[..., None, :] - centers, axis=-1)
    low, high = platform.minimum_coordinates, platform.maximum_coordinates
    return np.asarray(((distance >= low) & (distance <= high)).all(axis=-1))


def shell_exits(platform: MachineModel, pose: Any, directions: Any) -> FloatArray:
    """Return the distances `(...)` [m] from a pose inside to the first shell along unit vectors.

    The smallest positive root of |v + t d|^2 = r^2, v = p - c_i, over all legs and both radii.

    Raises:
        InputError: legs that are not straight, wrong shapes, not finite.
    """
    offsets = as_pose(pose)[:3] - shell_centers(platform, pose)
    along = as_floats(directions, "directions", 3)
    half = along @ offsets.T
    squares = np.einsum("ij,ij->i", offsets, offsets)
    found = np.full(along.shape[:-1], np.inf)
    for radii, outward in (
        (platform.maximum_coordinates, True),
        (platform.minimum_coordinates, False),
    ):
        under = half**2 - (squares - radii**2)
        root = np.sqrt(np.maximum(under, 0.0))
        # From inside the outer sphere the far root is ahead; the inner one is met at the near root.
        distance = -half + root if outward else -half - root
        distance = np.where((under < 0.0) | (distance < 0.0), np.inf, distance)
        found = np.minimum(found, distance.min(axis=-1))
    return found


def plane_exits(platform: MachineModel, pose: Any, directions: Any) -> FloatArray:
    """Return the distances `(...)` [m] from a pose along unit vectors to where plates are level.

    There the middle of a plate's joints is in the plane of the other's. Infinite where it never is,
    and for plates that are not apart at home. At the attitude of the pose both planes are fixed,
    so that the height of one middle above the other plane is linear in the distance.

    Raises:
        InputError: not one pose, wrong shapes, not finite.
    """
    start, along = as_pose(pose), as_floats(directions, "directions", 3)
    found = np.full(along.shape[:-1], np.inf)
    if not plates_apart(platform):
        return found
    heights = plate_heights(platform, start[None])[0]
    steps = np.tile(start, (along.size // 3, 1))
    steps[:, :3] += along.reshape(-1, 3)
    rates = (plate_heights(platform, steps) - heights).reshape((*found.shape, 2))
    with np.errstate(divide="ignore"):
        ahead = np.where(rates * heights < 0.0, -heights / rates, np.inf)
    return np.asarray(np.minimum(found, ahead.min(axis=-1)))


def bounding_box(platform: MachineModel, pose: Any) -> tuple[FloatArray, FloatArray]:
    """Return the corners `(3,)` [m] of the box that all outer spheres have in common.

    Raises:
        InputError: legs that are not straight, or not one pose.
    """
    centers = shell_centers(platform, pose)
    radii = platform.maximum_coordinates[:, None]
    return (centers - radii).max(axis=0), (centers + radii).min(axis=0)


def third_turn(platform: MachineModel) -> bool:
    """Return whether every leg has an equal one a third of a turn further on.

    Base and platform joints, first axes and limits are compared, and home must be level on the
    axis.

    Raises:
        InputError: not a machine.
    """
    as_model(platform)
    if np.abs(platform.home[[0, 1, 4, 5, 6]]).max() > CLOSE:
        return False
    cosine, sine = -0.5, np.sqrt(0.75)
    turn = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    limits = np.column_stack([platform.minimum_coordinates, platform.maximum_coordinates])
    points = [platform.base_joints, platform.platform_joints]
    if platform.leg.has_crank:
        points.append(platform.first_axes)
    here = np.hstack([*points, limits])
    there = np.hstack([*(part @ turn.T for part in points), limits])
    apart = np.abs(there[:, None] - here[None]).max(axis=2).min(axis=1)
    return bool(apart.max() <= CLOSE)
