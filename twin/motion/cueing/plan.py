"""A motion of the platform's coordinates that ends at rest, and its check against the limits.

For the quadratic program, the actuators' limits are rows: leg kinematics linearised along a plan.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.errors import TwinError
from twin.model.machine_model import MachineModel
from twin.motion.axes import AxisSample
from twin.motion.cueing.platform_axes import leg_slopes, motion_of_axes
from twin.motion.cueing.prediction import Prediction
from twin.motion.cueing.workspace_use import leg_motion


class Plan(NamedTuple):
    """Piecewise cubic coordinates; after the last period they rest."""

    states: FloatArray
    """`(K + 1, d, 3)` value, rate, acceleration at the start of every period and at the end"""
    jerks: FloatArray
    """`(K, d)` held in each period"""

    def shifted(self) -> Plan:
        """Return the plan one period later, at rest in the period that is added."""
        last = self.states[-1:].copy()
        last[:, :, 1:] = 0.0
        rest = np.zeros_like(self.jerks[:1])
        return Plan(np.concatenate([self.states[1:], last]), np.concatenate([self.jerks[1:], rest]))

    def between(self, period: float, parts: int) -> FloatArray:
        """Return states `(K parts + 1, d, 3)` at equal parts of the periods and at the end."""
        t = (np.arange(parts) * (period / parts))[None, :, None]
        x, v, a = (self.states[:-1, None, :, k] for k in range(3))
        j = self.jerks[:, None]
        inner = np.stack(
            [
                x + t * (v + t * (a / 2.0 + t * j / 6.0)),
                v + t * (a + t * j / 2.0),
                a + t * j,
            ],
            axis=-1,
        )
        return np.concatenate([inner.reshape(-1, *self.states.shape[1:]), self.states[-1:]])


def plan_from(start: FloatArray, jerks: FloatArray, period: float) -> Plan:
    """Return the plan of jerks `(K, d)` from a state `(d, 3)`."""
    t = period
    states = np.empty((len(jerks) + 1, *start.shape))
    states[0] = start
    for k, jerk in enumerate(jerks):
        x, v, a = states[k].T
        states[k + 1, :, 0] = x + t * (v + t * (a / 2.0 + t * jerk / 6.0))
        states[k + 1, :, 1] = v + t * (a + t * jerk / 2.0)
        states[k + 1, :, 2] = a + t * jerk
    return Plan(states, jerks)


def spread(states: FloatArray, columns: IndexArray) -> AxisSample:
    """Return six axes of states `(m, d, 3)` of some of them; the others stay at zero."""
    axes = np.zeros((3, len(states), 6))
    axes[:, :, columns] = states.transpose(2, 0, 1)
    return AxisSample(*axes)


class LimitCheck:
    """Whether a plan keeps the exact limits of the actuators, also between the instants looked at.

    Between two of them a smooth curve leaves the chord by an eighth of its second difference; the
    largest of those is added to every value, so that the check errs on the safe side.
    """

    def __init__(
        self, platform: MachineModel, columns: IndexArray, period: float, parts: int
    ) -> None:
        self.platform, self.columns = platform, columns
        self.period, self.parts = period, parts
        actuator = platform.parameters.leg.actuator
        self.speed = actuator.speed
        self.acceleration = getattr(actuator, "acceleration", None)

    def keeps(self, plan: Plan) -> bool:
        """Return whether lengths, speeds and accelerations stay inside along the whole plan."""
        axes = spread(plan.between(self.period, self.parts), self.columns)
        try:
            motion = motion_of_axes(self.platform, axes)
            length, rate, acceleration = leg_motion(self.platform, *motion)
        except TwinError:
            return False
        low, high = self.platform.minimum_coordinates, self.platform.maximum_coordinates
        slack = bulge(length)
        if not ((length >= low + slack) & (length <= high - slack)).all():
            return False
        for values, limit in ((rate, self.speed), (acceleration, self.acceleration)):
            if limit is not None and not np.abs(values).max() + bulge(values) <= limit:
                return False
        return True


def bulge(values: FloatArray) -> float:
    """Return an eighth of the largest second difference of columns `(k, n)`."""
    return float(np.abs(np.diff(values, 2, axis=0)).max(initial=0.0)) / 8.0


NODES = (1, 2, 3, 4, 6, 8, 10, 13, 16, 20, 24, 28, 32, 36, 40)
"""Periods of the horizon at whose ends limits apply; those beyond it are left out."""


class LegRows:
    """Rows for lengths, speeds and accelerations of the actuators, as shares of their limits.

    At every node, with the plan's coordinates p as they were found before (the first lies at the
    present pose), l(q) is replaced by l(p) + J(p) (q - p), its derivatives likewise, J from
    `Platform.jacobian`; q is linear in the jerks.
    """

    def __init__(
        self, platform: MachineModel, columns: IndexArray, prediction: Prediction, margin: float
    ) -> None:
        self.platform, self.columns = platform, columns
        steps = len(prediction.free)
        self.nodes = np.array([node for node in NODES if node <= steps])
        self.free = prediction.free[self.nodes - 1, :3, :3]
        self.forced = prediction.forced[self.nodes - 1, :3]
        actuator = platform.parameters.leg.actuator
        low, high = platform.minimum_coordinates, platform.maximum_coordinates
        self.middle, half = 0.5 * (low + high), 0.5 * (high - low)
        share = 1.0 - margin
        limits = (half, actuator.speed, getattr(actuator, "acceleration", None))
        # Shares of the limits, so that all rows have the same size.
        self.kinds = [
            (k, share * np.broadcast_to(limit, half.shape))
            for k, limit in enumerate(limits)
            if limit is not None
        ]

    def rows(self, plan: Plan, start: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return A `(k, d b)` and its bounds for jerks of the coordinates' blocks.

        Args:
            plan: to linearise along.
            start: `(d, 3)` state of the coordinates now.
        """
        states = plan.states[self.nodes]
        axes = spread(states, self.columns)
        exact = leg_motion(self.platform, *motion_of_axes(self.platform, axes))
        slopes = leg_slopes(self.platform, axes.values, self.columns)
        coast = np.einsum("nsk,dk->nds", self.free, start)
        matrices, lower, upper = [], [], []
        for kind, limit in self.kinds:
            scaled = slopes / limit[:, None]
            matrix = np.einsum("nld,nb->nldb", scaled, self.forced[:, kind])
            away = coast[:, :, kind] - states[:, :, kind]
            value = exact[kind] - (self.middle if kind == 0 else 0.0)
            constant = value / limit + np.einsum("nld,nd->nl", scaled, away)
            matrices.append(matrix.reshape(constant.size, -1))
            lower.append(-1.0 - constant.ravel())
            upper.append(1.0 - constant.ravel())
        return np.concatenate(matrices), np.concatenate(lower), np.concatenate(upper)
