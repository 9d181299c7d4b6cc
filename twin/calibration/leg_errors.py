"""Errors of the legs, and the geometry of a machine with such errors."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.legs.interface import AXIS, BASE_JOINT, PLATFORM_JOINT, Legs
from twin.kernels.legs.rss.kinematics import CRANK_LENGTH, ROD_LENGTH, ZERO
from twin.model.derivatives import slope_width
from twin.model.forward_kinematics import geometry
from twin.model.machine_model import MachineModel
from twin.rotations import displaced

JOINT_ERROR_NAMES = tuple(
    f"{joint} joint {axis}" for joint in ("base", "platform") for axis in "xyz"
)
CRANK_ERROR_NAMES = ("crank axis 1", "crank axis 2", "crank length", "rod length")
"""The axis turns about the crank's direction at angle 0, and about the horizontal across it."""

AXIS_ERROR_INDEX = 6
"""Where the two turns of an axis are among the errors of a leg."""

MAX_NEWTON_STEPS = 40
"""Newton steps from the pose of the machine without errors."""

MAX_STEP_ANGLE = 1.0
"""[rad] Largest rotation of a step; longer ones lead nowhere."""

STEP_TOLERANCE = 1e-13
"""Last step [m, rad] of a solved pose; steps shrink quadratically before."""


class LegErrors:
    """Errors `(n, k)` of n legs: three of each joint, those of a crank, and the offset.

    The offset is added to recorded coordinates. Lengths are in m, turns and offsets of cranks in
    rad.
    """

    def __init__(self, machine: MachineModel) -> None:
        """Take the geometry of `machine` as that without errors."""
        self.machine = machine
        self.nominal: FloatArray = machine.constants.legs.rows
        self.has_crank: bool = machine.leg.has_crank
        self.names = (*JOINT_ERROR_NAMES, *(CRANK_ERROR_NAMES if self.has_crank else ()), "offset")
        self.shape = machine.n_actuators, len(self.names)
        self.arms = np.ones(len(self.nominal))
        if self.has_crank:
            self.arms = self.nominal[:, CRANK_LENGTH]

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the errors of one leg."""
        crank = ("rad", "rad", "m", "m") if self.has_crank else ()
        return (*("m",) * 6, *crank, self.machine.coordinate_unit)

    @property
    def scales(self) -> FloatArray:
        """Size `(n, k)` of each error that moves a point of the leg by about 1 m."""
        angles = np.array(self.units) == "rad"
        return np.where(angles, 1.0 / self.arms[:, None], 1.0)

    def rows(self, errors: FloatArray) -> FloatArray:
        """Return the kernels' constants of the legs with errors `(n, k)`."""
        rows = self.nominal.copy()
        rows[:, BASE_JOINT : BASE_JOINT + 3] += errors[:, :3]
        rows[:, PLATFORM_JOINT : PLATFORM_JOINT + 3] += errors[:, 3:6]
        if self.has_crank:
            rows[:, CRANK_LENGTH] += errors[:, 8]
            rows[:, ROD_LENGTH] += errors[:, 9]
            turn = self._axes(errors)
            for entry in (AXIS, ZERO):
                vector = self.nominal[:, entry : entry + 3]
                half = vector + np.cross(turn, vector)
                size = 1.0 + np.einsum("ni,ni->n", turn, turn)[:, None]
                rows[:, entry : entry + 3] = vector + 2.0 * np.cross(turn, half) / size
        return rows

    def slopes(self, errors: FloatArray) -> FloatArray:
        """Return the derivatives `(n k, n, LEG_SIZE)` of `rows` by the errors, leg after leg."""
        n, k = self.shape
        found = np.zeros((n, k, n, self.nominal.shape[1]))
        legs = np.arange(n)
        for axis in range(3):
            found[legs, axis, legs, BASE_JOINT + axis] = 1.0
            found[legs, 3 + axis, legs, PLATFORM_JOINT + axis] = 1.0
        if self.has_crank:
            found[legs, 8, legs, CRANK_LENGTH] = found[legs, 9, legs, ROD_LENGTH] = 1.0
            turn, now = self._axes(errors), self.rows(errors)
            size = 1.0 + np.einsum("ni,ni->n", turn, turn)[:, None]
            for index, way in enumerate(self._directions()):
                rate = (way + np.cross(turn, way)) / size
                for entry in (AXIS, ZERO):
                    change = np.cross(rate, now[:, entry : entry + 3])
                    found[legs, AXIS_ERROR_INDEX + index, legs, entry : entry + 3] = change
        return found.reshape(n * k, n, -1)

    def _directions(self) -> tuple[FloatArray, FloatArray]:
        axis, zero = self.nominal[:, AXIS : AXIS + 3], self.nominal[:, ZERO : ZERO + 3]
        return zero, np.cross(axis, zero)

    def _axes(self, errors: FloatArray) -> FloatArray:
        """Return the turns `(n, 3)` of the cranks' axes: axis times the tangent of half the angle.

        An error is twice that, the angle itself for small ones.
        """
        first, second = self._directions()
        turn: FloatArray = 0.5 * (errors[:, 6:7] * first + errors[:, 7:8] * second)
        return turn


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
    for _ in range(MAX_NEWTON_STEPS):
        at = geometry(legs, poses, constraints)
        wanted = np.pad(coordinates, ((0, 0), (0, constraints))) - at.values
        if not (np.isfinite(at.rows).all() and np.isfinite(wanted).all()):
            break
        step = np.einsum("mij,mj->mi", np.linalg.pinv(at.rows), wanted)
        if not np.abs(step[:, 3:]).max(initial=0.0) < MAX_STEP_ANGLE:
            break
        poses = displaced(poses, step)
        if np.abs(step).max(initial=0.0) < STEP_TOLERANCE:
            return poses
    return np.full_like(start, np.nan)
