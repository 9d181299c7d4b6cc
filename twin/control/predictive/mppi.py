"""Model predictive path integral control: a plan is the mean of many random ones, by their cost."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray, not_negative, whole_number
from twin.control.controller import DEFAULT_PERIOD, Reference
from twin.control.predictive.planned import PlannedTorque
from twin.kernels.control.predictive import PlanReference, rollouts
from twin.kernels.kinematics import inverse_kinematics_batch
from twin.model.batch import chunk_bounds, lane_count, on_threads, usable_cores
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.signals import Measurement, seed_sequence
from twin.rotations import displaced

DEFAULT_ROLLOUTS = 1024
"""Default number of rollouts for each plan."""

MAX_ROLLOUTS = 1 << 17
"""Largest number of rollouts that a user may choose."""

DEFAULT_HORIZON = 20
"""Default number of spans in a plan's horizon."""

KNOT_SPANS = 5
"""Engineering choice: spans between the knots of the noise; finer noise takes more rollouts."""

NOISE_STD = 1.0
"""Engineering choice: largest standard deviation of the noise, relative to the accelerations of
reference and feedback."""

NOISE_LEVELS = 4
"""Engineering choice: number of noise amplitudes. Large ones explore far from an optimum, small
ones refine near it."""

NOISE_LEVEL_RATIO = 3.0
"""Engineering choice: factor between two amplitudes of the noise."""

MIN_NOISE = 0.1
"""[m/s2] Engineering choice: acceleration added to the standard deviation of the noise, so that it
is never zero."""

ELITE_FRACTION = 0.02
"""Engineering choice: fraction of the rollouts that shape the mean. The temperature is the cost of
the worst of them above that of the best, divided by `ELITE_LOG_WEIGHT`."""

ELITE_LOG_WEIGHT = 3.0
"""Engineering choice: logarithm of the weight of the best rollout over that of the worst elite
one."""

MIN_LANES = 4
"""Smallest number of lanes: one for each candidate to compare, at least."""

Start = tuple[FloatArray, FloatArray]
"""Deviation `(12,)` and coordinates of the legs `(n,)` at the first node of a plan."""


class Mppi(PlannedTorque):
    """Plans by rollouts under random accelerations, weighted by exp(-(cost - least) / temperature).

    The inputs are accelerations added to those of the reference. Rollouts are drawn around the best
    of three plans: the last one, feedback of the deviation alone, and no acceleration of the
    platform. Noise is drawn at knots and linear in between, in several amplitudes, each draw with
    both signs. The plan is the cheapest of three: the centre of the rollouts, their weighted mean
    and the best rollout. Without limits that is exactly the reference.

    Attributes:
        noise: largest standard deviation at the knots, relative to the accelerations of the
            reference and of the way back to it.

    Reference:
        Williams, Drews, Goldfain, Rehg and Theodorou, Information-theoretic model predictive
        control, IEEE Transactions on Robotics 34 (2018), algorithm 2.
    """

    name: ClassVar[str] = "mppi"

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
        rollouts: Any = DEFAULT_ROLLOUTS,
        noise: Any = NOISE_STD,
        seed: Any = 0,
    ) -> None:
        """Prepare the noise.

        Args:
            platform: the machine.
            motion: reference motion; default: stay at home.
            period: control period [s].
            model: the controller's model of the machine; default the machine itself.
            bandwidth: of the loop that follows the plan [rad/s]; default `suitable_bandwidth`.
            plan_period: between two plans [s], a multiple of the period; default: that nearest
                to `PLAN_PERIOD`.
            horizon: spans of a plan.
            rollouts: of a plan, rounded up to whole groups of lanes.
            noise: largest standard deviation, relative to the accelerations of the reference and of
                the way back to it; zero for none.
            seed: of the noise.

        Raises:
            InputError: an argument that cannot be used, or a machine whose actuators do not move
                the platform alone.
        """
        super().__init__(
            platform, motion, period=period, model=model, bandwidth=bandwidth,
            plan_period=plan_period, horizon=horizon,
        )  # fmt: skip
        whole_number(rollouts, "rollouts", 1, MAX_ROLLOUTS)
        self._seeds = seed_sequence(seed, "mppi")
        self._width = (0,) * max(lane_count(), MIN_LANES)
        self._groups = -(-rollouts // len(self._width))
        span_index = np.arange(float(self.spans))
        # The first knot is zero and acts in the first span alone: what happens there is decided.
        self._places = np.where(span_index > 0.0, 1.0 + (span_index - 1.0) / KNOT_SPANS, 0.0)
        self.noise = not_negative(noise, "noise")
        self._sizes = NOISE_LEVEL_RATIO ** -(np.arange(self._groups) % NOISE_LEVELS).astype(float)
        self._slopes = np.empty((len(span_index), self.model.n_actuators, 6))
        self._inputs = np.zeros((len(span_index), 6))
        self._generator = np.random.default_rng(self._seeds)

    def _sigma(self, reference: PlanReference, begin: FloatArray) -> FloatArray:
        """Return the largest standard deviation `(6,)` of the noise of a plan.

        In parts of the accelerations of the reference and of the way back to it.
        """
        objective, size = self.objective, np.sqrt(self.objective.cost.scale)
        feedback_acceleration = (
            objective.feedback[0] * begin[:6] + objective.feedback[1] * begin[6:]
        )
        peak_acceleration = np.linalg.norm(size * reference.acceleration, axis=1).max()
        noise_scale = (
            float(peak_acceleration + np.linalg.norm(size * feedback_acceleration))
            + MIN_NOISE * size[0]
        )
        return np.asarray(self.noise * noise_scale / size)

    def start(self, measurement: Measurement) -> None:
        """Begin at `measurement`, without a plan; with the seed's noise again."""
        super().start(measurement)
        self._inputs[:] = 0.0
        self._generator = np.random.default_rng(self._seeds)

    def _plan(self, step: int, begin: FloatArray) -> FloatArray | None:
        reference = self._plan_reference(step, 0, self._slopes)
        if reference is None:
            return None
        initial_state = begin, self._legs_at(displaced(reference.pose[0], begin[:6]))
        shifted_inputs, zero_inputs = (
            np.vstack([self._inputs[1:], np.zeros((1, 6))]),
            np.zeros_like(self._inputs),
        )
        coasting_inputs = -reference.acceleration
        coasting_inputs[0] = zero_inputs[0] = shifted_inputs[0]
        path, center = self._least(
            reference,
            initial_state,
            [zero_inputs, shifted_inputs, coasting_inputs],
            self.objective.feedback,
        )
        knots = self._drawn(self._sigma(reference, begin))
        rollout_costs = self._rolled(reference, initial_state, center, knots)
        if not np.isfinite(rollout_costs).any():
            return None
        group, lane = divmod(int(rollout_costs.argmin()), rollout_costs.shape[1])
        knot_candidates = [mean_knots(knots, rollout_costs), knots[group, :, :, lane]]
        candidates = [
            center,
            *(center + self._between(candidate_knots) for candidate_knots in knot_candidates),
        ]
        path, self._inputs = self._least(reference, initial_state, candidates)
        return path if np.isfinite(path).all() else None

    def _legs_at(self, pose: FloatArray) -> FloatArray:
        """Return the coordinates `(n,)` of a pose `(7,)`."""
        coordinates = np.empty((1, self.model.n_actuators))
        inverse_kinematics_batch(self.model.constants.legs, pose[None], coordinates)
        return np.asarray(coordinates[0])

    def _rolled(
        self, reference: PlanReference, start: Start, inputs: FloatArray, knots: FloatArray
    ) -> FloatArray:
        """Return the costs `(groups, lanes)` of rollouts under inputs and noise, on all cores."""
        total_costs = np.empty((len(knots), len(self._width)))
        cores = min(len(knots), usable_cores())
        parts = [slice(*ends) for ends in chunk_bounds(len(knots), cores)]
        no_feedback, size = np.zeros((2, len(self._width))), (self.spans + 1, 12, len(self._width))
        fixed_arguments = self._machine, self._width, reference, self.objective.cost
        calls = [
            (
                *(*fixed_arguments, no_feedback, self.span, self._slopes, start, inputs),
                *((knots[chunk], self._places), total_costs[chunk], np.empty(size)),
            )
            for chunk in parts
        ]
        on_threads(rollouts, calls)
        return total_costs

    def _least(
        self,
        reference: PlanReference,
        start: Start,
        candidates: list[FloatArray],
        feedback: tuple[float, float] | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the cheapest of the candidate inputs, and its path `(S + 1, 12)` of deviations.

        Args:
            reference: the reference.
            start: of the path.
            candidates: inputs `(S, 6)`, at most `MIN_LANES`.
            feedback: gains of pose [1/s2] and twist [1/s], added to the first candidate's inputs.
        """
        n_lanes, n_candidates = len(self._width), len(candidates)
        lane_inputs, feedback_gains = (
            np.zeros((1, self.spans + 1, 6, n_lanes)),
            np.zeros((2, n_lanes)),
        )
        for lane, inputs in enumerate(candidates):
            lane_inputs[0, :-1, :, lane] = inputs
        if feedback is not None:
            feedback_gains[:, 0] = feedback
        candidate_costs, paths = np.empty((1, n_lanes)), np.empty((self.spans + 1, 12, n_lanes))
        noise = lane_inputs, np.arange(float(self.spans))
        zero_inputs = np.zeros_like(candidates[0])
        rollout_arguments = (
            self._machine,
            self._width,
            reference,
            self.objective.cost,
            feedback_gains,
        )
        rollouts(
            *rollout_arguments,
            self.span,
            self._slopes,
            start,
            zero_inputs,
            noise,
            candidate_costs,
            paths,
        )
        cheapest = int(candidate_costs[0, :n_candidates].argmin())
        path = np.ascontiguousarray(paths[:, :, cheapest])
        if cheapest or feedback is None:
            return path, candidates[cheapest]
        return path, np.diff(path[:, 6:], axis=0) / self.span

    def _drawn(self, sigma: FloatArray) -> FloatArray:
        """Return random knots `(groups, k, 6, lanes)`, each with its negative."""
        n_lanes, n_knots = len(self._width), int(self._places[-1]) + 2
        random_knots = np.zeros((self._groups, n_knots, 6, n_lanes))
        positive_half = random_knots[:, 1:, :, : n_lanes // 2]
        self._generator.standard_normal(out=(found := np.empty(positive_half.shape)))
        positive_half[:] = sigma[:, None] * found * self._sizes[:, None, None, None]
        random_knots[:, 1:, :, n_lanes // 2 :] = -positive_half
        return random_knots

    def _between(self, knots: FloatArray) -> FloatArray:
        """Return the accelerations `(S, 6)` of knots `(k, 6)`."""
        knot_below = self._places.astype(int)
        fraction = (self._places - knot_below)[:, None]
        return np.asarray((1.0 - fraction) * knots[knot_below] + fraction * knots[knot_below + 1])


def mean_knots(knots: FloatArray, totals: FloatArray) -> FloatArray:
    """Return the mean `(k, 6)` of knots `(groups, k, 6, lanes)` by their costs `(groups, lanes)`.

    Weights are exp(-(cost - least) / temperature), and zero where the cost is infinite.
    """
    finite = np.isfinite(totals)
    excess_costs = totals - totals[finite].min()
    temperature = (
        float(np.quantile(excess_costs[finite], ELITE_FRACTION)) / ELITE_LOG_WEIGHT
        + np.finfo(float).tiny
    )
    with np.errstate(over="ignore"):  # an infinite quotient is a weight of zero
        weights = np.where(finite, np.exp(-np.where(finite, excess_costs, 0.0) / temperature), 0.0)
    return np.asarray(np.einsum("gw,gkjw->kj", weights, knots) / weights.sum())
