"""Exciting motions: those that show parameters best within all limits of a machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from twin.analysis.feasibility.feasibility import Feasibility, feasibility
from twin.basics.arrays import FloatArray, as_floats, bounded, one_or_each, whole_number
from twin.basics.progress import Progress
from twin.control import make_controller
from twin.engines.base import dividing_step
from twin.errors import InputError, StateError, listed
from twin.identification.linear.model import linear_model, linear_part
from twin.identification.linear.samples import ForceSamples, Where
from twin.identification.parameters import (
    Parameter,
    added_parameters,
    nominal_array,
    prior_std_array,
)
from twin.identification.prediction.optimise import (
    difference_steps,
    first_jacobian,
    projected_jacobian,
)
from twin.identification.prediction.problem import PredictionProblem
from twin.identification.prediction.recording import recording_of
from twin.identification.result.identification import backlash_warning
from twin.identification.result.predictions import check_predictable
from twin.identification.visibility import Visibility, visibility
from twin.logs import log_of
from twin.model.machine_model import MachineModel, as_model
from twin.motion.motion import Motion
from twin.motion.profiles import FourierMotion
from twin.motion.recording import FITTED_LIMIT_USE, limit_use
from twin.motion.specification import convention_of, default_amplitude
from twin.plant.drives import actuator_limit
from twin.plant.plant import Plant
from twin.simulation.simulate import simulate

FADE_FRACTION = 0.1
"""Duration of fade-in and fade-out, as a fraction of the motion's duration."""

MAX_FADE = 2.0
"""[s] Longest fade-in or fade-out."""

FREE_AXES = ("z", "roll", "pitch")
"""Axes of machines with three degrees of freedom; the others follow."""

SAMPLE_TIME = 0.01
"""[s] Time between the rows of the table of a motion."""

DELAY_SIGNS = {
    "leg.drive.delay": 1.0,
    "leg.drive.current_lag": 1.0,
    "signal.coordinates.delay": 1.0,
    "signal.forces.delay": -1.0,
}
"""Parameters that shift forces in time against the motion, and the sign of the shift."""

SAMPLE_RATE = 20.0
"""[1/s] Independent samples per second of forces that are low-passed at 10 Hz (Nyquist)."""

RATE_STEP = 1e-4
"""[s] Step over which the rates of forces are differences."""

TRACKER_RATE = 100.0
"""Poses per second of a tracker (engineering choice)."""

MAX_SIZE_ROUNDS = 8
"""Maximum number of changes of size until a motion uses its fraction of the limits."""

USE_TOLERANCE = 0.05
"""Relative error of the limit fraction beyond which the size is changed again."""

SHRINK_FACTOR = 0.9
"""Factor by which a motion is scaled as long as a limit of the final check is violated."""

MAX_SHRINK_ROUNDS = 40
"""Times that a motion is made smaller before it is given up."""

FREQUENCY_COUNT = 6
"""Number of frequencies of the series."""

MIN_PERIODS = 2.0
"""Least number of periods of the lowest frequency in a motion."""

MIN_NOISE_RATIO = 1e-6
"""Smallest noise, as a fraction of the default one: rounding of the forces is not far below."""

DEFAULT_NOISE_FRACTION = 0.005
"""Engineering choice: noise below 10 Hz, as a fraction of the largest force of an actuator."""

SAMPLES_PER_PERIOD = 8.0
"""Times per period of the highest frequency at which limits are judged during the search."""

SEARCH_SAMPLES = 60
"""Times along a motion at which forces are predicted during the search."""

MIN_DURATION = 2.0
"""[s] Shortest motion."""

MAX_DURATION = 600.0
"""[s] Longest motion."""

INITIAL_WIDTH = 1.0
"""Initial step size of the evolution strategy, in default amplitudes."""

RANDOM_MOTIONS = 20
"""Number of random motions, of which the best is where the search begins."""


class ExcitingMotion(FourierMotion):
    """Sum of cosines and sines on every axis, which fades in and out."""

    def __init__(
        self, platform: MachineModel, duration: Any, frequencies: Any, amplitudes: Any
    ) -> None:
        """Describe the series.

        Args:
            platform: the machine, about whose home it moves.
            duration: [s].
            frequencies: `(m,)` [Hz].
            amplitudes: `(m, a, 2)` of cosines and sines, of the axes of `moved_axes` [m] or [rad].

        Raises:
            InputError: wrong shapes, not finite, or a duration out of range.
        """
        fade_time = min(FADE_FRACTION * float(duration), MAX_FADE)
        super().__init__(platform.home, duration, convention_of(platform), fade_time, fade_time)
        line_frequencies, axes = as_floats(frequencies, "frequencies"), moved_axes(platform)
        axis_amplitudes = as_floats(amplitudes, "amplitudes", 2)
        shape = len(line_frequencies), len(axes), 2
        if axis_amplitudes.shape != shape:
            message = f"must have shape {shape}, not {axis_amplitudes.shape}"
            raise InputError("amplitudes", message)
        series = np.zeros((len(line_frequencies), len(self.axis_names)), dtype=complex)
        columns = [self.axis_names.index(axis) for axis in axes]
        series[:, columns] = axis_amplitudes[..., 0] - 1j * axis_amplitudes[..., 1]
        self._set_series(line_frequencies, series)


def moved_axes(platform: MachineModel) -> tuple[str, ...]:
    """Return the axes that a machine can move independently."""
    return ("x", "y", "z", "yaw", "pitch", "roll") if platform.dof == 6 else FREE_AXES


def motion_table(motion: Motion) -> str:
    """Return a motion as a CSV file that `read_recording` and commands take, 100 rows a second."""
    time = np.linspace(0.0, motion.duration, 1 + round(motion.duration / SAMPLE_TIME))
    values = motion.axes(time).values
    moved_columns = [k for k in range(values.shape[1]) if values[:, k].any()]
    names = [motion.axis_names[k] for k in moved_columns]
    titles = [f"{name} [{'m' if name in 'xyz' else 'rad'}]" for name in names]
    rows = np.column_stack([time, values[:, moved_columns]]) + 0.0  # no minus zero
    table_text = "\n".join(",".join(f"{value:.12g}" for value in row) for row in rows)
    return f"time [s],{','.join(titles)}\n{table_text}\n"


def force_location(platform: MachineModel) -> Where:
    """Return where forces are measured: in the motors of a machine with drives, else on legs."""
    drives = platform.parameters.drives
    return "motors" if all(drive is not None for drive in drives) else "legs"


def predictable(
    platform: MachineModel, parameters: Sequence[Parameter]
) -> tuple[tuple[Parameter, ...], tuple[Parameter, ...]]:
    """Return the parameters whose errors can be predicted, then the others.

    Predictable are those of the linear stage, and delays and lags.
    """
    linear = linear_part(platform, parameters, force_location(platform))
    estimable = tuple(
        parameter
        for parameter in parameters
        if parameter in linear or parameter.path in DELAY_SIGNS
    )
    return estimable, tuple(parameter for parameter in parameters if parameter not in estimable)


def force_jacobian(
    platform: MachineModel, parameters: Sequence[Parameter], motion: Motion, samples: int
) -> tuple[FloatArray, Any]:
    """Return derivatives of forces along a motion by predictable parameters.

    Rows in which a drive may stick are left out.

    Args:
        platform: the machine.
        parameters: p predictable ones.
        motion: of it.
        samples: number of times, at which all legs give a row.

    Returns:
        Derivatives `(rows, p)`, and the leg of each row, from 0.

    Raises:
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a state without a solution.
    """
    # Midpoints of equal intervals, so that the ends at rest do not count twice.
    time = (np.arange(samples) + 0.5) * motion.duration / samples
    state = platform.constrain(*motion.sample(time))
    is_delay = np.array([parameter.path in DELAY_SIGNS for parameter in parameters])
    rates = np.zeros((samples, platform.n_actuators))
    if is_delay.any():
        rates = _force_rates(platform, motion, time)
    states = ForceSamples(*state, rates, force_location(platform))
    linear = [parameter for parameter, delay in zip(parameters, is_delay, strict=True) if not delay]
    # The scale of the forces stands in where only delays are asked for.
    scale = added_parameters(platform)["signal.forces.scale"]
    model = linear_model(platform, linear or [scale], states)
    jacobian = np.empty((len(model.legs), len(parameters)))
    if linear:
        jacobian[:, ~is_delay] = model.jacobian(nominal_array(linear))
    signs = [
        DELAY_SIGNS[parameter.path] for parameter in parameters if parameter.path in DELAY_SIGNS
    ]
    # What the model was given as forces are their rates.
    jacobian[:, is_delay] = np.outer(model.measured, signs)
    return jacobian, model.legs


def _force_rates(platform: MachineModel, motion: Motion, time: FloatArray) -> FloatArray:
    """Return the rates `(k, n)` of the forces on the legs [N/s] or [N m/s]."""
    forces_at_ends = []
    for side in (-0.5, 0.5):
        motion_state = platform.constrain(*motion.sample(time + side * RATE_STEP))
        states = ForceSamples(*motion_state, np.zeros((len(time), platform.n_actuators)))
        deflection = states.series_deflection(platform)
        forces_at_ends.append(platform.inverse_dynamics(*motion_state, deflection=deflection))
    return (forces_at_ends[1] - forces_at_ends[0]) / RATE_STEP


def trial(platform: MachineModel, motion: Motion, parameters: Sequence[Parameter]) -> Visibility:
    """Return the visibility of parameters in closed-loop predictions along a motion.

    The machine of the file follows the motion under computed torque, through its drives and
    sensors. The Jacobian is that of `twin identify` at its end: without the effect of single
    events. Backlash that shows in few impacts keeps its prior standard deviation.

    Args:
        platform: the machine, with drives.
        motion: that it shall follow.
        parameters: all that shall be identified together.

    Raises:
        InputError: a machine that predictions do not support, or a motion that is too short.
    """
    check_predictable(platform)
    law = make_controller("computed_torque", platform, motion)
    step, plant = dividing_step(platform, law.period), Plant(platform)
    simulation = simulate(platform, motion.duration, controller=law, plant=plant, timestep=step)
    log = log_of(simulation)
    log_interval = max(1, round(1.0 / (TRACKER_RATE * step)))
    log = log.with_channels(log["pose"].kept(slice(None, None, log_interval)))
    problem = PredictionProblem(platform, recording_of(log, platform), parameters)
    values, prior_stds = nominal_array(parameters), prior_std_array(parameters)
    rows = first_jacobian([problem]) * prior_stds
    steps = difference_steps(rows.T @ rows + np.eye(len(values)), parameters)
    projected = projected_jacobian(problem, values, steps)
    slopes = projected.linear(problem.errors(values)).slopes.reshape(-1, len(values))
    observability = visibility(slopes / prior_stds, parameters)
    reversals = problem.sign_reversals(platform).sum(axis=0)
    is_uncertain = [bool(backlash_warning(parameter, reversals, 0.0)) for parameter in parameters]
    return replace(
        observability,
        expected_errors=np.where(is_uncertain, prior_stds, observability.expected_errors),
    )


def maximised(
    function: Callable[[FloatArray], float],
    start: FloatArray,
    width: float,
    rounds: int,
    generator: np.random.Generator,
    report: Callable[[int], None],
) -> FloatArray:
    """Return the best point `(d,)` that an evolution strategy with a diagonal covariance finds.

    Args:
        function: point `(d,)` -> value; minus infinity where there is none.
        start: `(d,)`.
        width: standard deviation of the first points about it.
        rounds: how many; each calls the function 4 + 3 ln d times.
        generator: of everything random.
        report: called with the number of each round.

    Reference:
        R. Ros and N. Hansen, A simple modification in CMA-ES achieving linear time and space
        complexity, PPSN X (2008).
    """
    d = len(start)
    count = 4 + int(3.0 * np.log(d))
    weights = np.log(count / 2.0 + 0.5) - np.log(np.arange(1, count // 2 + 1))
    weights /= weights.sum()
    effective_size = 1.0 / (weights**2).sum()
    step_memory = (effective_size + 2.0) / (d + effective_size + 5.0)
    damping = 1.0 + 2.0 * max(0.0, np.sqrt((effective_size - 1.0) / (d + 1.0)) - 1.0) + step_memory
    path_memory = (4.0 + effective_size / d) / (d + 4.0 + 2.0 * effective_size / d)
    # Rates of learning of a diagonal are (d + 2) / 3 times those of a whole matrix.
    separable_factor = (d + 2.0) / 3.0
    rank_one_rate = min(0.5, separable_factor * 2.0 / ((d + 1.3) ** 2 + effective_size))
    full_matrix_rate = (
        2.0 * (effective_size - 2.0 + 1.0 / effective_size) / ((d + 2.0) ** 2 + effective_size)
    )
    rank_mu_rate = min(1.0 - rank_one_rate, separable_factor * full_matrix_rate)
    expected_length = np.sqrt(d) * (1.0 - 1.0 / (4.0 * d) + 1.0 / (21.0 * d * d))
    mean, variances = start.copy(), np.ones(d)
    step_path, path = np.zeros(d), np.zeros(d)
    best_point, best_value = start.copy(), function(start)
    for number in range(rounds):
        samples = generator.normal(size=(count, d))
        points = mean + width * np.sqrt(variances) * samples
        values = np.array([function(point) for point in points])
        order = np.argsort(-values)
        if values[order[0]] > best_value:
            best_point, best_value = points[order[0]].copy(), values[order[0]]
        selected = samples[order[: len(weights)]]
        mean_shift = weights @ selected
        mean = mean + width * np.sqrt(variances) * mean_shift
        step_path *= 1.0 - step_memory
        step_path += np.sqrt(step_memory * (2.0 - step_memory) * effective_size) * mean_shift
        length = np.linalg.norm(step_path) / expected_length
        path *= 1.0 - path_memory
        if length < 1.4 + 2.0 / (d + 1.0):
            path_scale = np.sqrt(path_memory * (2.0 - path_memory) * effective_size)
            path += path_scale * np.sqrt(variances) * mean_shift
        mean_squares = variances * (weights @ selected**2)
        variances = (
            (1.0 - rank_one_rate - rank_mu_rate) * variances
            + rank_one_rate * path**2
            + rank_mu_rate * mean_squares
        )
        width *= float(np.exp(step_memory / damping * (length - 1.0)))
        report(number + 1)
    return best_point


@dataclass(frozen=True, eq=False)
class Excitation:
    """An exciting motion, with the visibility that it gives the parameters."""

    motion: Motion
    visibility: Visibility
    """visibility of the parameters whose errors can be predicted, with this motion"""
    random: Visibility
    """visibility with a random motion of the same frequencies, as large as the limits allow"""
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
    high: Any = 3.0,
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
        high: highest frequency [Hz].
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
    max_frequency = bounded(high, "high", 2.0 * MIN_PERIODS / seconds, 0.5 * SAMPLE_RATE)
    whole_number(rounds, "rounds", 0)
    estimable, others = predictable(machine, parameters)
    if not estimable:
        message = (
            f"no motion can be made for {listed(parameter.path for parameter in others)} alone"
        )
        raise InputError("parameters", f"{message}: forces along a motion do not show them")
    deviations = default_noise = _noise(machine)
    if noise is not None:
        deviations = one_or_each(noise, "noise", platform.n_actuators)
        least = MIN_NOISE_RATIO * default_noise.min()
        if deviations.min() < least:
            text = f"must be {least:.2g} {platform.force_unit} or more, for rounding leaves that"
            raise InputError("noise", text)
    search = MotionSearch(
        machine, estimable, seconds, _frequencies(seconds, max_frequency), deviations
    )
    generator = np.random.default_rng(whole_number(seed, "seed", 0))
    random_points = [generator.normal(size=search.size) for _ in range(RANDOM_MOTIONS)]
    with Progress("exciting motion", rounds + 1, progress, every=1) as progress_bar:
        values = [search.information(point) for point in random_points]
        initial_point = random_points[int(np.argmax(values))]
        best_point = maximised(
            search.information, initial_point, INITIAL_WIDTH, rounds, generator, progress_bar.tick
        )
        motion, verdict = search.finished(best_point)
        random, _ = search.finished(random_points[0])
    return Excitation(
        motion, search.visibility(motion), search.visibility(random), others, verdict, deviations
    )


class MotionSearch:
    """Objective of the search: motions by points of unit size, and their information."""

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
        # Fast lines begin smaller: speed and force limit them.
        amplitudes = [default_amplitude(machine, axis) for axis in moved_axes(machine)]
        self._line_amplitudes = np.outer(frequencies[0] / frequencies, amplitudes)
        self._shape = self._line_amplitudes.shape
        self.size = 2 * self._line_amplitudes.size
        self._prior_std = prior_std_array(parameters)
        self._last_size = 1.0
        self._timestep = 1.0 / (SAMPLES_PER_PERIOD * float(frequencies[-1]))

    def information(self, point: FloatArray) -> float:
        """Return half the logarithm of the determinant of the information, prior included."""
        size = self._largest_size(point)
        if size == 0.0:
            return -np.inf
        self._last_size = size
        try:
            rows, noise = self._jacobian_and_noise(self._motion(point, size), SEARCH_SAMPLES)
        except StateError:
            return -np.inf
        scaled_rows = rows * self._prior_std / noise[:, None]
        information = scaled_rows.T @ scaled_rows + np.eye(len(self._prior_std))
        return float(np.linalg.slogdet(information)[1] / 2.0)

    def finished(self, point: FloatArray) -> tuple[Motion, Feasibility]:
        """Return the motion of a point, as large as all limits allow, and the verdict on it.

        Raises:
            InputError: there is no such motion.
        """
        machine, size = self._machine, self._largest_size(point) or 1.0
        for _ in range(MAX_SHRINK_ROUNDS):
            motion = self._motion(point, size)
            verdict = feasibility(machine, motion)
            if verdict.feasible:
                return motion, verdict
            size *= SHRINK_FACTOR
        reason = "; ".join(feasibility(machine).remedies or verdict.remedies[:1])
        raise InputError("platform", f"{machine.name} has no motion within its limits: {reason}")

    def _largest_size(self, point: FloatArray) -> float:
        """Return the size at which a motion uses its fraction of the limits; 0 for none.

        These are limits of travel, speed and force.
        """
        size = self._last_size
        for _ in range(MAX_SIZE_ROUNDS):
            use = limit_use(self._machine, self._motion(point, size), self._timestep)
            ratio = FITTED_LIMIT_USE / use if use > 0.0 else 10.0
            if np.isfinite(use) and abs(use / FITTED_LIMIT_USE - 1.0) < USE_TOLERANCE:
                return size * FITTED_LIMIT_USE / use
            size *= float(np.clip(ratio, 0.1, 10.0))
        return 0.0

    def visibility(self, motion: Motion) -> Visibility:
        """Return what a motion shows of the parameters."""
        rows, noise = self._jacobian_and_noise(motion, round(SAMPLE_RATE * self._duration))
        return visibility(rows, self._parameters, noise)

    def _motion(self, point: FloatArray, size: float) -> ExcitingMotion:
        series = size * self._line_amplitudes[..., None] * point.reshape((*self._shape, 2))
        return ExcitingMotion(self._machine, self._duration, self._frequencies, series)

    def _jacobian_and_noise(self, motion: Motion, samples: int) -> tuple[FloatArray, FloatArray]:
        """Return the Jacobian `(rows, p)` and the noise of its rows `(rows,)`."""
        rows, legs = force_jacobian(self._machine, self._parameters, motion, samples)
        # Fewer samples stand for all of them.
        return rows, self._noise[legs] * np.sqrt(samples / (SAMPLE_RATE * self._duration))


def _frequencies(duration: float, highest: float) -> FloatArray:
    """Return whole numbers of periods in the duration, with even logarithmic spacing [Hz]."""
    periods = np.geomspace(MIN_PERIODS, highest * duration, FREQUENCY_COUNT)
    return np.unique(np.round(periods)) / duration


def _noise(machine: MachineModel) -> FloatArray:
    """Return the standard deviation `(n,)` of measured forces that is assumed."""
    parameters = machine.parameters
    weight = parameters.platform.body.mass * max(parameters.gravity, 1.0) / machine.n_actuators
    peaks = [leg.drive.reflected().peak if leg.drive else None for leg in parameters.legs]
    forces = np.array([weight if peak is None else peak for peak in peaks])
    return DEFAULT_NOISE_FRACTION * actuator_limit(machine, "effort", forces)
