"""The motion that shows parameters best: D-optimal within all limits of a machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twin.analysis.feasibility.verdict import Feasibility
from twin.basics.arrays import FloatArray, bounded, one_or_each, whole_number
from twin.basics.progress import Progress
from twin.errors import InputError, StateError, listed
from twin.identification.excitation.limits import largest, within_all
from twin.identification.excitation.motion import ExcitingMotion, sizes
from twin.identification.excitation.prediction import RATE, Prediction, predictable
from twin.identification.excitation.search import maximised
from twin.identification.parameters.parameter import Parameter
from twin.identification.visibility import Visibility, visibility
from twin.model.machine_model import MachineModel, as_model
from twin.motion.motion import Motion
from twin.plant.drives import actuator_limit

LINES = 6
"""Frequencies of the series."""

LOWEST = 2.0
"""Periods of the lowest frequency in a motion, at least."""

NOISE = 0.005
"""Of the largest force of an actuator: noise that is left below 10 Hz. Adopted."""

LIMIT_STEPS = 8.0
"""Times per period of the highest frequency at which limits are judged during the search."""

SEARCH_SAMPLES = 60
"""Times along a motion at which forces are predicted during the search."""

SHORTEST, LONGEST = 2.0, 600.0
"""Duration [s]."""

WIDTH = 1.0
"""Standard deviation of the first amplitudes about them, each in its usual size."""

RANDOM = 20
"""Random motions, of which the best is where the search begins."""


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
        noise: standard deviation of forces that is left below 10 Hz [N] or [N m], one or `(n,)`;
            default 0.5 % of the largest force of an actuator.
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
    seconds = bounded(duration, "duration", SHORTEST, LONGEST)
    top = bounded(highest, "highest", 2.0 * LOWEST / seconds, 0.5 * RATE)
    whole_number(rounds, "rounds", 0)
    known, others = predictable(machine, parameters)
    if not known:
        message = f"no motion can be made for {listed(each.path for each in others)} alone"
        raise InputError("parameters", f"{message}: forces along a motion do not show them")
    deviations = (
        _noise(machine) if noise is None else one_or_each(noise, "noise", platform.n_actuators)
    )
    task = _Task(machine, known, seconds, _frequencies(seconds, top), deviations)
    generator = np.random.default_rng(whole_number(seed, "seed", 0))
    drawn = [generator.normal(size=task.size) for _ in range(RANDOM)]
    with Progress("exciting motion", rounds + 1, progress, every=1) as bar:
        values = [task.information(point) for point in drawn]
        begin = drawn[int(np.argmax(values))]
        best = maximised(task.information, begin, WIDTH, rounds, generator, bar.tick)
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
        self._timestep = 1.0 / (LIMIT_STEPS * float(frequencies[-1]))

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
        rows, noise = self._scaled(motion, round(RATE * self._duration))
        return visibility(rows, self._parameters, noise)

    def _motion(self, point: FloatArray, size: float) -> ExcitingMotion:
        series = size * self._sizes[..., None] * point.reshape((*self._shape, 2))
        return ExcitingMotion(self._machine, self._duration, self._frequencies, series)

    def _scaled(self, motion: Motion, samples: int) -> tuple[FloatArray, FloatArray]:
        """Return the Jacobian `(rows, p)` and the noise of its rows `(rows,)`."""
        rows, legs = self._prediction.jacobian(motion, samples)
        # Fewer samples stand for all of them.
        return rows, self._noise[legs] * np.sqrt(samples / (RATE * self._duration))


def _frequencies(duration: float, highest: float) -> FloatArray:
    """Return whole numbers of periods in the duration, evenly apart in their logarithm [Hz]."""
    periods = np.geomspace(LOWEST, highest * duration, LINES)
    return np.unique(np.round(periods)) / duration


def _noise(machine: MachineModel) -> FloatArray:
    parameters = machine.parameters
    weight = parameters.platform.body.mass * max(parameters.gravity, 1.0) / machine.n_actuators
    drives = [leg.drive.reflected().peak if leg.drive else None for leg in parameters.legs]
    known = np.array([np.nan if peak is None else peak for peak in drives])
    return NOISE * actuator_limit(machine, "effort", np.where(np.isnan(known), weight, known))
