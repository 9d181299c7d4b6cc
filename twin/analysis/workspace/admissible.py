"""Admissible poses: within reach, inside the limits, on home's side of singularity.

A square Jacobian whose determinant has the other sign than at home belongs to another aspect of
the machine: on every way there, a pose is singular.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from twin.basics.arrays import BoolArray, FloatArray, IndexArray
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

    def inside(self, poses: FloatArray) -> BoolArray:
        """Return `(m,)` whether poses `(m, 7)` are admissible."""
        good = self.within(coordinates(self.platform, poses))
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
        cause[fine] = Cause.SINGULAR
        return cause.astype(np.int64), np.where(fine, 0, leg + 1).astype(np.int64)


def cause_text(cause: Any, leg: Any, coordinate: str) -> str:
    """Return a cause with the number of its leg as text."""
    texts = {
        Cause.NONE: "end of the search",
        Cause.MINIMUM: f"leg {leg} at its lower limit",
        Cause.MAXIMUM: f"leg {leg} at its upper limit",
        Cause.UNREACHABLE: f"leg {leg} out of reach ({coordinate})",
        Cause.SINGULAR: "singular pose",
    }
    return texts[Cause(int(cause))]
