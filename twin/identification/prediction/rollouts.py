"""Rollouts of many parameter sets from many starts at once, in the analytic reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, turned
from twin.control.gains import suitable_velocity_loop
from twin.errors import InputError
from twin.identification.prediction.recording import Motion, Recording
from twin.identification.prediction.terms import RecordedMotion, TermEffects
from twin.kernels.batched.analytic import SUBSTEPS_COLUMN, Constants, advance_rows, correct_rows
from twin.kernels.bundle import Bundle
from twin.kernels.jit import SameTypes
from twin.kernels.lanes import advance_groups
from twin.kernels.plant import columns as column
from twin.logs import Channel, TimeOffset, time_offset
from twin.model.batch import chunk_bounds, lane_count, on_threads, usable_cores
from twin.model.derivatives import forward_kinematics_derivatives
from twin.model.machine_base import for_many_machines
from twin.model.machine_model import MachineModel
from twin.plant.drives import drive_constants, drive_timestep, motor_substeps
from twin.plant.signals import COMMAND_MODES, Mode
from twin.simulation.batched.batched_plant import (
    CONTROLLER_PERIOD,
    empty_inputs,
    empty_machines,
    make_drive_arrays,
)

SPACING_TOLERANCE = 1e-9
"""Differences of the remaining fractions of a lag below which commands count as evenly spaced."""

QUEUE_LENGTH = 2
"""Length of the drives' command queue: the minimum, as delays are already in the commands."""

LEG_RATES = slice(column.LEG_RATE, column.EARLIER_LEG_RATE + 1)
"""Columns of a drive's state with the earlier rates of its leg."""

WARM_UP = 5
"""Number of windows before the first counted one of a segment, over which the observer settles."""

MIN_WINDOWS = 3
"""Minimum number of windows."""

MAX_OFFSET = 0.1
"""[s] Largest clock difference that is looked for; periodic motions need twice as long a period."""

MIN_OFFSET = 5e-3
"""[s] Engineering choice: smaller clock differences are attributed to delays and to errors of the
file's numbers.
"""

OFFSET_SEARCH_RADIUS = 2.0
"""[s] Largest difference up to which commands that do not fit are looked for, to refuse them."""

MIN_CORRELATION = 0.9
"""Engineering choice: smallest correlation of commands and motion from which a clock difference is
estimated.
"""


def delayed_commands(
    recording: Recording, machine: MachineModel, constants: FloatArray, times: FloatArray
) -> tuple[FloatArray, FloatArray | None]:
    """Return commands and feedforward `(k, n)` of a machine's motors; None: no feedforward.

    Commands pass the converters and the delay. Each step takes the mean of what is held over it,
    so that delays need not be whole steps. Commanded forces also pass the lag of the current loop,
    in continuous time. Feedforward is only converted and delayed here: it adds to the force of the
    velocity loop, and the drive limits and lags their sum in the rollout.

    Args:
        recording: of the commands.
        machine: with its delays and lags.
        constants: `(n, CONSTANTS)` of its drives.
        times: `(k + 1,)` [s] beginnings of all steps, and the end of the last one.
    """
    drives = machine.parameters.drives
    delays = [0.0 if drive is None else drive.delay for drive in drives]
    zeros = [0.0] * len(drives)
    lags = zeros
    limit, digit = constants[:, [column.MAX_SPEED, column.SPEED_RESOLUTION]].T
    if recording.mode == "force":
        lags = [0.0 if drive is None else drive.current_lag for drive in drives]
        limit, digit = constants[:, [column.PEAK_EFFORT, column.EFFORT_RESOLUTION]].T
    converted = _converted(recording.commands, limit, digit)
    means = _means(recording.command_time, converted, delays, lags, times)
    if recording.feedforward is None:
        return means, None
    limit, digit = constants[:, [column.PEAK_EFFORT, column.EFFORT_RESOLUTION]].T
    feedforward = np.where(
        digit > 0.0, _converted(recording.feedforward, limit, digit), recording.feedforward
    )
    return means, _means(recording.command_time, feedforward, delays, zeros, times)


def commands_key(machine: MachineModel, constants: FloatArray) -> bytes:
    """Return what `delayed_commands` depends on, of a machine with `constants` of its drives."""
    legs = machine.parameters.drives
    times = [(0.0, 0.0) if drive is None else (drive.delay, drive.current_lag) for drive in legs]
    columns = [
        column.PEAK_EFFORT,
        column.MAX_SPEED,
        column.EFFORT_RESOLUTION,
        column.SPEED_RESOLUTION,
    ]
    return np.array(times).tobytes() + constants[:, columns].tobytes()


def _converted(values: FloatArray, limit: FloatArray, digit: FloatArray) -> FloatArray:
    """Return values `(C, n)` as converters put them out, inside the limits `(n,)`."""
    clipped = np.clip(values, -limit, limit)
    for leg in np.flatnonzero(digit > 0.0):
        codes = np.round(clipped[:, leg] / digit[leg])
        clipped[:, leg] = digit[leg] * np.minimum(codes, limit[leg] / digit[leg] - 1.0)
    return clipped


def _means(
    at: FloatArray, values: FloatArray, delays: list[float], lags: list[float], times: FloatArray
) -> FloatArray:
    """Return means `(k, n)` over steps of delayed, lagged commands `(C, n)` given at `at` [s].

    The integral of a lagged signal, y' = (u - y) / lag, is that of u less the lag times the change
    of y.
    """
    means = np.empty((len(times) - 1, values.shape[1]))
    for delay, lag in set(zip(delays, lags, strict=True)):
        legs = [pair == (delay, lag) for pair in zip(delays, lags, strict=True)]
        means[:, legs] = _delayed_means(at, values[:, legs], delay, lag, times)
    return means


def _delayed_means(
    at: FloatArray, command: FloatArray, delay: float, lag: float, times: FloatArray
) -> FloatArray:
    """Return the means of `_means` for legs with one delay and lag [s]."""
    durations = np.diff(at)
    step_edges = np.maximum(times - delay, at[0])
    index = np.minimum(np.searchsorted(at, step_edges, side="right") - 1, len(at) - 1)
    held_sum = np.zeros_like(command)
    np.cumsum(durations[:, None] * command[:-1], axis=0, out=held_sum[1:])
    integral = held_sum[index] + command[index] * (step_edges - at[index])[:, None]
    # The first command is held before its time.
    integral += command[0] * np.minimum(times - delay - at[0], 0.0)[:, None]
    if lag > 0.0:
        lagging = _lagging(command, np.exp(-durations / lag))
        remaining_fraction = np.exp((at[index] - step_edges) / lag)[:, None]
        integral -= lag * (command[index] + remaining_fraction * (lagging[index] - command[index]))
    return np.asarray(np.diff(integral, axis=0) / np.diff(times)[:, None])


def _lagging(command: FloatArray, remaining_fractions: FloatArray) -> FloatArray:
    """Return commands `(C, n)` after a lag, of which fractions `(C - 1,)` remain at the next."""
    from scipy.signal import lfilter

    if np.ptp(remaining_fractions) < SPACING_TOLERANCE:
        remaining_fraction = float(remaining_fractions.mean())
        initial_state = remaining_fraction * command[:1]
        lagged, _ = lfilter(
            [1.0 - remaining_fraction],
            [1.0, -remaining_fraction],
            command[:-1],
            axis=0,
            zi=initial_state,
        )
        return np.vstack([command[:1], lagged])
    result = np.empty_like(command)
    result[0] = command[0]
    for k, remaining_fraction in enumerate(remaining_fractions.tolist()):
        result[k + 1] = remaining_fraction * result[k] + (1.0 - remaining_fraction) * command[k]
    return result


class Starts(NamedTuple):
    """States at the beginning of rollouts, first axis rows."""

    position: FloatArray
    """`(N, n)` coordinates of the motors"""
    speed: FloatArray
    """`(N, n)` speeds of the motors [m/s] or [rad/s]"""
    effort: FloatArray
    """`(N, n)` forces of the motors, which the velocity loops hold"""
    pose: FloatArray
    """poses of the platform `(N, 7)`"""
    twist: FloatArray
    """twists of the platform `(N, 6)`"""
    coordinates: FloatArray
    """`(N, n)` coordinates of the legs"""
    rates: FloatArray
    """rates of the leg coordinates `(N, n)` [m/s] or [rad/s]"""


class Commands(NamedTuple):
    """Commands of parameter sets at all steps; sets with the same delays and lags share them."""

    kinds: Any
    """`(sets,)` index of each set's commands"""
    given: FloatArray
    """`(kinds, steps, n)` forces or speeds"""
    feedforward: FloatArray | None
    """`(kinds, steps, n)` forces in addition to speeds; None for none"""


class Observed(NamedTuple):
    """Measured coordinates of the motors, and how they correct predictions."""

    position: FloatArray
    """measured coordinates of the motors `(T, n)` [m, rad]"""
    inverse_jacobian: FloatArray
    """`(T, 6, n)` inverse of the Jacobian: how the platform moves with its motors"""
    gains: tuple[float, float]
    """gains of coordinates, and of speeds [1/s], per error"""
    samples: int
    """number of samples of a rollout"""
    ratio: int
    """steps of the engine between two samples"""
    scale: FloatArray
    """`(sets, 1)` scale of the coordinates"""
    bias: FloatArray
    """`(sets, n)` bias of the coordinates [m, rad]"""
    with_motion: bool
    """whether the motion of the platform is returned as well"""
    terms: TermEffects | None = None
    """effects of the parameter sets' free terms; None without any"""


class ParameterSets:
    """Constants of machines that differ in numbers alone, stacked.

    Encoders and converters have no quantisation here, so that predictions are smooth.
    """

    def __init__(self, machines: Sequence[MachineModel], timestep: float, mode: Mode) -> None:
        """Stack the constants of `machines` for steps of `timestep` [s] under commands of `mode`.

        Raises:
            InputError: drives that cannot take steps of this length.
        """
        self.timestep, self.mode = timestep, mode
        first_machine = machines[0]
        self.kind: Any = type(first_machine.constants.legs)
        self.bodies = np.array([machine.constants.body for machine in machines])
        self.legs = np.array([machine.constants.legs.rows for machine in machines])
        with for_many_machines():
            self.constants = np.array([drive_constants(machine, timestep) for machine in machines])
        self.drives = self.constants.copy()
        self.drives[:, :, [column.SPEED_RESOLUTION, column.EFFORT_RESOLUTION]] = 0.0
        if mode == "force":
            # Their lag is in the commands already.
            self.drives[:, :, [column.LAG_FACTOR, column.MEAN_LAG_FACTOR]] = 0.0
        self.substeps = max(motor_substeps(machine, timestep) for machine in self.constants)
        gain, time = suitable_velocity_loop(first_machine, CONTROLLER_PERIOD)
        self.gains = np.stack([gain, gain / time], axis=1)

    def run(
        self, sets: Any, starts: Starts, commands: Commands, rows: Any, observed: Observed
    ) -> tuple[FloatArray, Motion | None]:
        """Return motor prediction errors `(N, samples, n)` and the platform's motion.

        Each sample is predicted from those before it: what a prediction misses moves motors and
        platform on by the gains of `observed`. Rollouts that fail are NaN.

        Args:
            sets: `(N,)` parameter set of each row.
            starts: of the rows.
            commands: of all parameter sets.
            rows: `(N,)` first sample of each row.
            observed: measurements and gains.
        """
        count = len(rows)
        chunks = max(1, min(usable_cores(), count // lane_count()))
        calls = []
        for block in (slice(*edge) for edge in chunk_bounds(count, chunks)):
            block_starts = Starts(*(array[block] for array in starts))
            calls.append((sets[block], block_starts, commands, rows[block], observed))
        errors, motion = map(np.concatenate, zip(*on_threads(self._run_part, calls), strict=True))
        return errors, Motion(*np.split(motion, [7, 13], axis=2)) if observed.with_motion else None

    def _run_part(
        self, sets: Any, starts: Starts, commands: Commands, rows: Any, observed: Observed
    ) -> tuple[FloatArray, FloatArray]:
        """Return the result of `run` for the rows of one core."""
        count, n = starts.position.shape
        arrays = make_drive_arrays(count, n, QUEUE_LENGTH)
        arrays.constants[:], arrays.gains[:] = self.drives[sets], self.gains
        arrays.counters[:, SUBSTEPS_COLUMN] = self.substeps
        machines, inputs = empty_machines(count, n, k=0), empty_inputs(count, n, ratio=1)
        machines.pose[:], machines.twist[:] = starts.pose, starts.twist
        machines.coordinates[:], machines.rates[:] = starts.coordinates, starts.rates
        states = arrays.states
        position = states[:, :, column.POSITION]
        position[:], states[:, :, column.SPEED] = starts.position, starts.speed
        states[:, :, column.EFFORT] = states[:, :, column.INTEGRAL] = starts.effort
        states[:, :, LEG_RATES] = starts.rates[:, :, None]
        constants = Constants(self.bodies[sets], self.kind(self.legs[sets]))
        lane_shape = (0,) * lane_count() if count >= lane_count() > 1 else ()
        bundle_settings = (
            COMMAND_MODES.index(self.mode),
            self.timestep,
            *([lane_shape] if lane_shape else []),
        )
        advance: Any = SameTypes(advance_groups if lane_shape else advance_rows)
        bundle = Bundle(constants, arrays, machines, inputs, *bundle_settings)
        errors = np.empty((count, observed.samples, n))
        motion = np.zeros((count, observed.samples if observed.with_motion else 0, 19))
        scale, bias, inverse = observed.scale[sets], observed.bias[sets], observed.inverse_jacobian
        period = self.timestep * observed.ratio
        kinds, feedforward = commands.kinds[sets], commands.feedforward
        ratio, terms = observed.ratio, observed.terms
        original = arrays.constants.copy()
        motor_constants = 1.0 if terms is None else terms.motor_constants[sets]
        changes_friction = terms is not None and terms.changes_friction
        bristle_force = None if terms is None else terms.bristle_force
        for sample in range(observed.samples):
            sample_index = rows + sample
            if terms is not None:
                inputs.wrench[:] = terms.wrench[sets, sample_index]
                if changes_friction:
                    terms.change_drives(arrays.constants, original, sets, sample_index)
            measured = (observed.position[sample_index] - bias) / scale
            error = np.subtract(position, measured, out=errors[:, sample])
            if observed.with_motion and sample:
                twist_change = machines.twist - motion[:, sample - 1, 7:13]
                motion[:, sample - 1, 13:] = twist_change / period
            correct_rows(machines, states, error, inverse, sample_index, *observed.gains)
            if observed.with_motion:
                motion[:, sample, :7], motion[:, sample, 7:13] = machines.pose, machines.twist
            for substep in range(ratio if sample + 1 < observed.samples else 0):
                at = kinds, ratio * sample_index + substep
                inputs.command[:] = commands.given[at] * motor_constants
                inputs.feedforward[:] = 0.0 if feedforward is None else feedforward[at]
                if bristle_force is not None:
                    efforts = inputs.command if self.mode == "force" else inputs.feedforward
                    efforts -= bristle_force[sets, sample_index]
                advance(bundle)
        if observed.with_motion:
            motion[:, -1, 13:] = motion[:, -2, 13:]
        errors[machines.failed] = motion[machines.failed] = np.nan
        return errors, motion


SMOOTHING_TIME = 0.015
"""[s] Length of the polynomials that give speeds and accelerations."""

POLYNOMIAL_ORDER = 4
"""Order of these polynomials."""


SEGMENT_COUNT = 16
"""Approximate number of segments of a recording."""

MAX_SEGMENT_WINDOWS = 15
"""Maximum number of windows of a segment."""


class Windows(NamedTuple):
    """Segments of a recording that are predicted in one go, each of as many windows."""

    first: Any
    """`(S,)` indices of the samples with which predictions begin"""
    warm_up: int
    """number of windows at the start of each segment that are left out of the errors"""
    counted: int
    """number of windows of each segment after these, used in the errors"""
    samples: int
    """number of samples of a window"""

    @property
    def sample_indices(self) -> Any:
        """Indices `(W, samples)` of the samples of the counted windows, W = S * counted."""
        indices = self.first[:, None] + self.samples * self.warm_up
        return (indices + np.arange(self.samples * self.counted)).reshape(-1, self.samples)

    def short(self, step: int) -> Windows:
        """Return every `step`-th window as a separate segment, each after one warm-up window."""
        return Windows(self.sample_indices[::step, 0] - self.samples, 1, 1, self.samples)


def windows_of(recording: Recording, samples: int) -> Windows:
    """Return windows of `samples` intervals.

    Raises:
        InputError: fewer than `MIN_WINDOWS` windows.
    """
    edge_samples = _width(recording)
    n_windows = (len(recording.time) - 1 - 2 * edge_samples) // samples - WARM_UP
    if n_windows < MIN_WINDOWS:
        raise InputError(
            "log",
            f"has {max(n_windows, 0)} windows of {samples * recording.period:g} s after {WARM_UP} "
            "to begin with; record a longer motion, or take shorter windows",
        )
    count = min(max(1, n_windows // SEGMENT_COUNT), MAX_SEGMENT_WINDOWS)
    first_samples = edge_samples + samples * count * np.arange(n_windows // count)
    return Windows(first_samples, WARM_UP, count, samples)


def smoothed_motion(
    recording: Recording, machine: MachineModel, drives: FloatArray
) -> tuple[Starts, FloatArray]:
    """Return states `(T, ...)` to begin with, and inverse Jacobians `(T, 6, n)`, at all samples.

    Args:
        recording: of the motion.
        machine: as far as it is known.
        drives: `(n, CONSTANTS)` of the machine.
    """
    position, speed, acceleration, pose, twist, _, inverse, force = _smoothed(recording, machine)
    has_inertia = drives[:, column.INERTIA] > 0.0
    stiffness = np.where(has_inertia, drives[:, column.STIFFNESS], np.inf)
    motor_lead = (
        np.where(has_inertia, np.sign(force) * drives[:, column.HALF_BACKLASH], 0.0)
        + force / stiffness
    )
    friction = (
        np.clip(speed / drives[:, column.STRIBECK_SPEED], -1.0, 1.0) * drives[:, column.FRICTION]
    )
    effort = force + drives[:, column.INERTIA] * acceleration
    effort += friction + drives[:, column.VISCOUS] * speed
    pose = turned(pose, -np.einsum("kij,kj->ki", inverse, motor_lead))
    return Starts(position, speed, effort, pose, twist, position - motor_lead, speed), inverse


def sign_reversals(recording: Recording, machine: MachineModel, windows: Windows) -> Any:
    """Return in which windows the force of each leg changes its sign `(W, n)`.

    Backlash shows only there.
    """
    signs = np.sign(_smoothed(recording, machine)[-1][windows.sample_indices])
    return np.ptp(signs, axis=1) > 0.0


def _smoothed(recording: Recording, machine: MachineModel) -> tuple[FloatArray, ...]:
    """Return motion of motors, then of the platform, inverse Jacobians and leg forces.

    Inverse Jacobians `(T, 6, n)` are those of the motions that the legs allow.
    """
    from scipy.signal import savgol_filter

    position, speed, acceleration = (
        savgol_filter(
            recording.position,
            _width(recording),
            POLYNOMIAL_ORDER,
            deriv=k,
            delta=recording.period,
            axis=0,
        )
        for k in range(3)
    )
    pose, inverse, _ = forward_kinematics_derivatives(machine, position)
    twist = np.einsum("kij,kj->ki", inverse, speed)
    required = machine.constrain(pose, twist).acceleration
    motor_part = acceleration - np.einsum("kij,kj->ki", machine.jacobian(pose), required)
    motor_part -= np.einsum("kij,kj->ki", machine.jacobian_derivative(pose, twist), twist)
    platform = required + np.einsum("kij,kj->ki", inverse, motor_part)
    force = machine.inverse_dynamics(pose, twist, platform)
    return position, speed, acceleration, pose, twist, platform, inverse, force


def recorded_motion(recording: Recording, machine: MachineModel) -> RecordedMotion:
    """Return the motion of the platform of a recording, along which free terms act."""
    position, _, _, pose, twist, acceleration, _, force = _smoothed(recording, machine)
    return RecordedMotion(recording.time, pose, twist, acceleration, force, position)


def _width(recording: Recording) -> int:
    """Return the samples over which motion is smoothed."""
    return max(2 * round(0.5 * SMOOTHING_TIME / recording.period) + 1, POLYNOMIAL_ORDER + 3)


def synchronised(recording: Recording, machine: MachineModel) -> tuple[Recording, float]:
    """Return a recording with its commands on the encoders' clock, and the shift of these [s].

    The motors' speeds, or the efforts that the file's numbers give for their motion, follow the
    commands. The time by which they do, less the delays and lags of the file, is the clock
    difference. The commands
    are not moved if it is small, or if the correlation is too low.

    Raises:
        InputError: the commands fit the motion at another time, farther away than `MAX_OFFSET`.
    """
    drives = drive_constants(machine, drive_timestep(machine))
    motion, _ = smoothed_motion(recording, machine, drives)
    is_force_mode = recording.mode == "force"
    followed = motion.effort if is_force_mode else motion.speed
    motion_channel = Channel("motion", recording.time, followed, ("",))
    commands = Channel("commands", recording.command_time, recording.commands, ("",))
    offset = _offset(motion_channel, commands, MAX_OFFSET)
    if offset is None or offset.correlation < MIN_CORRELATION:
        begin = max(recording.time[0], commands.time[0])
        shared = min(recording.time[-1], commands.time[-1]) - begin
        radius = min(OFFSET_SEARCH_RADIUS, 0.25 * shared)
        distant = _offset(motion_channel, commands, radius) if shared > 0.0 else None
        if distant is not None and distant.correlation > MIN_CORRELATION:
            name = "command_forces" if is_force_mode else "command_rates"
            side = "later" if distant.seconds > 0.0 else "earlier"
            delay = f'delay = "{-1e3 * distant.seconds:.4g} ms" in a mapping file corrects it'
            message = f"fit the measured motion if they are {abs(distant.seconds):.4g} s {side}"
            raise InputError(name, f"{message}: their clock is another one; {delay}")
        return recording, 0.0
    drives_of_legs = [leg.drive for leg in machine.parameters.legs if leg.drive is not None]
    delays = [
        drive.delay + (drive.current_lag if is_force_mode else 0.0) for drive in drives_of_legs
    ]
    clock_difference = offset.seconds - float(np.mean(delays or [0.0]))
    if abs(clock_difference) < MIN_OFFSET:
        return recording, 0.0
    moved = replace(recording, command_time=recording.command_time + clock_difference)
    return moved, clock_difference


def _offset(channel: Channel, reference: Channel, max_offset: float) -> TimeOffset | None:
    """Return the offset between two channels, None where there is none up to `max_offset` [s]."""
    try:
        return time_offset(channel, reference, max_offset)
    except InputError:
        return None
