"""Iterative linear-quadratic regulator: a plan is improved by exact derivatives of its steps."""

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
"""Nodes of a plan."""

DEFAULT_ITERATIONS = 2
"""Iterations for each plan."""

MAX_ITERATIONS = 100
"""Largest number of iterations that a user may choose."""

STEP_FRACTIONS = (1.0, 0.4, 0.1)
"""Adopted: fractions of an improvement that the line search tries one after the other."""

DAMPING_FACTOR = 4.0
"""Adopted: the damping is multiplied by it after a fraction that brings nothing, and divided by it
after a whole improvement."""

MAX_DAMPING = 1e6
"""Adopted: upper bound of the damping."""

MIN_COST_REDUCTION = 1e-3
"""Adopted: an iteration must promise this fraction of the cost, and bring a tenth of it."""

NEGLIGIBLE_COST = 1e-12
"""Adopted: cost of a plan that need not be improved; 1 is a deviation by the joints' radius."""


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
            motion: where it shall go; default: stay at home.
            period: of the controller [s].
            model: what the controller takes the machine for; default the machine itself.
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
        spans, n = self.spans, self.model.n_actuators
        self._none = Correction(np.zeros((spans, n)), np.zeros((spans, n, 12)))
        self._width = slope_width()
        self._last: tuple[Plan, FloatArray, FloatArray] | None = None
        self._damping = 0.0

    def start(self, measurement: Measurement) -> None:
        """Begin at `measurement`, without a plan."""
        super().start(measurement)
        self._last, self._damping = None, 0.0
        rest = np.hstack([self.model.home, np.zeros(6)])[None].repeat(2, axis=0)
        # The loop shall not have to wait for kernels when it first needs them.
        self._slopes_of(self._empty()._replace(y=rest, forces=self._none.forces[:1]))

    def _plan(self, step: int, begin: FloatArray) -> FloatArray | None:
        reference = self._plan_reference(step, self._ratio // 2, np.empty((0, 0, 0)))
        defects = np.empty((self.spans, 12))
        if reference is None or not reference_defects(self._machine, reference, self.span, defects):
            self._last = None
            return None
        y = np.hstack([displaced(reference.pose[0], begin[:6]), reference.twist[0] + begin[6:]])
        first, change = self._continued(reference)
        plan = self._shot(reference, defects, first, change, 0.0, y)
        if plan is None:
            self._last = None
            return None
        plan, change = self._improved(reference, defects, plan, change)
        self._last = plan, change.gains, plan.forces - reference.forces
        return plan.deviation

    def _continued(self, reference: PlanReference) -> tuple[Plan, Correction]:
        """Return the plan before, one span later, and the gains around it; the first force holds.

        Without one, the forces of the reference and the feedback of the objective.
        """
        y = np.hstack([reference.pose, reference.twist])
        gains = np.tile(self.objective.gains, (len(reference.forces), 1, 1))
        forces = reference.forces.copy()
        if self._last is not None:
            plan, old, more = self._last
            y[:-1], gains[:-1] = plan.y[1:], old[1:]
            forces[:-1] += more[1:]
        np.clip(forces, reference.low, reference.high, out=forces)
        reference.low[0] = reference.high[0] = forces[0]
        return self._empty()._replace(y=y, forces=forces), self._none._replace(gains=gains)

    def _improved(
        self, reference: PlanReference, defects: FloatArray, plan: Plan, change: Correction
    ) -> tuple[Plan, Correction]:
        """Return a plan after the iterations, and the last change."""
        given = reference, self.objective.cost, self.objective.effort
        cost = plan_cost(*given, plan)
        for _ in range(self._iterations):
            if cost <= NEGLIGIBLE_COST:
                break
            slopes = self._slopes_of(plan)
            if slopes is None:
                break
            change = Correction(*(np.zeros_like(part) for part in self._none))
            gained = backward(slopes, *given, plan, self._damping, change)
            if not gained > MIN_COST_REDUCTION * cost:
                break
            for fraction in STEP_FRACTIONS:
                tried = self._shot(reference, defects, plan, change, fraction, plan.y[0])
                found = np.inf if tried is None else plan_cost(*given, tried)
                if tried is not None and found < cost - 0.1 * MIN_COST_REDUCTION * fraction * cost:
                    plan, cost = tried, found
                    break
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
        """Return a plan corrected, from a state `(13,)` on; None where it meets a singular pose."""
        found = self._empty()
        found.y[0] = y
        given = self._machine, reference, self.span, defects
        return found if shoot(*given, plan, change, fraction, found) else None

    def _slopes_of(self, plan: Plan) -> tuple[FloatArray, FloatArray] | None:
        """Return the derivatives of a plan's steps: A `(S, 12, 12)` and B `(S, 12, n)`."""
        y, forces = plan.y[:-1], plan.forces
        count, n = forces.shape
        out, after = np.empty((count, 12, 15 + n)), np.empty((count, 13))
        pose, twist = np.ascontiguousarray(y[:, :7]), np.ascontiguousarray(y[:, 7:])
        none, rest = np.empty((count, 0)), np.zeros((count, 6))
        body, legs, inertia, *_ = self._machine
        calls = []
        for part in (slice(*ends) for ends in chunk_bounds(count, min(count, usable_cores()))):
            states = States(pose[part], twist[part], none[part], forces[part], rest[part])
            calls.append(
                (body, legs, inertia, self._width, states, self.span, after[part], out[part])
            )
        failed = max(on_threads(step_slopes, calls)) >= 0
        if failed or not np.isfinite(out).all():
            return None
        # Between those by state and by forces are those by gravity.
        return np.ascontiguousarray(out[:, :, :12]), np.ascontiguousarray(out[:, :, 15:])

    def _empty(self) -> Plan:
        spans, n = self._none.forces.shape
        return Plan(
            np.empty((spans + 1, 13)),
            np.empty((spans, n)),
            np.empty((spans + 1, 12)),
            np.empty((spans + 1, n)),
            np.empty((spans + 1, n, 6)),
        )
