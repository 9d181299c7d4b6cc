"""Legs with errors: poses at given coordinates, and derivatives of coordinates by errors."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.calibration.leg_errors import LegErrors
from twin.kernels.legs.interface import Legs
from twin.model.derivatives import slope_width
from twin.model.forward_kinematics import geometry
from twin.rotations import displaced

STEPS = 40
"""Of Newton's method from the pose of the machine without errors."""

LARGEST_TURN = 1.0
"""[rad] of a step; farther ones lead nowhere."""

CLOSE = 1e-13
"""Last step [m, rad] of a solved pose; steps shrink quadratically before."""


def legs_with(errors: LegErrors, values: FloatArray) -> Legs:
    """Return the kernels' legs with errors `(n, k)`."""
    legs = errors.machine.constants.legs
    changed: Legs = type(legs)(errors.rows(values))  # type: ignore[call-arg]
    return changed


def by_errors(errors: LegErrors, values: FloatArray, poses: FloatArray) -> FloatArray:
    """Return the derivatives `(m, n + c, n k)` of `geometry` by the errors `(n, k)`.

    Those of the offsets are zero here.
    """
    from twin.kernels.parameter_derivatives import Slopes, geometry_by_parameters

    legs, count = legs_with(errors, values), errors.machine.n_actuators
    slopes = np.concatenate([legs.rows[None], errors.slopes(values)])
    body = np.zeros((len(slopes), len(errors.machine.constants.body)))
    found = np.full((len(poses), count + 6 - errors.machine.dof, len(slopes) - 1), np.nan)
    if geometry_by_parameters(legs, Slopes(body, slopes), slope_width(), poses, found) >= 0:
        found[:] = np.nan
    return found


def solved(legs: Legs, coordinates: FloatArray, start: FloatArray, constraints: int) -> FloatArray:
    """Return the poses `(m, 7)` of coordinates `(m, n)` near `start`, NaN where there is none.

    Where coordinates contradict each other, the nearest pose by least squares.
    """
    poses = start.copy()
    for _ in range(STEPS):
        at = geometry(legs, poses, constraints)
        wanted = np.pad(coordinates, ((0, 0), (0, constraints))) - at.values
        if not (np.isfinite(at.rows).all() and np.isfinite(wanted).all()):
            break
        step = np.einsum("mij,mj->mi", np.linalg.pinv(at.rows), wanted)
        if not np.abs(step[:, 3:]).max(initial=0.0) < LARGEST_TURN:
            break
        poses = displaced(poses, step)
        if np.abs(step).max(initial=0.0) < CLOSE:
            return poses
    return np.full_like(start, np.nan)
