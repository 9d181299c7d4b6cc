"""Computed torque along a plan that leaves the reference where limits require it."""

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
"""[rad/s] Engineering choice: bandwidth with which a plan returns to its reference where nothing
limits it."""

SPEED_WEIGHT = 0.5
"""Engineering choice: weight of the twist over that of the pose, times bandwidth squared."""

FEEDBACK_MARGIN = 0.02
"""Engineering choice: fraction of force and speed limits reserved for the tracking loop."""

STROKE_MARGIN = 0.01
"""Engineering choice: distance of plans from the ends of the stroke, as a fraction of it."""

INTERNAL_FORCE_WEIGHT = 1e-3
"""Engineering choice: weight of internal forces relative to the mean weight of the others."""

PLAN_PERIOD = 0.01
"""[s] Engineering choice: between two plans, and between the nodes of one; the multiple of the
control period that is nearest."""

MAX_SPANS = 500
"""Largest number of spans in a horizon."""

STROKE_SCALE = 0.02
"""Engineering choice: an excess of a leg's stroke by this fraction costs as much as a displacement
by the radius of the platform's joints."""

SPEED_SCALE = 0.4
"""Engineering choice: an excess of a speed limit by this fraction costs as much as a displacement
by the radius of the platform's joints."""


class Objective(NamedTuple):
    """The objective of plans for one machine."""

    cost: Cost
    feedback: tuple[float, float]
    """gains of pose [1/s2] and twist [1/s]: the optimum of the cost without any limits"""
    effort: FloatArray
    """`(n, n)` weights of the motors' forces, equivalent at home to the weights of accelerations"""
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
    speed_limits = (1.0 - FEEDBACK_MARGIN) * actuator_limit(model, "speed")
    cost = Cost(
        scale,
        speed,
        weight,
        terminal,
        model.minimum_coordinates + STROKE_MARGIN * stroke,
        model.maximum_coordinates - STROKE_MARGIN * stroke,
        speed_limits,
        (STROKE_SCALE * stroke) ** -2.0,
        (SPEED_SCALE * speed_limits) ** -2.0,
    )
    jacobian = model.jacobian(model.home)
    mass = model.mass_matrix(model.home) + jacobian.T @ np.diag(drives.inertia) @ jacobian
    acceleration_map = _free_inverse(mass, model.constraints(model.home)) @ jacobian.T
    effort = weight * acceleration_map.T @ (scale[:, None] * acceleration_map)
    if model.n_actuators > model.dof:
        effort += INTERNAL_FORCE_WEIGHT * np.trace(effort) / len(effort) * np.eye(len(effort))
    by_acceleration = -np.linalg.pinv(jacobian.T) @ mass
    gains = np.hstack([gain[0] * by_acceleration, gain[1] * by_acceleration])
    return Objective(cost, gain, effort, (1.0 - FEEDBACK_MARGIN) * drives.largest, gains)


def _free_inverse(mass: FloatArray, constraints: FloatArray) -> FloatArray:
    """Return accelerations `(6, 6)` per wrench of a platform under constraints `(c, 6)`."""
    free_motions = (
        np.linalg.svd(constraints)[2][len(constraints) :].T if len(constraints) else np.eye(6)
    )
    return np.asarray(
        free_motions @ np.linalg.solve(free_motions.T @ mass @ free_motions, free_motions.T)
    )


def double_integrator(
    span: float, speed: float, effort: float
) -> tuple[FloatArray, tuple[float, float]]:
    """Return the terminal cost `(2, 2)` and the feedback of a sampled double integrator.

    For the cost x^2 + speed x'^2 + effort x''^2 of a sample.
    """
    from scipy.linalg import solve_discrete_are

    a, b = np.array([[1.0, span], [0.0, 1.0]]), np.array([[0.5 * span**2], [span]])
    terminal_cost = solve_discrete_are(a, b, np.diag([1.0, speed]), np.array([[effort]]))
    gain = (b.T @ terminal_cost @ a / (effort + b.T @ terminal_cost @ b)).ravel()
    return np.asarray(terminal_cost), (float(gain[0]), float(gain[1]))


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
            motion: reference motion; default: stay at home.
            period: control period [s].
            model: the controller's model of the machine; default the machine itself.
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
        requested_period = default if plan_period is None else plan_period
        self.span = bounded(requested_period, "plan_period", self.period, MAX_PERIOD)
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
        """Start at `measurement`, without a plan."""
        super().start(measurement)
        self._path = self._coming = np.zeros((self.spans + 1, 12))

    def _setpoint(self, step: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return pose, twist and acceleration of the reference, with the plan's deviation."""
        period_index, path_point = (step - self.first) % self._ratio, self._point
        if period_index == 0:
            self.plan_ahead(step)
        path_point[:7], path_point[7:13], path_point[13:] = super()._setpoint(step)
        along(self._path[1:3], self.span, period_index / self._ratio, path_point)
        return path_point[:7], path_point[7:13], path_point[13:]

    def plan_ahead(self, step: int) -> None:
        """Adopt the plan that was made one plan period ago, and compute the next one."""
        self._path = self._coming
        initial_deviation = self._path[1].copy()
        if self._cut:
            pose, twist, _ = super()._setpoint(step)
            deviation_of(pose, twist, self._ahead, initial_deviation)
        path = self._plan(step, initial_deviation)
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
        task_reference, n_spans, n = self._task_reference, self.spans, self.model.n_actuators
        nodes = step - self.reference.begin + self._ratio * np.arange(n_spans + 1)
        node_rows, force_rows = (
            np.clip(k, 0, len(task_reference.pose) - 1) for k in (nodes, nodes[:-1] + delay)
        )
        twist, forces = task_reference.twist[node_rows], np.empty((n_spans, n))
        acceleration = np.diff(twist, axis=0) / self.span
        y = np.hstack([task_reference.pose[force_rows], task_reference.twist[force_rows]])
        is_regular = reference_forces(self._machine, y, acceleration, forces, slopes, self._work)
        if is_regular != POSE_FOUND or not np.isfinite(forces).all():
            return None
        force_limits, friction = self.objective.largest, task_reference.friction[force_rows]
        lower_forces, upper_forces = -force_limits - friction, force_limits - friction
        return PlanReference(
            task_reference.pose[node_rows], twist, acceleration, forces, lower_forces, upper_forces
        )

    def signals(self) -> dict[str, FloatArray]:
        """Return those of computed torque, and the planned deviation."""
        return {**super().signals(), "planned_deviation": self._path[1].copy()}
