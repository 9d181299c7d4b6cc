"""Admissible poses: within reach, inside the limits, on home's side of singularity and of the base.

A square Jacobian whose determinant has the other sign than at home belongs to another aspect of
the machine: on every way there, a pose is singular.

Where the plates are apart at home, the middle of each one's joints stays on home's side of the
other one's plane: the platform neither passes through the base nor turns its other side to it.
Collisions of legs, and of one plate's edge with the other, are not searched.

Constant-orientation workspace in closed form, for legs with two straight ends: with the attitude R
fixed, leg i is between its limits where the reference point p is between two spheres about
c_i = a_i - R b_i: minimum_i <= |p - c_i| <= maximum_i. The workspace is what the shells have in
common. It takes base and platform joints and the rotation matrix only, not the platform's
kinematics.

Reference: Merlet, Parallel Robots, section on workspace; Gosselin, Determination of the workspace
of 6-dof parallel manipulators, 1990.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from twin.analysis.feasibility.collisions import ring
from twin.analysis.feasibility.course import polygon_distance
from twin.basics.arrays import BoolArray, FloatArray, IndexArray, rotated
from twin.errors import InputError
from twin.kernels.kinematics import inverse_kinematics_batch, jacobian_batch
from twin.model.machine_base import run
from twin.model.machine_model import MachineModel, as_model

LIMIT_TOLERANCE = 1e-12
"""Excess over a limit, relative to it, that counts as rounding, as in `Platform.within_limits`."""

SYMMETRY_TOLERANCE = 1e-9
"""[m], [1] Largest difference of joints that counts as symmetric: joints given in degrees agree to
rounding."""


class Cause(IntEnum):
    """Cause that ends the workspace at a pose."""

    NONE = 0
    """the search ended first"""
    MINIMUM = 1
    """an actuator at its lower limit"""
    MAXIMUM = 2
    """an actuator at its upper limit"""
    UNREACHABLE = 3
    """a leg that cannot reach"""
    SINGULAR = 4
    """the determinant of the Jacobian changes sign"""
    PLATES = 5
    """the middle of a plate is in the other one's plane"""


def coordinates(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return actuator coordinates `(m, n)` of checked poses `(m, 7)`; NaN out of reach."""
    values = np.empty((len(poses), platform.n_actuators))
    run(inverse_kinematics_batch, (platform.constants.legs,), (poses, values))
    return values


def jacobians(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return Jacobians `(m, n, 6)` of checked poses `(m, 7)`; not finite where there is none."""
    matrices = np.empty((len(poses), platform.n_actuators, 6))
    run(jacobian_batch, (platform.constants.legs,), (poses, matrices))
    return matrices


def determinants(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return determinants `(m,)` of square Jacobians of poses `(m, 7)`; NaN where there is none."""
    matrices = jacobians(platform, poses)
    finite = np.isfinite(matrices).all(axis=(1, 2))
    values = np.full(len(poses), np.nan)
    values[finite] = np.linalg.det(matrices[finite])
    return values


def plates_apart(platform: MachineModel) -> bool:
    """Return whether the polygons of base and platform joints do not intersect at home.

    False for pillars, whose feet slide on the floor, and where one is inside the other.
    """
    if platform.leg.has_foot:
        return False
    tips = platform.home[:3] + rotated(platform.home[3:], platform.platform_joints)
    rings = [
        joints[ring(corners)][None]
        for joints, corners in (
            (platform.base_joints, platform.base_joints),
            (tips, platform.platform_joints),
        )
    ]
    return bool(polygon_distance(*rings)[0] > 0.0)


def plate_heights(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return heights `(m, 2)` [m] of each plate's middle above the other's plane at poses `(m, 7)`.

    First the platform above the base, then the base above the platform. Planes are those of the
    joints by least squares, with normals along +z of base and platform.
    """
    base, platform_joints = platform.base_joints, platform.platform_joints
    platform_center = poses[:, :3] + rotated(poses[:, 3:], platform_joints.mean(axis=0)[None])
    center_vector = platform_center - base.mean(axis=0)
    plate_normal = rotated(poses[:, 3:], _normal(platform_joints)[None])
    return np.stack(
        [center_vector @ _normal(base), -np.einsum("mi,mi->m", center_vector, plate_normal)], axis=1
    )


def _normal(joints: FloatArray) -> FloatArray:
    """Return the unit normal `(3,)` of the plane nearest to joints `(n, 3)`."""
    normal: FloatArray = np.linalg.svd(joints - joints.mean(axis=0))[2][2]
    return normal if normal[2] >= 0.0 else -normal


def square(platform: MachineModel) -> bool:
    """Return whether the determinant of the Jacobian changes sign at singular poses."""
    return platform.dof == platform.n_actuators == 6


class Admissible:
    """The test of poses, with the sign of the determinant that a machine has at `center`."""

    def __init__(self, platform: MachineModel, center: FloatArray) -> None:
        """Store the sign of the determinant at `center` `(7,)`.

        Raises:
            InputError: the centre is singular or outside the limits.
        """
        self.platform = platform
        if not platform.within_limits(center):
            raise InputError("center", "lies outside the actuators' limits or out of reach")
        self._heights = np.zeros(2)
        if plates_apart(platform):
            self._heights = plate_heights(platform, platform.home[None])[0]
        if not self.facing(center[None])[0]:
            raise InputError("center", "lies on the other side of the base than home")
        self.side = 1.0
        if square(platform):
            self.side = float(np.sign(determinants(platform, center[None])[0]))
            if self.side == 0.0 or np.isnan(self.side):
                raise InputError("center", "is a singular pose")

    def within(self, found: FloatArray) -> BoolArray:
        """Return whether coordinates `(m, n)` are inside the limits; not if NaN."""
        low, high = self.platform.minimum_coordinates, self.platform.maximum_coordinates
        tolerance = LIMIT_TOLERANCE * np.maximum(np.abs(low), np.abs(high))
        return np.asarray(((found >= low - tolerance) & (found <= high + tolerance)).all(axis=1))

    def facing(self, poses: FloatArray) -> BoolArray:
        """Return `(m,)` whether at poses `(m, 7)` the plates face each other as at home."""
        if not self._heights.any():
            return np.ones(len(poses), dtype=bool)
        heights = plate_heights(self.platform, poses) * np.sign(self._heights)
        return np.asarray((heights > 0.0).all(axis=1))

    def inside(self, poses: FloatArray) -> BoolArray:
        """Return `(m,)` whether poses `(m, 7)` are admissible."""
        is_inside = self.within(coordinates(self.platform, poses))
        is_inside[is_inside] = self.facing(poses[is_inside])
        if square(self.platform):
            is_inside[is_inside] = self.side * determinants(self.platform, poses[is_inside]) > 0.0
        return is_inside

    def causes(self, poses: FloatArray) -> tuple[IndexArray, IndexArray]:
        """Return why poses `(m, 7)` are excluded: causes `(m,)` and legs `(m,)` from 1, or 0."""
        values = coordinates(self.platform, poses)
        low, high = self.platform.minimum_coordinates, self.platform.maximum_coordinates
        stroke = high - low
        excess_above, excess_below = (values - high) / stroke, (low - values) / stroke
        is_unreached = np.isnan(values)
        excess = np.where(is_unreached, np.inf, np.maximum(excess_above, excess_below))
        leg = excess.argmax(axis=1)
        rows = np.arange(len(poses))
        cause = np.where(
            excess_above[rows, leg] > excess_below[rows, leg], Cause.MAXIMUM, Cause.MINIMUM
        )
        cause[is_unreached[rows, leg]] = Cause.UNREACHABLE
        is_within = self.within(values)
        cause[is_within] = np.where(self.facing(poses[is_within]), Cause.SINGULAR, Cause.PLATES)
        has_no_pose = np.isnan(poses).any(axis=1)
        cause[has_no_pose], is_within[has_no_pose] = Cause.NONE, True
        return cause.astype(np.int64), np.where(is_within, 0, leg + 1).astype(np.int64)


def cause_text(cause: Any, leg: Any, coordinate: str) -> str:
    """Return a cause with the number of its leg as text."""
    texts = {
        Cause.NONE: "end of the search",
        Cause.MINIMUM: f"leg {leg} at its lower limit",
        Cause.MAXIMUM: f"leg {leg} at its upper limit",
        Cause.UNREACHABLE: f"leg {leg} out of reach ({coordinate})",
        Cause.SINGULAR: "singular pose",
        Cause.PLATES: "platform and base in one plane",
    }
    return texts[Cause(int(cause))]


def shell_centers(platform: MachineModel, pose: FloatArray) -> FloatArray:
    """Return the shells' centres `(n, 3)` [m] at the attitude of a pose `(7,)`.

    Raises:
        InputError: legs that are not straight.
    """
    from scipy.spatial.transform import Rotation

    if not as_model(platform).leg.is_straight:
        raise InputError("platform", f"{platform.name} has no straight legs with two free ends")
    matrix = Rotation.from_quat(pose[[4, 5, 6, 3]]).as_matrix()
    return np.asarray(platform.base_joints - platform.platform_joints @ matrix.T)


def within_shells(platform: MachineModel, pose: FloatArray, positions: FloatArray) -> BoolArray:
    """Return whether positions `(..., 3)` [m] are between all shells at the attitude of `pose`.

    Raises:
        InputError: legs that are not straight.
    """
    centers = shell_centers(platform, pose)
    distance = np.linalg.norm(positions[..., None, :] - centers, axis=-1)
    low, high = platform.minimum_coordinates, platform.maximum_coordinates
    return np.asarray(((distance >= low) & (distance <= high)).all(axis=-1))


def shell_exits(platform: MachineModel, pose: FloatArray, directions: FloatArray) -> FloatArray:
    """Return the distances `(...)` [m] from a pose inside to the first shell along unit vectors.

    The smallest positive root of |v + t d|^2 = r^2, v = p - c_i, over all legs and both radii.

    Raises:
        InputError: legs that are not straight.
    """
    offsets = pose[:3] - shell_centers(platform, pose)
    half_linear_term = directions @ offsets.T
    squared_offsets = np.einsum("ij,ij->i", offsets, offsets)
    distances = np.full(directions.shape[:-1], np.inf)
    for radii, outward in (
        (platform.maximum_coordinates, True),
        (platform.minimum_coordinates, False),
    ):
        discriminant = half_linear_term**2 - (squared_offsets - radii**2)
        root = np.sqrt(np.maximum(discriminant, 0.0))
        # From inside the outer sphere the far root is ahead; the inner one is met at the near root.
        distance = -half_linear_term + root if outward else -half_linear_term - root
        distance = np.where((discriminant < 0.0) | (distance < 0.0), np.inf, distance)
        distances = np.minimum(distances, distance.min(axis=-1))
    return distances


def plane_exits(platform: MachineModel, pose: FloatArray, directions: FloatArray) -> FloatArray:
    """Return the distances `(m,)` along unit vectors `(m, 3)` to where plates are level.

    There the middle of a plate's joints is in the plane of the other's. Infinite where it never is,
    and for plates that are not apart at home. At the attitude of the pose both planes are fixed,
    so that the height of one middle above the other plane is linear in the distance.
    """
    if not plates_apart(platform):
        return np.full(len(directions), np.inf)
    heights = plate_heights(platform, pose[None])[0]
    moved_poses = np.tile(pose, (len(directions), 1))
    moved_poses[:, :3] += directions
    rates = plate_heights(platform, moved_poses) - heights
    with np.errstate(divide="ignore"):
        crossings = np.where(rates * heights < 0.0, -heights / rates, np.inf)
    return np.asarray(crossings.min(axis=-1))


def bounding_box(platform: MachineModel, pose: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners `(3,)` [m] of the box that all outer spheres have in common.

    Raises:
        InputError: legs that are not straight.
    """
    centers = shell_centers(platform, pose)
    radii = platform.maximum_coordinates[:, None]
    return (centers - radii).max(axis=0), (centers + radii).min(axis=0)


def third_turn(platform: MachineModel) -> bool:
    """Return whether the machine is symmetric under a rotation by 120 degrees about z.

    Base and platform joints, first axes and limits are compared, and home must be level on the
    axis.

    Raises:
        InputError: not a machine.
    """
    as_model(platform)
    if np.abs(platform.home[[0, 1, 4, 5, 6]]).max() > SYMMETRY_TOLERANCE:
        return False
    cosine, sine = -0.5, np.sqrt(0.75)
    rotation = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    limits = np.column_stack([platform.minimum_coordinates, platform.maximum_coordinates])
    points = [platform.base_joints, platform.platform_joints]
    if platform.leg.has_crank:
        points.append(platform.first_axes)
    geometry = np.hstack([*points, limits])
    rotated_geometry = np.hstack(
        [*(points_of_side @ rotation.T for points_of_side in points), limits]
    )
    distance = np.abs(rotated_geometry[:, None] - geometry[None]).max(axis=2).min(axis=1)
    return bool(distance.max() <= SYMMETRY_TOLERANCE)
