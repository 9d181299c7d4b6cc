"""Prediction errors of a recording, each sample predicted from those before it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.identification.parameters import (
    Parameter,
    bounds_array,
    gravity_field,
    prior_std_array,
    with_parameters,
)
from twin.identification.prediction.recording import (
    SENSOR_PREFIXES,
    Motion,
    PlatformSignal,
    Readers,
    Recording,
    Slots,
    sensed_inputs,
    used_signals,
)
from twin.identification.prediction.rollouts import (
    Commands,
    Observed,
    ParameterSets,
    Starts,
    commands_key,
    delayed_commands,
    recorded_motion,
    sign_reversals,
    smoothed_motion,
    windows_of,
)
from twin.identification.prediction.terms import FreeTerms, RecordedMotion, has_terms
from twin.kernels.dynamics.assembly import BODY_GRAVITY
from twin.model.machine_model import MachineModel
from twin.plant.drives import drive_constants, drive_timestep
from twin.plant.plant import encoder_resolution

DEFAULT_WINDOW = 0.1
"""[s] Length of windows, unless the user gives one."""

WINDOW_TIME_CONSTANTS = 3.0
"""Number of time constants of the corrections in a window."""

MAX_STEP = 5e-4
"""[s] Longest step of the rollouts: that of closed loops."""

DIFFERENCE_STEP = 0.1
"""Differences of parameters for the Jacobian, in prior standard deviations."""

DEFAULT_ENCODER_NOISE = 1e-7
"""[m, rad] Noise of encoders whose resolution the file does not give."""


class Linear(NamedTuple):
    """Prediction errors of all windows and their slopes; first axis W windows, m errors of each."""

    errors: FloatArray
    """`(W, m)` errors in standard deviations of the encoders' noise"""
    slopes: FloatArray
    """`(W, m, p)` derivatives by the parameters in prior standard deviations"""


class PredictionProblem:
    """Prediction errors of one recording as a function of a machine's parameters.

    The machine with its drives is simulated along the recording under the recorded commands. The
    prediction error corrects its motion, with the gains of an observer of constant speeds that is
    critically damped: a disturbance shows as the error it causes within about a window.

    Platform signals (poses, inertial readings) are used if one of their error parameters is among
    the parameters.

    Attributes:
        parameters: the free parameters.
        windows: of the recording.
        field: `(3,)` [m/s2] by which gravity differs from that of machine and parameters.
        noise: `(n,)` standard deviation of the encoders [m, rad].

    Reference:
        Ljung, System Identification, chapter 7: prediction errors of a model with an observer.
    """

    def __init__(
        self,
        machine: MachineModel,
        recording: Recording,
        parameters: Sequence[Parameter],
        window: float = DEFAULT_WINDOW,
    ) -> None:
        """Cut the recording into windows of `window` [s].

        Raises:
            InputError: see `windows_of` and `used_signals`.
        """
        self.machine, self._recording, self.parameters = machine, recording, tuple(parameters)
        self._signals = used_signals(recording.platform, parameters)
        self.field = np.zeros(3)
        self._motion: RecordedMotion | None = None
        period = recording.period
        self.windows = windows_of(recording, max(2, round(window / period)))
        self._ratio = int(np.ceil(period / min(drive_timestep(machine), MAX_STEP) - 1e-9))
        self._step = period / self._ratio
        steps = self._ratio * (len(recording.time) - 1)
        self._times = recording.time[0] + self._step * np.arange(steps + 1)
        drives = drive_constants(machine, self._step)
        self._starts, self._inverse = smoothed_motion(recording, machine, drives)
        self._decay_rate = WINDOW_TIME_CONSTANTS / self.windows.samples
        counts = np.array([encoder_resolution(leg) for leg in machine.parameters.legs])
        self.noise = np.maximum(counts / np.sqrt(12.0), DEFAULT_ENCODER_NOISE)

    @property
    def period(self) -> float:
        """Sampling period of the errors [s]."""
        return self._recording.period

    @property
    def noise_ratio(self) -> float:
        """Mean square of the mean of a window, over that of samples divided by their number.

        It is that of white noise of the encoders, which the corrections of the predictions turn
        round: with the fraction r that a sample leaves, the errors are (1 - q)^2 / (1 - r q)^2 of
        the noise, where q delays by a sample.
        """
        from scipy.signal import lfilter

        samples, remaining_fraction = self.windows.samples, float(np.exp(-self._decay_rate))
        impulse = np.eye(1, 20 * samples)[0]
        errors = lfilter(
            [1.0, -2.0, 1.0], [1.0, -2.0 * remaining_fraction, remaining_fraction**2], impulse
        )
        sums = np.convolve(errors, np.ones(samples))
        return float(sums @ sums / (errors @ errors) / samples)

    @property
    def times(self) -> FloatArray:
        """Times [s] of the errors of one leg `(W, m / n)`."""
        return np.asarray(self._recording.time[self.windows.sample_indices])

    @property
    def blocks(self) -> list[int]:
        """Indices among the errors of a window at which those of another signal begin."""
        widths = [self.windows.samples * len(self.noise)]
        for signal in self._signals:
            widths.append(self._slots(signal).index.shape[1] * len(signal.noise))
        return [int(edge) for edge in np.cumsum(widths)[:-1]]

    def _slots(self, signal: PlatformSignal) -> Slots:
        """Return the samples of a signal of the platform in all windows."""
        start_times = self._recording.time[self.windows.sample_indices[:, 0]]
        return signal.slots(start_times, self.windows.samples * self.period)

    def sign_reversals(self, machine: MachineModel) -> Any:
        """Return in which windows the force of each leg of a machine changes its sign `(W, n)`."""
        return sign_reversals(self._recording, machine, self.windows)

    def part(self, indices: Any) -> Self:
        """Return the problem with some of its segments."""
        selection = copy(self)
        selection.windows = self.windows._replace(first=self.windows.first[indices])
        return selection

    def short(self, gain_scale: float, step: int) -> Self:
        """Return the problem with every `step`-th window, corrected `gain_scale` times faster."""
        shortened = copy(self)
        shortened.windows = self.windows.short(step)
        shortened._decay_rate = gain_scale * self._decay_rate
        return shortened

    def finer(self, factor: int) -> Self:
        """Return the problem with rollouts of `factor` times as many steps."""
        refined = copy(self)
        refined._ratio, refined._step = factor * self._ratio, self._step / factor
        steps = refined._ratio * (len(self._recording.time) - 1)
        refined._times = self._recording.time[0] + refined._step * np.arange(steps + 1)
        return refined

    def extrapolated_errors(self, values: FloatArray, factor: int) -> FloatArray:
        """Return the errors `(W, m)` of parameters `(p,)` in SI without those of the step.

        Rollouts err in proportion to the square of their step. Of two steps, the finer one `factor`
        times as fine as that of `errors`, the difference says how much.

        Raises:
            InputError: values that no machine can have.

        Reference:
            Richardson, The deferred approach to the limit (1927).
        """
        coarse, fine = (self.finer(substeps).errors(values) for substeps in (factor // 2, factor))
        return (4.0 * fine - coarse) / 3.0

    def errors(self, values: FloatArray) -> FloatArray:
        """Return the prediction errors `(..., W, m)` of parameters `(..., p)` in SI.

        NaN where a rollout fails.

        Raises:
            InputError: values that no machine can have.
        """
        errors = self._of_all(np.atleast_2d(values))
        return errors.reshape(*np.shape(values)[:-1], *errors.shape[1:])

    def linearised(self, values: FloatArray, steps: FloatArray | None = None) -> Linear:
        """Return errors and slopes at parameters `(p,)` in SI.

        Args:
            values: of the parameters.
            steps: `(k, p)` differences in prior standard deviations, one a row; default
                `DIFFERENCE_STEP` of each parameter.

        Raises:
            InputError: values that no machine can have.
        """
        steps = DIFFERENCE_STEP * np.eye(len(values)) if steps is None else steps
        errors, steps, changes = self.differences(values, steps)
        return Linear(errors, np.tensordot(changes, np.linalg.pinv(steps), (0, 1)))

    def differences(
        self, values: FloatArray, steps: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return errors `(W, m)` at parameters `(p,)` in SI, steps, and changes `(k, W, m)`.

        Args:
            values: of the parameters.
            steps: `(k, p)` in prior standard deviations; the returned ones lead to possible
                machines.
        """
        prior_stds = prior_std_array(self.parameters)
        steps = np.array([self._possible(step, values, prior_stds) for step in steps])
        errors = self._of_all(np.vstack([values, values + steps * prior_stds]))
        return errors[0], steps, errors[1:] - errors[0]

    def _possible(self, step: FloatArray, values: FloatArray, prior_stds: FloatArray) -> FloatArray:
        """Return a scaled difference, or its opposite, that leads to a possible machine."""
        lower, upper = bounds_array(self.parameters)
        for factor in (1.0, -1.0, 0.1, -0.1, 0.01):
            possible_step = factor * step
            trial_values = values + possible_step * prior_stds
            possible_step = np.where(
                (trial_values < lower) | (trial_values > upper), -possible_step, possible_step
            )
            try:
                with_parameters(self.machine, self.parameters, values + possible_step * prior_stds)
            except InputError:
                continue
            break
        return np.asarray(possible_step)

    def _of_all(self, values: FloatArray) -> FloatArray:
        """Return errors `(sets, W, m)` of all windows with parameters `(sets, p)`."""
        window_indices, count = np.arange(len(self.windows.first)), len(values)
        errors = self._predicted(
            values, np.repeat(np.arange(count), len(window_indices)), np.tile(window_indices, count)
        )
        return errors.reshape(count, -1, errors.shape[2])

    def _predicted(self, values: FloatArray, sets: Any, segments: Any) -> FloatArray:
        """Return errors `(N, counted, m)` of segments.

        Args:
            values: `(sets, p)` of the parameters.
            sets: `(N,)` index of the parameters of each.
            segments: `(N,)` their indices.
        """
        moves_machine = [
            not parameter.path.startswith(SENSOR_PREFIXES) for parameter in self.parameters
        ]
        _, unique_sets, rollout_set = np.unique(
            values[:, moves_machine], axis=0, return_index=True, return_inverse=True
        )
        count = len(self.windows.first)
        rollout_keys = rollout_set.ravel()[sets] * count + segments
        used_sets, rows = np.unique(rollout_keys, return_inverse=True)
        encoder_errors, motion, fields = self._rolled_out(
            values[unique_sets], *np.divmod(used_sets, count)
        )
        errors = [encoder_errors[rows].reshape(len(rows), self.windows.counted, -1)]
        if motion is not None:
            errors += self._of_platform(motion, fields, values, rows, sets, segments)
        return np.concatenate(errors, axis=2)

    def _rolled_out(
        self, values: FloatArray, sets: Any, segments: Any
    ) -> tuple[FloatArray, Motion | None, FloatArray]:
        """Return errors of the encoders `(N, counted * samples, n)`, motion and gravity `(N, 3)`.

        Args:
            values: `(sets, p)` of the parameters.
            sets: `(N,)` index of the parameters of each.
            segments: `(N,)` their indices.
        """
        machines = [
            with_parameters(self.machine, self.parameters, set_values) for set_values in values
        ]
        stacked, windows = ParameterSets(machines, self._step, self._recording.mode), self.windows
        pairs = zip(machines, values, strict=True)
        fields = np.array(
            [gravity_field(machine, self.parameters, set_values) for machine, set_values in pairs]
        )
        fields += self.field
        stacked.bodies[:, BODY_GRAVITY : BODY_GRAVITY + 3] = fields
        remaining_fraction = float(np.exp(-self._decay_rate))
        readers = Readers(self.machine, self.parameters, values)
        scale, bias, delay = readers.errors("coordinates", self.machine.n_actuators)
        terms = None
        if has_terms(self.parameters):
            if self._motion is None:
                self._motion = recorded_motion(self._recording, self.machine)
            free_terms = FreeTerms(self.machine, self.parameters, self._motion)
            terms = free_terms.effects(values, stacked.constants)
            # Encoders count the turns of the motors from the first sample on.
            bias = bias + scale * self._recording.position[0] * (1.0 - 1.0 / terms.leads)
            scale = scale / terms.leads
        observed = Observed(
            self._recording.position,
            self._inverse,
            (1.0 - remaining_fraction**2, (1.0 - remaining_fraction) ** 2 / self.period),
            (windows.warm_up + windows.counted) * windows.samples,
            self._ratio,
            scale,
            bias,
            bool(self._signals),
            terms,
        )
        rows = windows.first[segments]
        starts = Starts(*(array[rows] for array in self._starts))
        commands = self._commands(machines, stacked, delay)
        encoder_errors, motion = stacked.run(sets, starts, commands, rows, observed)
        return (
            encoder_errors[:, windows.warm_up * windows.samples :] / self.noise,
            motion,
            fields[sets],
        )

    def _of_platform(
        self,
        motion: Motion,
        fields: FloatArray,
        values: FloatArray,
        rows: Any,
        sets: Any,
        segments: Any,
    ) -> list[FloatArray]:
        """Return errors `(N, counted, m)` of each signal of the platform.

        Args:
            motion: of rollouts.
            fields: `(rollouts, 3)` of gravity.
            values: `(sets, p)` of the parameters.
            rows: `(N,)` rollout of each.
            sets: `(N,)` index of the parameters of each.
            segments: `(N,)` their indices.
        """
        readers = Readers(self.machine, self.parameters, values)
        period = self.period
        windows = self.windows
        _, _, delays = readers.errors("coordinates", self.machine.n_actuators)
        start_times = self._recording.time[windows.first[segments]] - delays[sets]
        features = (
            None if readers.imu is None else sensed_inputs(motion, fields, readers.imu, period)
        )
        errors = []
        for signal in self._signals:
            window_slots = self._slots(signal)
            segment_slots = Slots(
                *(
                    slot_array.reshape(len(windows.first), -1)[segments]
                    for slot_array in window_slots
                )
            )
            source = motion if signal.name == "pose" or features is None else features
            signal_errors = readers.prediction_errors(
                signal, segment_slots, source, rows, sets, start_times, period
            )
            errors.append(signal_errors.reshape(len(rows), windows.counted, -1))
        return errors

    def _commands(
        self, machines: Sequence[MachineModel], sets: ParameterSets, delays: FloatArray
    ) -> Commands:
        """Return the commands of all machines, computed once per combination of delay and lag.

        With encoders delayed by `delays` `(sets,)` [s], commands act earlier on their clock.
        """
        commands_by_key: dict[bytes, tuple[int, Any]] = {}
        command_index = []
        for machine, constants, delay in zip(machines, sets.constants, delays, strict=True):
            key = commands_key(machine, constants) + delay.tobytes()
            if key not in commands_by_key:
                times = self._times - delay
                delayed = delayed_commands(self._recording, machine, constants, times)
                commands_by_key[key] = len(commands_by_key), delayed
            command_index.append(commands_by_key[key][0])
        pairs = [delayed for _, delayed in commands_by_key.values()]
        feedforwards = [feedforward for _, feedforward in pairs if feedforward is not None]
        return Commands(
            np.array(command_index),
            np.array([command for command, _ in pairs]),
            np.array(feedforwards) if feedforwards else None,
        )
