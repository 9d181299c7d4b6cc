"""Computed torque along a plan: where the platform shall leave its reference, and why it must."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, bounded, whole_number
from twin.control.computed_torque import ComputedTorque
from twin.control.controller import LONGEST, PERIOD
from twin.control.predictive.objective import objective
from twin.control.reference import Reference
from twin.errors import InputError
from twin.kernels.control.computed_torque import FOUND
from twin.kernels.control.predictive.course import Course, along, course_forces, deviation_of
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.signals import Measurement

PLAN_PERIOD = 0.01
"""[s] Adopted: between two plans, and between the nodes of one; the multiple of the control period
that is nearest."""

MOST_SPANS = 500
"""Of a horizon."""


class PlannedTorque(ComputedTorque):
    """Computed torque, whose reference a plan changes where the machine cannot follow it.

    Once a plan period, a plan is made for the horizon: deviations from the reference at its nodes
    that keep force, speed and stroke within their limits. In between, computed torque follows
    reference plus deviation at every control period. A plan is used one plan period after the
    readings that it comes from, so that a real controller has that time to compute it. Until then
    the plan before holds.

    A plan begins at the deviation that the plan before has for that time. Where the last forces
    were cut, it begins at the measured state instead.

    Attributes:
        span: [s] between two plans, and between the nodes of one.
        spans: of a plan, the first of which is that in which it is made.
        objective: weights and limits.
    """

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None,
        *,
        period: float = PERIOD,
        model: MachineModel | None = None,
        bandwidth: Any = None,
        plan_period: Any = None,
        horizon: Any,
    ) -> None:
        """Prepare the objective.

        Args:
            platform: the machine.
            motion: where it shall go; default: stay at home.
            period: of the controller [s].
            model: what the controller takes the machine for; default the machine itself.
            bandwidth: of the loop that follows the plan [rad/s]; default `suitable_bandwidth`.
            plan_period: between two plans [s], a multiple of the period; default: that nearest
                to `PLAN_PERIOD`.
            horizon: spans of a plan.

        Raises:
            InputError: an argument that cannot be used, or a machine whose actuators do not move
                the platform alone.
        """
        self.spans = whole_number(horizon, "horizon", 2, MOST_SPANS) + 1
        super().__init__(platform, motion, period=period, model=model, bandwidth=bandwidth)
        usual = max(1, round(PLAN_PERIOD / self.period)) * self.period
        given = usual if plan_period is None else plan_period
        self.span = bounded(given, "plan_period", self.period, LONGEST)
        self._ratio = round(self.span / self.period)
        if abs(self._ratio * self.period - self.span) > 1e-9 * self.span:
            raise InputError(
                "plan_period",
                f"{self.span:g} s must be a multiple of the period, {self.period:g} s",
            )
        self.objective = objective(self.model, self._drives, self.span)
        self._point = np.zeros(19)
        self._path = self._coming = np.zeros((self.spans + 1, 12))

    def start(self, measurement: Measurement) -> None:
        """Begin at `measurement`, without a plan."""
        super().start(measurement)
        self._path = self._coming = np.zeros((self.spans + 1, 12))

    def _setpoint(self, step: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return pose, twist and acceleration of the reference, with the plan's deviation."""
        count, point = (step - self.first) % self._ratio, self._point
        if count == 0:
            self.plan_ahead(step)
        point[:7], point[7:13], point[13:] = super()._setpoint(step)
        along(self._path[1:3], self.span, count / self._ratio, point)
        return point[:7], point[7:13], point[13:]

    def plan_ahead(self, step: int) -> None:
        """Take the plan that was made, and make the next one."""
        self._path = self._coming
        begin = self._path[1].copy()
        if self._cut:
            pose, twist, _ = super()._setpoint(step)
            deviation_of(pose, twist, self._ahead, begin)
        path = self._plan(step, begin)
        if path is None:
            path = np.vstack([self._path[1:], self._path[-1:]])
        self._coming = path

    @abstractmethod
    def _plan(self, step: int, begin: FloatArray) -> FloatArray | None:
        """Return the deviations `(spans + 1, 12)` of a plan; None where there is none.

        Args:
            step: control period of the first node.
            begin: `(12,)` deviation there.
        """

    def _course(self, step: int, delay: int, slopes: FloatArray) -> Course | None:
        """Return the reference over a plan; None where it passes a pose that is singular.

        Args:
            step: control period of the first node.
            delay: control periods from a node to where its forces belong.
            slopes: `(S, n, 6)` of the forces by acceleration, overwritten; or with no rows.
        """
        known, spans, n = self._task_reference, self.spans, self.model.n_actuators
        nodes = step - self.reference.begin + self._ratio * np.arange(spans + 1)
        rows, between = (np.clip(k, 0, len(known.pose) - 1) for k in (nodes, nodes[:-1] + delay))
        twist, forces = known.twist[rows], np.empty((spans, n))
        acceleration = np.diff(twist, axis=0) / self.span
        y = np.hstack([known.pose[between], known.twist[between]])
        found = course_forces(self._machine, y, acceleration, forces, slopes, self._work)
        if found != FOUND or not np.isfinite(forces).all():
            return None
        largest, friction = self.objective.largest, known.friction[between]
        low, high = -largest - friction, largest - friction
        return Course(known.pose[rows], twist, acceleration, forces, low, high)

    def signals(self) -> dict[str, FloatArray]:
        """Return those of computed torque, and the planned deviation."""
        return {**super().signals(), "planned_deviation": self._path[1].copy()}
