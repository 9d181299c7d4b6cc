"""Computed torque along a plan: where the platform shall leave its reference, and why it must."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, bounded, whole_number
from twin.control.computed_torque import ComputedTorque
from twin.control.controller import DEFAULT_PERIOD, MAX_PERIOD, Reference
from twin.control.gains import DriveModel
from twin.errors import InputError
from twin.kernels.control.controllers import POSE_FOUND
from twin.kernels.control.predictive import (
    Cost,
    PlanReference,
    along,
    deviation_of,
    reference_forces,
)
from twin.model.machine_base import characteristic_length
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.drives import actuator_limit
from twin.plant.signals import Measurement

RETURN_BANDWIDTH = 20.0
"""[rad/s] Adopted: bandwidth with which a plan returns to its reference where nothing limits it."""

SPEED_WEIGHT = 0.5
"""Adopted: weight of the twist over that of the pose, times bandwidth squared."""

FEEDBACK_MARGIN = 0.02
"""Adopted: fraction of force and speed that plans leave to the loop that follows them."""

STROKE_MARGIN = 0.01
"""Adopted: fraction of the stroke that plans keep from its ends."""

INTERNAL_FORCE_WEIGHT = 1e-3
"""Adopted: weight of forces that move nothing, against the mean of the others."""

PLAN_PERIOD = 0.01
"""[s] Adopted: between two plans, and between the nodes of one; the multiple of the control period
that is nearest."""

MAX_SPANS = 500
"""Largest number of spans in a horizon."""

STROKE_SCALE = 0.02
"""Adopted: an excess of a leg's stroke by this fraction costs as much as a displacement by the
radius of the platform's joints."""

SPEED_SCALE = 0.4
"""Adopted: an excess of a speed limit by this fraction costs the same."""


class Objective(NamedTuple):
    """The objective of plans for one machine."""

    cost: Cost
    feedback: tuple[float, float]
    """gains of pose [1/s2] and twist [1/s]: the optimum of the cost without any limits"""
    effort: FloatArray
    """`(n, n)` weights of the motors' forces, which are those of the accelerations at home"""
    largest: FloatArray
    """`(n,)` forces of the motors that plans use, infinite where there is no limit"""
    gains: FloatArray
    """`(n, 12)` forces of that feedback per deviation, at home"""


def objective(model: MachineModel, drives: DriveModel, span: float) -> Objective:
    """Return the objective of plans with a node every `span` [s].

    A deviation costs its displacement at the platform's joints, over their radius, squared. The
    twist costs `SPEED_WEIGHT` / w^2 and the acceleration 1 / w^4 of that, w being
    `RETURN_BANDWIDTH`. Every axis by itself is then the same double integrator, whose Riccati
    equation gives feedback and terminal cost.

    Args:
        model: the machine as the controller knows it.
        drives: the same of its drives.
        span: between nodes [s].
    """
    radius = characteristic_length(model.platform_joints)
    scale = np.array([radius**-2.0] * 3 + [1.0] * 3)
    speed, weight = SPEED_WEIGHT / RETURN_BANDWIDTH**2, RETURN_BANDWIDTH**-4.0
    terminal, gain = double_integrator(span, speed, weight)
    stroke = model.maximum_coordinates - model.minimum_coordinates
    fastest = (1.0 - FEEDBACK_MARGIN) * actuator_limit(model, "speed")
    cost = Cost(
        scale,
        speed,
        weight,
        terminal,
        model.minimum_coordinates + STROKE_MARGIN * stroke,
        model.maximum_coordinates - STROKE_MARGIN * stroke,
        fastest,
        (STROKE_SCALE * stroke) ** -2.0,
        (SPEED_SCALE * fastest) ** -2.0,
    )
    jacobian = model.jacobian(model.home)
    mass = model.mass_matrix(model.home) + jacobian.T @ np.diag(drives.inertia) @ jacobian
    by_force = _free_inverse(mass, model.constraints(model.home)) @ jacobian.T
    effort = weight * by_force.T @ (scale[:, None] * by_force)
    if model.n_actuators > model.dof:
        effort += INTERNAL_FORCE_WEIGHT * np.trace(effort) / len(effort) * np.eye(len(effort))
    by_acceleration = -np.linalg.pinv(jacobian.T) @ mass
    gains = np.hstack([gain[0] * by_acceleration, gain[1] * by_acceleration])
    return Objective(cost, gain, effort, (1.0 - FEEDBACK_MARGIN) * drives.largest, gains)


def _free_inverse(mass: FloatArray, constraints: FloatArray) -> FloatArray:
    """Return accelerations `(6, 6)` per wrench of a platform under constraints `(c, 6)`."""
    free = np.linalg.svd(constraints)[2][len(constraints) :].T if len(constraints) else np.eye(6)
    return np.asarray(free @ np.linalg.solve(free.T @ mass @ free, free.T))


def double_integrator(
    span: float, speed: float, effort: float
) -> tuple[FloatArray, tuple[float, float]]:
    """Return the terminal cost `(2, 2)` and the feedback of a sampled double integrator.

    For the cost x^2 + speed x'^2 + effort x''^2 of a sample.
    """
    from scipy.linalg import solve_discrete_are

    a, b = np.array([[1.0, span], [0.0, 1.0]]), np.array([[0.5 * span**2], [span]])
    value = solve_discrete_are(a, b, np.diag([1.0, speed]), np.array([[effort]]))
    gain = (b.T @ value @ a / (effort + b.T @ value @ b)).ravel()
    return np.asarray(value), (float(gain[0]), float(gain[1]))


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
        period: float = DEFAULT_PERIOD,
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
        self.spans = whole_number(horizon, "horizon", 2, MAX_SPANS) + 1
        super().__init__(platform, motion, period=period, model=model, bandwidth=bandwidth)
        default = max(1, round(PLAN_PERIOD / self.period)) * self.period
        given = default if plan_period is None else plan_period
        self.span = bounded(given, "plan_period", self.period, MAX_PERIOD)
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

    def _plan_reference(self, step: int, delay: int, slopes: FloatArray) -> PlanReference | None:
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
        found = reference_forces(self._machine, y, acceleration, forces, slopes, self._work)
        if found != POSE_FOUND or not np.isfinite(forces).all():
            return None
        largest, friction = self.objective.largest, known.friction[between]
        low, high = -largest - friction, largest - friction
        return PlanReference(known.pose[rows], twist, acceleration, forces, low, high)

    def signals(self) -> dict[str, FloatArray]:
        """Return those of computed torque, and the planned deviation."""
        return {**super().signals(), "planned_deviation": self._path[1].copy()}
