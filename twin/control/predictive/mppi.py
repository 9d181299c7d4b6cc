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
"""Rollouts for each plan."""

MAX_ROLLOUTS = 1 << 17
"""Largest number of rollouts that a user may choose."""

DEFAULT_HORIZON = 20
"""Nodes of a plan."""

KNOT_SPANS = 5
"""Adopted: spans between the knots of the noise; finer noise takes more rollouts."""

NOISE_STD = 1.0
"""Adopted: largest standard deviation in parts of the accelerations that a plan is about."""

NOISE_LEVELS = 4
"""Adopted: amplitudes of the noise. Large ones find the way far from an optimum, small ones near
it."""

NOISE_LEVEL_RATIO = 3.0
"""Adopted: factor between two amplitudes of the noise."""

MIN_NOISE = 0.1
"""[m/s2] Adopted: added to those accelerations."""

ELITE_FRACTION = 0.02
"""Adopted: fraction of the rollouts that shape the mean. The temperature is the cost of the worst
of them above that of the best, divided by `ELITE_LOG_WEIGHT`."""

ELITE_LOG_WEIGHT = 3.0
"""Adopted: logarithm of the weight of the best rollout over that of the worst elite one."""

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
        noise: largest standard deviation at the knots, in parts of the accelerations of the
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
            motion: where it shall go; default: stay at home.
            period: of the controller [s].
            model: what the controller takes the machine for; default the machine itself.
            bandwidth: of the loop that follows the plan [rad/s]; default `suitable_bandwidth`.
            plan_period: between two plans [s], a multiple of the period; default: that nearest
                to `PLAN_PERIOD`.
            horizon: spans of a plan.
            rollouts: of a plan, rounded up to whole groups of lanes.
            noise: largest standard deviation, in parts of the accelerations of the reference and of
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
        spans = np.arange(float(self.spans))
        # The first knot is zero and acts in the first span alone: what happens there is decided.
        self._places = np.where(spans > 0.0, 1.0 + (spans - 1.0) / KNOT_SPANS, 0.0)
        self.noise = not_negative(noise, "noise")
        self._sizes = NOISE_LEVEL_RATIO ** -(np.arange(self._groups) % NOISE_LEVELS).astype(float)
        self._slopes = np.empty((len(spans), self.model.n_actuators, 6))
        self._inputs = np.zeros((len(spans), 6))
        self._generator = np.random.default_rng(self._seeds)

    def _sigma(self, reference: PlanReference, begin: FloatArray) -> FloatArray:
        """Return the largest standard deviation `(6,)` of the noise of a plan.

        In parts of the accelerations of the reference and of the way back to it.
        """
        objective, size = self.objective, np.sqrt(self.objective.cost.scale)
        back = objective.feedback[0] * begin[:6] + objective.feedback[1] * begin[6:]
        most = np.linalg.norm(size * reference.acceleration, axis=1).max()
        needed = float(most + np.linalg.norm(size * back)) + MIN_NOISE * size[0]
        return np.asarray(self.noise * needed / size)

    def start(self, measurement: Measurement) -> None:
        """Begin at `measurement`, without a plan; with the seed's noise again."""
        super().start(measurement)
        self._inputs[:] = 0.0
        self._generator = np.random.default_rng(self._seeds)

    def _plan(self, step: int, begin: FloatArray) -> FloatArray | None:
        reference = self._plan_reference(step, 0, self._slopes)
        if reference is None:
            return None
        start = begin, self._legs_at(displaced(reference.pose[0], begin[:6]))
        old, rest = np.vstack([self._inputs[1:], np.zeros((1, 6))]), np.zeros_like(self._inputs)
        coast = -reference.acceleration
        coast[0] = rest[0] = old[0]
        path, center = self._least(reference, start, [rest, old, coast], self.objective.feedback)
        knots = self._drawn(self._sigma(reference, begin))
        totals = self._rolled(reference, start, center, knots)
        if not np.isfinite(totals).any():
            return None
        group, lane = divmod(int(totals.argmin()), totals.shape[1])
        tried = [mean_knots(knots, totals), knots[group, :, :, lane]]
        candidates = [center, *(center + self._between(change) for change in tried)]
        path, self._inputs = self._least(reference, start, candidates)
        return path if np.isfinite(path).all() else None

    def _legs_at(self, pose: FloatArray) -> FloatArray:
        """Return the coordinates `(n,)` of a pose `(7,)`."""
        found = np.empty((1, self.model.n_actuators))
        inverse_kinematics_batch(self.model.constants.legs, pose[None], found)
        return np.asarray(found[0])

    def _rolled(
        self, reference: PlanReference, start: Start, inputs: FloatArray, knots: FloatArray
    ) -> FloatArray:
        """Return the costs `(groups, lanes)` of rollouts under inputs and noise, on all cores."""
        totals = np.empty((len(knots), len(self._width)))
        cores = min(len(knots), usable_cores())
        parts = [slice(*ends) for ends in chunk_bounds(len(knots), cores)]
        none, size = np.zeros((2, len(self._width))), (self.spans + 1, 12, len(self._width))
        given = self._machine, self._width, reference, self.objective.cost
        calls = [
            (
                *(*given, none, self.span, self._slopes, start, inputs),
                *((knots[part], self._places), totals[part], np.empty(size)),
            )
            for part in parts
        ]
        on_threads(rollouts, calls)
        return totals

    def _least(
        self,
        reference: PlanReference,
        start: Start,
        candidates: list[FloatArray],
        feedback: tuple[float, float] | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the path `(S + 1, 12)` of the inputs that cost least, and these inputs.

        Args:
            reference: the reference.
            start: of the path.
            candidates: inputs `(S, 6)`, at most `MIN_LANES`.
            feedback: gains of pose [1/s2] and twist [1/s], added to the first candidate's inputs.
        """
        wide, count = len(self._width), len(candidates)
        changes, back = np.zeros((1, self.spans + 1, 6, wide)), np.zeros((2, wide))
        for lane, inputs in enumerate(candidates):
            changes[0, :-1, :, lane] = inputs
        if feedback is not None:
            back[:, 0] = feedback
        totals, paths = np.empty((1, wide)), np.empty((self.spans + 1, 12, wide))
        noise = changes, np.arange(float(self.spans))
        none = np.zeros_like(candidates[0])
        given = self._machine, self._width, reference, self.objective.cost, back
        rollouts(*given, self.span, self._slopes, start, none, noise, totals, paths)
        chosen = int(totals[0, :count].argmin())
        path = np.ascontiguousarray(paths[:, :, chosen])
        if chosen or feedback is None:
            return path, candidates[chosen]
        return path, np.diff(path[:, 6:], axis=0) / self.span

    def _drawn(self, sigma: FloatArray) -> FloatArray:
        """Return random knots `(groups, k, 6, lanes)`, each with its negative."""
        wide, count = len(self._width), int(self._places[-1]) + 2
        drawn = np.zeros((self._groups, count, 6, wide))
        half = drawn[:, 1:, :, : wide // 2]
        self._generator.standard_normal(out=(found := np.empty(half.shape)))
        half[:] = sigma[:, None] * found * self._sizes[:, None, None, None]
        drawn[:, 1:, :, wide // 2 :] = -half
        return drawn

    def _between(self, knots: FloatArray) -> FloatArray:
        """Return the accelerations `(S, 6)` of knots `(k, 6)`."""
        low = self._places.astype(int)
        fraction = (self._places - low)[:, None]
        return np.asarray((1.0 - fraction) * knots[low] + fraction * knots[low + 1])


def mean_knots(knots: FloatArray, totals: FloatArray) -> FloatArray:
    """Return the mean `(k, 6)` of knots `(groups, k, 6, lanes)` by their costs `(groups, lanes)`.

    Weights are exp(-(cost - least) / temperature), and zero where the cost is infinite.
    """
    finite = np.isfinite(totals)
    above = totals - totals[finite].min()
    temperature = (
        float(np.quantile(above[finite], ELITE_FRACTION)) / ELITE_LOG_WEIGHT + np.finfo(float).tiny
    )
    with np.errstate(over="ignore"):  # an infinite quotient is a weight of zero
        weights = np.where(finite, np.exp(-np.where(finite, above, 0.0) / temperature), 0.0)
    return np.asarray(np.einsum("gw,gkjw->kj", weights, knots) / weights.sum())
