"""Admissible poses: within reach, inside the limits, on home's side of singularity and of the base.

A square Jacobian whose determinant has the other sign than at home belongs to another aspect of
the machine: on every way there, a pose is singular.

Where the plates are apart at home, the middle of each one's joints stays on home's side of the
other one's plane: the platform neither passes through the base nor turns its other side to it.
Collisions of legs, and of one plate's edge with the other, are not searched.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from twin.analysis.feasibility.collisions import ring
from twin.analysis.feasibility.polygons import polygon_distance
from twin.basics.arrays import BoolArray, FloatArray, IndexArray
from twin.basics.quaternions import rotated
from twin.errors import InputError
from twin.kernels.kinematics.inverse import inverse_kinematics_batch
from twin.kernels.kinematics.jacobian import jacobian_batch
from twin.model.evaluation import run
from twin.model.machine_model import MachineModel

SLACK = 1e-12
"""Limits are met to this part of them, as in `Platform.within_limits`."""


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
    found = np.empty((len(poses), platform.n_actuators))
    run(inverse_kinematics_batch, (platform.constants.legs,), (poses, found))
    return found


def jacobians(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return Jacobians `(m, n, 6)` of checked poses `(m, 7)`; not finite where there is none."""
    found = np.empty((len(poses), platform.n_actuators, 6))
    run(jacobian_batch, (platform.constants.legs,), (poses, found))
    return found


def determinants(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return determinants `(m,)` of square Jacobians of poses `(m, 7)`; NaN where there is none."""
    matrices = jacobians(platform, poses)
    finite = np.isfinite(matrices).all(axis=(1, 2))
    found = np.full(len(poses), np.nan)
    found[finite] = np.linalg.det(matrices[finite])
    return found


def plates_apart(platform: MachineModel) -> bool:
    """Return whether the polygons of base and platform joints are apart at home.

    False for pillars, whose feet slide on the floor, and where one is inside the other.
    """
    if platform.leg.has_foot:
        return False
    tips = platform.home[:3] + rotated(platform.home[3:], platform.platform_joints)
    rings = [
        joints[ring(own)][None]
        for joints, own in (
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
    base, top = platform.base_joints, platform.platform_joints
    middle = poses[:, :3] + rotated(poses[:, 3:], top.mean(axis=0)[None])
    way = middle - base.mean(axis=0)
    turned = rotated(poses[:, 3:], _normal(top)[None])
    return np.stack([way @ _normal(base), -np.einsum("mi,mi->m", way, turned)], axis=1)


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
        """Take the sign at `center` (7,).

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
        slack = SLACK * np.maximum(np.abs(low), np.abs(high))
        return np.asarray(((found >= low - slack) & (found <= high + slack)).all(axis=1))

    def facing(self, poses: FloatArray) -> BoolArray:
        """Return `(m,)` whether at poses `(m, 7)` the plates face each other as at home."""
        if not self._heights.any():
            return np.ones(len(poses), dtype=bool)
        heights = plate_heights(self.platform, poses) * np.sign(self._heights)
        return np.asarray((heights > 0.0).all(axis=1))

    def distances(self, poses: FloatArray) -> FloatArray:
        """Return `(m, d)` what is positive on the centre's side of singular poses and of plates.

        The determinant of a square Jacobian, and the heights of the plates' middles [m].
        """
        found = []
        if square(self.platform):
            found.append(self.side * determinants(self.platform, poses))
        if self._heights.any():
            found += list((plate_heights(self.platform, poses) * np.sign(self._heights)).T)
        return np.array(found).reshape(len(found), len(poses)).T

    def inside(self, poses: FloatArray) -> BoolArray:
        """Return `(m,)` whether poses `(m, 7)` are admissible."""
        good = self.within(coordinates(self.platform, poses))
        good[good] = self.facing(poses[good])
        if square(self.platform):
            good[good] = self.side * determinants(self.platform, poses[good]) > 0.0
        return good

    def causes(self, poses: FloatArray) -> tuple[IndexArray, IndexArray]:
        """Return the exclusion of poses `(m, 7)`: causes `(m,)` and legs `(m,)` from 1, 0: none."""
        found = coordinates(self.platform, poses)
        low, high = self.platform.minimum_coordinates, self.platform.maximum_coordinates
        stroke = high - low
        over, under = (found - high) / stroke, (low - found) / stroke
        missing = np.isnan(found)
        worst = np.where(missing, np.inf, np.maximum(over, under))
        leg = worst.argmax(axis=1)
        rows = np.arange(len(poses))
        cause = np.where(over[rows, leg] > under[rows, leg], Cause.MAXIMUM, Cause.MINIMUM)
        cause[missing[rows, leg]] = Cause.UNREACHABLE
        fine = self.within(found)
        cause[fine] = np.where(self.facing(poses[fine]), Cause.SINGULAR, Cause.PLATES)
        beyond = np.isnan(poses).any(axis=1)
        cause[beyond], fine[beyond] = Cause.NONE, True
        return cause.astype(np.int64), np.where(fine, 0, leg + 1).astype(np.int64)


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
