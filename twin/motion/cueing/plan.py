"""A motion of the platform's coordinates that ends at rest, and its check against the limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import TwinError
from twin.model.machine_model import MachineModel
from twin.motion.axes import AxisSample
from twin.motion.cueing.cued_motion import Columns
from twin.motion.cueing.platform_axes import motion_of_axes
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


def spread(states: FloatArray, columns: Columns) -> AxisSample:
    """Return six axes of states `(m, d, 3)` of some of them; the others stay at zero."""
    axes = np.zeros((3, len(states), 6))
    axes[:, :, columns] = states.transpose(2, 0, 1)
    return AxisSample(*axes)


class LimitCheck:
    """Whether a plan keeps the exact limits of the actuators, also between the instants looked at.

    Between two of them a smooth curve leaves the chord by an eighth of its second difference; the
    largest of those is added to every value, so that the check errs on the safe side.
    """

    def __init__(self, platform: MachineModel, columns: Columns, period: float, parts: int) -> None:
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
