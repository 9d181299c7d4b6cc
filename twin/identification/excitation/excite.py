"""The motion that shows parameters best: D-optimal within all limits of a machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twin.analysis.feasibility.feasibility import feasibility
from twin.analysis.feasibility.verdict import Feasibility
from twin.basics.arrays import FloatArray, bounded, one_or_each, whole_number
from twin.basics.progress import Progress
from twin.errors import InputError, StateError, listed
from twin.identification.excitation.motion import ExcitingMotion, sizes
from twin.identification.excitation.prediction import SAMPLE_RATE, Prediction, predictable
from twin.identification.excitation.search import maximised
from twin.identification.parameters.parameter import Parameter
from twin.identification.visibility import Visibility, visibility
from twin.model.machine_model import MachineModel, as_model
from twin.motion.fitting import LIMIT_SHARE, limit_use
from twin.motion.motion import Motion
from twin.plant.drives import actuator_limit

Made = Callable[[float], Motion]
"""Size of a motion, 1 for a usual one -> the motion."""

MAX_SIZE_ROUNDS = 8
"""Changes of size until a motion uses its share of the limits."""

USE_TOLERANCE = 0.05
"""Relative difference of the use of the limits from its share beyond which it is judged anew."""

SHRINK_FACTOR = 0.9
"""Factor of size as long as a limit that is judged at the end is violated."""

MAX_SHRINK_ROUNDS = 40
"""Times that a motion is made smaller before it is given up."""

FREQUENCY_COUNT = 6
"""Number of frequencies of the series."""

MIN_PERIODS = 2.0
"""Least number of periods of the lowest frequency in a motion."""

MIN_NOISE_RATIO = 1e-6
"""Smallest noise, as a fraction of the default one: rounding of the forces is not far below."""

DEFAULT_NOISE_FRACTION = 0.005
"""Adopted: noise below 10 Hz, as a fraction of the largest force of an actuator."""

SAMPLES_PER_PERIOD = 8.0
"""Times per period of the highest frequency at which limits are judged during the search."""

SEARCH_SAMPLES = 60
"""Times along a motion at which forces are predicted during the search."""

MIN_DURATION = 2.0
"""[s] Shortest motion."""

MAX_DURATION = 600.0
"""[s] Longest motion."""

INITIAL_WIDTH = 1.0
"""Standard deviation of the first amplitudes about them, each in its usual size."""

RANDOM_MOTIONS = 20
"""Number of random motions, of which the best is where the search begins."""


def largest(machine: MachineModel, make: Made, size: float, timestep: float) -> float:
    """Return the size at which a motion uses its share of travel, speed and force; 0 for none.

    Args:
        machine: with limits.
        make: gives the motion of a size.
        size: to begin with.
        timestep: [s] between the times at which limits are judged.
    """
    for _ in range(MAX_SIZE_ROUNDS):
        use = limit_use(machine, make(size), timestep)
        if np.isfinite(use) and abs(use / LIMIT_SHARE - 1.0) < USE_TOLERANCE:
            return size * LIMIT_SHARE / use
        size *= float(np.clip(LIMIT_SHARE / use, 0.1, 10.0)) if use > 0.0 else 10.0
    return 0.0


def within_all(machine: MachineModel, make: Made, size: float) -> tuple[Motion, Feasibility]:
    """Return the motion, made smaller until no known limit is violated, and the verdict on it.

    Raises:
        InputError: there is no such motion.
    """
    for _ in range(MAX_SHRINK_ROUNDS):
        motion = make(size)
        found = feasibility(machine, motion)
        if found.feasible:
            return motion, found
        size *= SHRINK_FACTOR
    resting = feasibility(machine)
    reason = "; ".join(resting.remedies or found.remedies[:1])
    raise InputError("platform", f"{machine.name} has no motion within its limits: {reason}")


@dataclass(frozen=True, eq=False)
class Excitation:
    """An exciting motion, and what is to be expected of it."""

    motion: Motion
    visibility: Visibility
    """of the parameters whose errors can be predicted, with this motion"""
    random: Visibility
    """with a random motion of the same frequencies, as large as the limits allow"""
    unpredicted: tuple[Parameter, ...]
    """parameters that only a simulation of the closed loop shows; see `trial`"""
    feasibility: Feasibility
    noise: FloatArray
    """`(n,)` [N] or [N m] of forces, in each of 20 samples a second"""


def excite(
    platform: MachineModel,
    parameters: Sequence[Parameter],
    duration: Any = 20.0,
    *,
    noise: Any = None,
    highest: Any = 3.0,
    seed: int = 0,
    rounds: int = 200,
    progress: bool | None = None,
) -> Excitation:
    """Return the motion that shows parameters best, within all limits that the machine's file has.

    A Fourier series of all axes about home, from rest to rest. It maximises the determinant of the
    information of the parameters, each in its spread, with the prior (D-optimality).

    Args:
        platform: the machine; with drives, forces are those of the motors.
        parameters: that shall be seen.
        duration: [s], from 2 to 600.
        noise: standard deviation of forces that is left below 10 Hz [N] or [N m], one or `(n,)`,
            from a millionth of the default on; default 0.5 % of the largest force of an actuator.
        highest: highest frequency [Hz].
        seed: of everything random; the same motion for the same seed.
        rounds: of the search; each takes some 16 motions.
        progress: of a bar; True, False, or None where it takes a while.

    Raises:
        InputError: no parameter whose errors can be predicted, numbers out of range, or a machine
            that has no motion within its limits.

    Reference:
        J. Swevers, C. Ganseman, D. Tukel, J. De Schutter and H. Van Brussel, Optimal robot
        excitation and identification, IEEE Trans. Robotics and Automation 13 (1997).
    """
    machine = as_model(platform)
    seconds = bounded(duration, "duration", MIN_DURATION, MAX_DURATION)
    top = bounded(highest, "highest", 2.0 * MIN_PERIODS / seconds, 0.5 * SAMPLE_RATE)
    whole_number(rounds, "rounds", 0)
    known, others = predictable(machine, parameters)
    if not known:
        message = f"no motion can be made for {listed(each.path for each in others)} alone"
        raise InputError("parameters", f"{message}: forces along a motion do not show them")
    deviations = usual = _noise(machine)
    if noise is not None:
        deviations = one_or_each(noise, "noise", platform.n_actuators)
        least = MIN_NOISE_RATIO * usual.min()
        if deviations.min() < least:
            message = f"must be {least:.2g} {platform.force_unit} or more, for rounding leaves that"
            raise InputError("noise", message)
    task = _Task(machine, known, seconds, _frequencies(seconds, top), deviations)
    generator = np.random.default_rng(whole_number(seed, "seed", 0))
    drawn = [generator.normal(size=task.size) for _ in range(RANDOM_MOTIONS)]
    with Progress("exciting motion", rounds + 1, progress, every=1) as bar:
        values = [task.information(point) for point in drawn]
        begin = drawn[int(np.argmax(values))]
        best = maximised(task.information, begin, INITIAL_WIDTH, rounds, generator, bar.tick)
        motion, verdict = task.finished(best.point)
        random, _ = task.finished(drawn[0])
    return Excitation(motion, task.seen(motion), task.seen(random), others, verdict, deviations)


class _Task:
    """Motions of a machine by points of unit size, and the information that they give."""

    def __init__(
        self,
        machine: MachineModel,
        parameters: tuple[Parameter, ...],
        duration: float,
        frequencies: FloatArray,
        noise: FloatArray,
    ) -> None:
        self._machine, self._parameters, self._noise = machine, parameters, noise
        self._duration, self._frequencies = duration, frequencies
        self._prediction = Prediction(machine, parameters)
        # Fast lines begin smaller: speed and force limit them.
        self._sizes = np.outer(frequencies[0] / frequencies, sizes(machine))
        self._shape = self._sizes.shape
        self.size = 2 * self._sizes.size
        self._spreads = np.array([parameter.spread for parameter in parameters])
        self._last = 1.0
        self._timestep = 1.0 / (SAMPLES_PER_PERIOD * float(frequencies[-1]))

    def information(self, point: FloatArray) -> float:
        """Return half the logarithm of the determinant of the information, prior included."""
        size = largest(self._machine, lambda s: self._motion(point, s), self._last, self._timestep)
        if size == 0.0:
            return -np.inf
        self._last = size
        try:
            rows, noise = self._scaled(self._motion(point, size), SEARCH_SAMPLES)
        except StateError:
            return -np.inf
        scaled = rows * self._spreads / noise[:, None]
        information = scaled.T @ scaled + np.eye(len(self._spreads))
        return float(np.linalg.slogdet(information)[1] / 2.0)

    def finished(self, point: FloatArray) -> tuple[Motion, Feasibility]:
        """Return the motion of a point, as large as all limits allow, and the verdict on it."""
        size = largest(self._machine, lambda s: self._motion(point, s), self._last, self._timestep)
        return within_all(self._machine, lambda s: self._motion(point, s), size or 1.0)

    def seen(self, motion: Motion) -> Visibility:
        """Return what a motion shows of the parameters."""
        rows, noise = self._scaled(motion, round(SAMPLE_RATE * self._duration))
        return visibility(rows, self._parameters, noise)

    def _motion(self, point: FloatArray, size: float) -> ExcitingMotion:
        series = size * self._sizes[..., None] * point.reshape((*self._shape, 2))
        return ExcitingMotion(self._machine, self._duration, self._frequencies, series)

    def _scaled(self, motion: Motion, samples: int) -> tuple[FloatArray, FloatArray]:
        """Return the Jacobian `(rows, p)` and the noise of its rows `(rows,)`."""
        rows, legs = self._prediction.jacobian(motion, samples)
        # Fewer samples stand for all of them.
        return rows, self._noise[legs] * np.sqrt(samples / (SAMPLE_RATE * self._duration))


def _frequencies(duration: float, highest: float) -> FloatArray:
    """Return whole numbers of periods in the duration, evenly apart in their logarithm [Hz]."""
    periods = np.geomspace(MIN_PERIODS, highest * duration, FREQUENCY_COUNT)
    return np.unique(np.round(periods)) / duration


def _noise(machine: MachineModel) -> FloatArray:
    parameters = machine.parameters
    weight = parameters.platform.body.mass * max(parameters.gravity, 1.0) / machine.n_actuators
    drives = [leg.drive.reflected().peak if leg.drive else None for leg in parameters.legs]
    known = np.array([np.nan if peak is None else peak for peak in drives])
    return DEFAULT_NOISE_FRACTION * actuator_limit(
        machine, "effort", np.where(np.isnan(known), weight, known)
    )
