"""Predictive control: computed torque along a plan that leaves its reference at limits.

The plans come from an iterative linear-quadratic regulator: exact step derivatives improve a plan
iteratively.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, bounded, whole_number
from twin.control.computed_torque import ComputedTorque
from twin.control.controller import DEFAULT_PERIOD, MAX_PERIOD, Reference
from twin.control.gains import DriveModel
from twin.errors import InputError
from twin.kernels.control.controllers import POSE_FOUND
from twin.kernels.control.predictive import (
    Correction,
    Cost,
    Plan,
    PlanReference,
    add_path_deviation,
    backward,
    deviation_of,
    plan_cost,
    reference_defects,
    reference_forces,
    shoot,
)
from twin.kernels.derivatives import States, step_slopes
from twin.model.batch import chunk_bounds, on_threads, usable_cores
from twin.model.derivatives import slope_width
from twin.model.machine_base import null_space
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.drives import actuator_limit
from twin.plant.signals import Measurement
from twin.rotations import displaced

RETURN_BANDWIDTH = 20.0
"""[rad/s] Engineering choice: bandwidth with which a plan returns to its reference where nothing
limits it."""

SPEED_WEIGHT = 0.5
"""Engineering choice: weight of the twist relative to that of the pose, times bandwidth squared."""

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


DEFAULT_HORIZON = 50
"""Default number of spans in a plan's horizon."""

DEFAULT_ITERATIONS = 2
"""Default number of improvements of each plan."""

MAX_ITERATIONS = 100
"""Largest number of iterations that a user may choose."""

STEP_FRACTIONS = (1.0, 0.4, 0.1)
"""Engineering choice: fractions of an improvement that the line search tries one after the
other."""

DAMPING_FACTOR = 4.0
"""Engineering choice: factor on the damping: multiplied after a step without a cost reduction,
divided after a full step."""

MAX_DAMPING = 1e6
"""Engineering choice: upper bound of the damping."""

MIN_COST_REDUCTION = 1e-3
"""Engineering choice: an iteration must promise this fraction of the cost, and bring a tenth of
it."""

NEGLIGIBLE_COST = 1e-12
"""Engineering choice: cost of a plan that need not be improved; 1 is a deviation by the joints'
radius."""


class Objective(NamedTuple):
    """The objective of plans for one machine."""

    cost: Cost
    """weights of deviations, and of stroke and speed beyond their limits"""
    effort: FloatArray
    """`(n, n)` weights of the motors' forces, equivalent at home to the weights of accelerations"""
    force_limits: FloatArray
    """`(n,)` forces of the motors that plans use, infinite where there is no limit"""
    gains: FloatArray
    """`(n, 12)` forces per deviation at home, of the feedback that is optimal without limits"""


def objective(model: MachineModel, drives: DriveModel, node_distance: float) -> Objective:
    """Return the objective of plans with a node every `node_distance` [s].

    A deviation costs its squared displacement at the joints, relative to their radius. The
    twist costs `SPEED_WEIGHT` / w^2 and the acceleration 1 / w^4 of that, w being
    `RETURN_BANDWIDTH`. Every axis by itself is then the same double integrator, whose Riccati
    equation gives feedback and terminal cost.

    Args:
        model: the machine as the controller knows it.
        drives: the same of its drives.
        node_distance: between nodes [s].
    """
    pose_weight = np.array([model.joint_radius**-2.0] * 3 + [1.0] * 3)
    twist_weight, acceleration_weight = SPEED_WEIGHT / RETURN_BANDWIDTH**2, RETURN_BANDWIDTH**-4.0
    terminal_weight, gain = double_integrator(node_distance, twist_weight, acceleration_weight)
    stroke = model.stroke
    speed_limits = (1.0 - FEEDBACK_MARGIN) * actuator_limit(model, "speed")
    cost = Cost(
        pose_weight,
        twist_weight,
        terminal_weight,
        model.minimum_coordinates + STROKE_MARGIN * stroke,
        model.maximum_coordinates - STROKE_MARGIN * stroke,
        speed_limits,
        (STROKE_SCALE * stroke) ** -2.0,
        (SPEED_SCALE * speed_limits) ** -2.0,
    )
    jacobian = model.jacobian(model.home)
    mass = model.mass_matrix(model.home) + jacobian.T @ np.diag(drives.inertia) @ jacobian
    acceleration_map = _free_inverse(mass, model.constraints(model.home)) @ jacobian.T
    effort = acceleration_weight * acceleration_map.T @ (pose_weight[:, None] * acceleration_map)
    if model.n_actuators > model.dof:
        effort += INTERNAL_FORCE_WEIGHT * np.trace(effort) / len(effort) * np.eye(len(effort))
    by_acceleration = -np.linalg.pinv(jacobian.T) @ mass
    gains = np.hstack([gain[0] * by_acceleration, gain[1] * by_acceleration])
    return Objective(cost, effort, (1.0 - FEEDBACK_MARGIN) * drives.peak_effort, gains)


def _free_inverse(mass: FloatArray, constraints: FloatArray) -> FloatArray:
    """Return accelerations `(6, 6)` per wrench of a platform under constraints `(c, 6)`."""
    free_motions = null_space(constraints)
    return np.asarray(
        free_motions @ np.linalg.solve(free_motions.T @ mass @ free_motions, free_motions.T)
    )


def double_integrator(
    node_distance: float, speed: float, effort: float
) -> tuple[FloatArray, tuple[float, float]]:
    """Return the terminal cost `(2, 2)` and the feedback of a sampled double integrator.

    For the cost x^2 + speed x'^2 + effort x''^2 of a sample.
    """
    from scipy.linalg import solve_discrete_are

    a = np.array([[1.0, node_distance], [0.0, 1.0]])
    b = np.array([[0.5 * node_distance**2], [node_distance]])
    terminal_cost = solve_discrete_are(a, b, np.diag([1.0, speed]), np.array([[effort]]))
    gain = (b.T @ terminal_cost @ a / (effort + b.T @ terminal_cost @ b)).ravel()
    return np.asarray(terminal_cost), (float(gain[0]), float(gain[1]))


class Ilqr(ComputedTorque):
    """Computed torque, whose reference a plan changes where the machine cannot follow it.

    Once a plan period, a plan is made for the horizon: deviations from the reference at its nodes
    that keep force, speed and stroke within their limits. In between, computed torque follows
    reference plus deviation at every control period. A plan is used one plan period after the
    readings that it comes from, so that a real controller has that time to compute it. Until then
    the plan before holds.

    A plan begins at the deviation that the plan before has for that time. Where the last forces
    were cut, it begins at the measured state instead.

    The inputs are the motors' forces, held between two nodes, and stay between their limits.
    Stroke and speed beyond their limits cost. Each plan begins with the forces and gains of the
    one before, and is improved a few times along the derivatives of all steps.

    Attributes:
        span: [s] between two plans, and between the nodes of one.
        spans: of a plan, the first of which is that in which it is made.
        objective: weights and limits.

    References:
        Li and Todorov, ICINCO 2004; Tassa, Mansard and Todorov, ICRA 2014; see
        `twin.kernels.control.predictive`.
    """

    name: ClassVar[str] = "ilqr"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        period: float = DEFAULT_PERIOD,
        model: MachineModel | None = None,
        bandwidth: Any = None,
        plan_period: Any = None,
        horizon: Any = DEFAULT_HORIZON,
        iterations: Any = DEFAULT_ITERATIONS,
    ) -> None:
        """Prepare the objective, and the memory of plans.

        Args:
            platform: the machine.
            motion: reference motion; default: stay at home.
            period: control period [s].
            model: the controller's model of the machine; default the machine itself.
            bandwidth: of the loop that follows the plan [rad/s]; default `suitable_bandwidth`.
            plan_period: between two plans [s], a multiple of the period; default: that nearest
                to `PLAN_PERIOD`.
            horizon: spans of a plan.
            iterations: improvements of a plan.

        Raises:
            InputError: an argument that cannot be used, or a machine whose actuators do not move
                the platform alone.
        """
        self._iterations = whole_number(iterations, "iterations", 1, MAX_ITERATIONS)
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
        n_spans, n = self.spans, self.model.n_actuators
        self._no_correction = Correction(np.zeros((n_spans, n)), np.zeros((n_spans, n, 12)))
        self._width = slope_width()
        self._last: tuple[Plan, FloatArray, FloatArray] | None = None
        self._damping = 0.0

    def start(self, measurement: Measurement) -> None:
        """Start at `measurement`, without a plan."""
        super().start(measurement)
        self._path = self._coming = np.zeros((self.spans + 1, 12))
        self._last, self._damping = None, 0.0
        home_states = np.hstack([self.model.home, np.zeros(6)])[None].repeat(2, axis=0)
        # The loop shall not have to wait for kernels when it first needs them.
        self._slopes_of(
            self._empty()._replace(y=home_states, forces=self._no_correction.forces[:1])
        )

    def _setpoint(self, step: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return pose, twist and acceleration of the reference, with the plan's deviation."""
        period_index, path_point = (step - self.first) % self._ratio, self._point
        if period_index == 0:
            self.plan_ahead(step)
        path_point[:7], path_point[7:13], path_point[13:] = super()._setpoint(step)
        add_path_deviation(self._path[1:3], self.span, period_index / self._ratio, path_point)
        return path_point[:7], path_point[7:13], path_point[13:]

    def plan_ahead(self, step: int) -> None:
        """Adopt the plan that was made one plan period ago, and compute the next one."""
        self._path = self._coming
        initial_deviation = self._path[1].copy()
        if self._was_limited:
            pose, twist, _ = super()._setpoint(step)
            deviation_of(pose, twist, self._predicted_state, initial_deviation)
        path = self.plan_from(step, initial_deviation)
        if path is None:
            path = np.vstack([self._path[1:], self._path[-1:]])
        self._coming = path

    def _plan_reference(self, step: int) -> PlanReference | None:
        """Return the reference over a plan that begins at a control period.

        Its forces are those halfway between two nodes. None where it passes a singular pose.
        """
        task_reference, n_spans, n = self._task_reference, self.spans, self.model.n_actuators
        periods = step - self.reference.begin + self._ratio * np.arange(n_spans + 1)
        last_row = len(task_reference.pose) - 1
        node_rows = np.clip(periods, 0, last_row)
        force_rows = np.clip(periods[:-1] + self._ratio // 2, 0, last_row)
        twist, forces = task_reference.twist[node_rows], np.empty((n_spans, n))
        acceleration = np.diff(twist, axis=0) / self.span
        y = np.hstack([task_reference.pose[force_rows], task_reference.twist[force_rows]])
        code = reference_forces(self._machine, y, acceleration, forces, self._work)
        if code != POSE_FOUND or not np.isfinite(forces).all():
            return None
        force_limits, friction = self.objective.force_limits, task_reference.friction[force_rows]
        lower_forces, upper_forces = -force_limits - friction, force_limits - friction
        return PlanReference(
            task_reference.pose[node_rows], twist, acceleration, forces, lower_forces, upper_forces
        )

    def plan_from(self, step: int, begin: FloatArray) -> FloatArray | None:
        """Return the deviations `(spans + 1, 12)` of a plan; None where there is none.

        Args:
            step: control period of the first node.
            begin: `(12,)` deviation there.
        """
        reference = self._plan_reference(step)
        defects = np.empty((self.spans, 12))
        if reference is None or not reference_defects(self._machine, reference, self.span, defects):
            self._last = None
            return None
        y = np.hstack([displaced(reference.pose[0], begin[:6]), reference.twist[0] + begin[6:]])
        first_plan, gains = self._continued(reference)
        plan = self._shot(reference, defects, first_plan, gains, 0.0, y)
        if plan is None:
            self._last = None
            return None
        plan, gains = self._improved(reference, defects, plan, gains)
        self._last = plan, gains.gains, plan.forces - reference.forces
        return plan.deviation

    def _continued(self, reference: PlanReference) -> tuple[Plan, Correction]:
        """Return the previous plan shifted by one span, with its gains; its first force is fixed.

        Without one, the forces of the reference and the feedback of the objective.
        """
        y = np.hstack([reference.pose, reference.twist])
        gains = np.tile(self.objective.gains, (len(reference.forces), 1, 1))
        forces = reference.forces.copy()
        if self._last is not None:
            plan, old_gains, last_span = self._last
            y[:-1], gains[:-1] = plan.y[1:], old_gains[1:]
            forces[:-1] += last_span[1:]
        np.clip(forces, reference.low, reference.high, out=forces)
        reference.low[0] = reference.high[0] = forces[0]
        return self._empty()._replace(y=y, forces=forces), self._no_correction._replace(gains=gains)

    def _improved(
        self, reference: PlanReference, defects: FloatArray, plan: Plan, change: Correction
    ) -> tuple[Plan, Correction]:
        """Return a plan after the iterations, and the last change."""
        objective_arguments = reference, self.objective.cost, self.objective.effort
        cost = plan_cost(*objective_arguments, plan)
        for _ in range(self._iterations):
            if cost <= NEGLIGIBLE_COST:
                break
            slopes = self._slopes_of(plan)
            if slopes is None:
                break
            change = Correction(*(np.zeros_like(array) for array in self._no_correction))
            promised_reduction = backward(slopes, *objective_arguments, plan, self._damping, change)
            if not promised_reduction > MIN_COST_REDUCTION * cost:
                break
            for fraction in STEP_FRACTIONS:
                trial_plan = self._shot(reference, defects, plan, change, fraction, plan.y[0])
                trial_cost = (
                    np.inf if trial_plan is None else plan_cost(*objective_arguments, trial_plan)
                )
                if (
                    trial_plan is not None
                    and trial_cost < cost - 0.1 * MIN_COST_REDUCTION * fraction * cost
                ):
                    plan, cost = trial_plan, trial_cost
                    break
                # The step failed: more damping keeps the next correction closer to the plan.
                self._damping = min(max(DAMPING_FACTOR * self._damping, 1.0), MAX_DAMPING)
            else:
                break
            if fraction == 1.0:
                self._damping /= DAMPING_FACTOR
        return plan, change

    def _shot(
        self,
        reference: PlanReference,
        defects: FloatArray,
        plan: Plan,
        change: Correction,
        fraction: float,
        y: FloatArray,
    ) -> Plan | None:
        """Return the corrected plan from a state `(13,)`; None where it meets a singular pose."""
        new_plan = self._empty()
        new_plan.y[0] = y
        shot_arguments = self._machine, reference, self.span, defects
        return new_plan if shoot(*shot_arguments, plan, change, fraction, new_plan) else None

    def _slopes_of(self, plan: Plan) -> tuple[FloatArray, FloatArray] | None:
        """Return the derivatives of a plan's steps: A `(S, 12, 12)` and B `(S, 12, n)`."""
        y, forces = plan.y[:-1], plan.forces
        n_steps, n = forces.shape
        derivatives, next_states = np.empty((n_steps, 12, 15 + n)), np.empty((n_steps, 13))
        pose, twist = np.ascontiguousarray(y[:, :7]), np.ascontiguousarray(y[:, 7:])
        no_deflections, zero_wrenches = np.empty((n_steps, 0)), np.zeros((n_steps, 6))
        body, legs, inertia, *_ = self._machine
        calls = []
        for chunk in (slice(*ends) for ends in chunk_bounds(n_steps, min(n_steps, usable_cores()))):
            arrays = (pose, twist, no_deflections, forces, zero_wrenches)
            states = States(*(array[chunk] for array in arrays))
            results = next_states[chunk], derivatives[chunk]
            calls.append((body, legs, inertia, self._width, states, self.span, *results))
        met_singular = max(on_threads(step_slopes, calls)) >= 0
        if met_singular or not np.isfinite(derivatives).all():
            return None
        # Between those by state and by forces are those by gravity.
        return np.ascontiguousarray(derivatives[:, :, :12]), np.ascontiguousarray(
            derivatives[:, :, 15:]
        )

    def _empty(self) -> Plan:
        """Return memory for a plan."""
        n_spans, n = self._no_correction.forces.shape
        return Plan(
            np.empty((n_spans + 1, 13)),
            np.empty((n_spans, n)),
            np.empty((n_spans + 1, 12)),
            np.empty((n_spans + 1, n)),
            np.empty((n_spans + 1, n, 6)),
        )

    def signals(self) -> dict[str, FloatArray]:
        """Return those of computed torque, and the planned deviation."""
        return {**super().signals(), "planned_deviation": self._path[1].copy()}
