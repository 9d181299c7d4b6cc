"""Iterative linear-quadratic regulator: exact step derivatives improve a plan iteratively."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray, whole_number
from twin.control.controller import DEFAULT_PERIOD, Reference
from twin.control.predictive.planned import PlannedTorque
from twin.kernels.control.predictive import (
    Correction,
    Plan,
    PlanReference,
    backward,
    plan_cost,
    reference_defects,
    shoot,
)
from twin.kernels.derivatives import States, step_slopes
from twin.model.batch import chunk_bounds, on_threads, usable_cores
from twin.model.derivatives import slope_width
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.signals import Measurement
from twin.rotations import displaced

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


class Ilqr(PlannedTorque):
    """Plans by forces that are improved along the derivatives of all steps.

    The inputs are the motors' forces, held between two nodes, and stay between their limits.
    Stroke and speed beyond their limits cost. Each plan begins with the forces and gains of the
    one before, and is improved a few times.

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
        """Prepare the memory of plans.

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
        whole_number(iterations, "iterations", 1, MAX_ITERATIONS)
        super().__init__(
            platform, motion, period=period, model=model, bandwidth=bandwidth,
            plan_period=plan_period, horizon=horizon,
        )  # fmt: skip
        self._iterations = iterations
        n_spans, n = self.spans, self.model.n_actuators
        self._none = Correction(np.zeros((n_spans, n)), np.zeros((n_spans, n, 12)))
        self._width = slope_width()
        self._last: tuple[Plan, FloatArray, FloatArray] | None = None
        self._damping = 0.0

    def start(self, measurement: Measurement) -> None:
        """Start at `measurement`, without a plan."""
        super().start(measurement)
        self._last, self._damping = None, 0.0
        home_states = np.hstack([self.model.home, np.zeros(6)])[None].repeat(2, axis=0)
        # The loop shall not have to wait for kernels when it first needs them.
        self._slopes_of(self._empty()._replace(y=home_states, forces=self._none.forces[:1]))

    def _plan(self, step: int, begin: FloatArray) -> FloatArray | None:
        reference = self._plan_reference(step, self._ratio // 2, np.empty((0, 0, 0)))
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
        return self._empty()._replace(y=y, forces=forces), self._none._replace(gains=gains)

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
            change = Correction(*(np.zeros_like(array) for array in self._none))
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
            states = States(
                pose[chunk],
                twist[chunk],
                no_deflections[chunk],
                forces[chunk],
                zero_wrenches[chunk],
            )
            calls.append(
                (
                    body,
                    legs,
                    inertia,
                    self._width,
                    states,
                    self.span,
                    next_states[chunk],
                    derivatives[chunk],
                )
            )
        met_singular = max(on_threads(step_slopes, calls)) >= 0
        if met_singular or not np.isfinite(derivatives).all():
            return None
        # Between those by state and by forces are those by gravity.
        return np.ascontiguousarray(derivatives[:, :, :12]), np.ascontiguousarray(
            derivatives[:, :, 15:]
        )

    def _empty(self) -> Plan:
        n_spans, n = self._none.forces.shape
        return Plan(
            np.empty((n_spans + 1, 13)),
            np.empty((n_spans, n)),
            np.empty((n_spans + 1, 12)),
            np.empty((n_spans + 1, n)),
            np.empty((n_spans + 1, n, 6)),
        )
