"""Rollouts of many parameter sets from many starts at once, in the analytic reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.gains import suitable_velocity_loop
from twin.errors import InputError
from twin.identification.prediction.recording import Motion, Recording
from twin.kernels.batched.analytic import SUBSTEPS_COLUMN, Constants, advance_rows
from twin.kernels.bundle import Bundle
from twin.kernels.jit import SameTypes
from twin.kernels.lanes import advance_groups
from twin.kernels.plant import columns as column
from twin.logs import Channel, TimeOffset, time_offset
from twin.model.batch import chunk_bounds, lane_count, on_threads, usable_cores
from twin.model.machine_base import for_many_machines
from twin.model.machine_model import MachineModel
from twin.plant.drives import drive_constants, drive_timestep, motor_parts
from twin.plant.signals import COMMAND_MODES, Mode
from twin.simulation.batched.batched_plant import (
    CONTROLLER_PERIOD,
    empty_inputs,
    empty_machines,
    make_drive_arrays,
)

SPACING_TOLERANCE = 1e-9
"""Differences of what is left of a lag after each command, below which these are evenly spaced."""

QUEUE_LENGTH = 2
"""Number of commands that a queue holds: none waits, delays are in the commands already."""

WARM_UP = 5
"""Number of windows before the first one of a segment, in which predictions forget how they began.
"""

MIN_WINDOWS = 3
"""Minimum number of windows."""

MAX_OFFSET = 0.1
"""[s] Largest clock difference that is looked for; periodic motions need twice as long a period."""

MIN_OFFSET = 5e-3
"""[s] Adopted: smaller differences are taken for delays, and for errors of the file's numbers."""

OFFSET_SEARCH_RADIUS = 2.0
"""[s] Largest difference up to which commands that do not fit are looked for, to refuse them."""

MIN_CORRELATION = 0.9
"""Adopted: correlation of commands and motion below which neither says anything."""


def delayed_commands(
    recording: Recording, machine: MachineModel, constants: FloatArray, times: FloatArray
) -> tuple[FloatArray, FloatArray | None]:
    """Return commands and feedforward `(k, n)` of a machine's motors; None: no feedforward.

    Commands pass the converters and the delay. Each step takes the mean of what is held over it,
    so that delays need not be whole steps. Forces also pass the lag of the current loop, in
    continuous time.

    Args:
        recording: of the commands.
        machine: with its delays and lags.
        constants: `(n, CONSTANTS)` of its drives.
        times: `(k + 1,)` [s] beginnings of all steps, and the end of the last one.
    """
    drives = [leg.drive for leg in machine.parameters.legs]
    delays = [0.0 if drive is None else drive.delay for drive in drives]
    none = [0.0] * len(drives)
    force = recording.mode == "force"
    lags = [0.0 if drive is None else drive.current_lag for drive in drives] if force else none
    limit, digit = (
        constants[:, [column.PEAK, column.EFFORT_DIGIT]].T
        if force
        else constants[:, [column.FASTEST, column.SPEED_DIGIT]].T
    )
    converted = _converted(recording.commands, limit, digit)
    given = _means(recording.command_time, converted, delays, lags, times)
    if recording.feedforward is None:
        return given, None
    limit, digit = constants[:, [column.PEAK, column.EFFORT_DIGIT]].T
    added = np.where(
        digit > 0.0, _converted(recording.feedforward, limit, digit), recording.feedforward
    )
    return given, _means(recording.command_time, added, delays, none, times)


def commands_key(machine: MachineModel, constants: FloatArray) -> bytes:
    """Return what `delayed_commands` depends on, of a machine with `constants` of its drives."""
    legs = [leg.drive for leg in machine.parameters.legs]
    times = [(0.0, 0.0) if each is None else (each.delay, each.current_lag) for each in legs]
    columns = [column.PEAK, column.FASTEST, column.EFFORT_DIGIT, column.SPEED_DIGIT]
    return np.array(times).tobytes() + constants[:, columns].tobytes()


def _converted(values: FloatArray, limit: FloatArray, digit: FloatArray) -> FloatArray:
    """Return values `(C, n)` as converters put them out, inside the limits `(n,)`."""
    found = np.clip(values, -limit, limit)
    for leg in np.flatnonzero(digit > 0.0):
        codes = np.round(found[:, leg] / digit[leg])
        found[:, leg] = digit[leg] * np.minimum(codes, limit[leg] / digit[leg] - 1.0)
    return found


def _means(
    at: FloatArray, values: FloatArray, delays: list[float], lags: list[float], times: FloatArray
) -> FloatArray:
    """Return the means over steps `(k, n)` of commands `(C, n)` from times `at`, late and lagging.

    What lags, y' = (u - y) / lag, has the integral of u less the lag times the change of y.
    """
    means = np.empty((len(times) - 1, values.shape[1]))
    for delay, lag in set(zip(delays, lags, strict=True)):
        legs = [own == (delay, lag) for own in zip(delays, lags, strict=True)]
        means[:, legs] = _delayed_means(at, values[:, legs], delay, lag, times)
    return means


def _delayed_means(
    at: FloatArray, command: FloatArray, delay: float, lag: float, times: FloatArray
) -> FloatArray:
    """Return what `_means` does, of legs with the same delay and lag [s]."""
    spans = np.diff(at)
    edges = np.maximum(times - delay, at[0])
    index = np.minimum(np.searchsorted(at, edges, side="right") - 1, len(at) - 1)
    total = np.zeros_like(command)
    np.cumsum(spans[:, None] * command[:-1], axis=0, out=total[1:])
    integral = total[index] + command[index] * (edges - at[index])[:, None]
    # The first command is held before its time.
    integral += command[0] * np.minimum(times - delay - at[0], 0.0)[:, None]
    if lag > 0.0:
        lagging = _lagging(command, np.exp(-spans / lag))
        left = np.exp((at[index] - edges) / lag)[:, None]
        integral -= lag * (command[index] + left * (lagging[index] - command[index]))
    return np.asarray(np.diff(integral, axis=0) / np.diff(times)[:, None])


def _lagging(command: FloatArray, left: FloatArray) -> FloatArray:
    """Return commands `(C, n)` after a lag; a fraction `left` (C - 1,) remains each time."""
    from scipy.signal import lfilter

    if np.ptp(left) < SPACING_TOLERANCE:
        remaining = float(left.mean())
        first = remaining * command[:1]
        later, _ = lfilter([1.0 - remaining], [1.0, -remaining], command[:-1], axis=0, zi=first)
        return np.vstack([command[:1], later])
    found = np.empty_like(command)
    found[0] = command[0]
    for k, remaining in enumerate(left.tolist()):
        found[k + 1] = remaining * found[k] + (1.0 - remaining) * command[k]
    return found


class Starts(NamedTuple):
    """States at the beginning of rollouts, first axis rows."""

    position: FloatArray
    """`(N, n)` coordinates of the motors"""
    speed: FloatArray
    """`(N, n)` theirs"""
    effort: FloatArray
    """`(N, n)` forces of the motors, which the velocity loops hold"""
    pose: FloatArray
    """`(N, 7)`"""
    twist: FloatArray
    """`(N, 6)`"""
    coordinates: FloatArray
    """`(N, n)` coordinates of the legs"""
    rates: FloatArray
    """`(N, n)`"""


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
    """`(T, n)`"""
    inverse: FloatArray
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
    moving: bool
    """whether the motion of the platform is returned as well"""


class ParameterSets:
    """Constants of machines that differ in numbers alone, stacked.

    Encoders count nothing and converters have no steps here: predictions are smooth.
    """

    def __init__(self, machines: Sequence[MachineModel], timestep: float, mode: Mode) -> None:
        """Stack the constants of `machines` for steps of `timestep` [s] under commands of `mode`.

        Raises:
            InputError: drives that cannot take steps of this length.
        """
        self.timestep, self.mode = timestep, mode
        first = machines[0]
        self.kind: Any = type(first.constants.legs)
        self.bodies = np.array([each.constants.body for each in machines])
        self.legs = np.array([each.constants.legs.rows for each in machines])
        with for_many_machines():
            self.constants = np.array([drive_constants(each, timestep) for each in machines])
        self.drives = self.constants.copy()
        self.drives[:, :, [column.SPEED_DIGIT, column.EFFORT_DIGIT]] = 0.0
        if mode == "force":
            # Their lag is in the commands already.
            self.drives[:, :, [column.LAG, column.LAG_MEAN]] = 0.0
        self.parts = max(motor_parts(each, timestep) for each in self.constants)
        gain, time = suitable_velocity_loop(first, CONTROLLER_PERIOD)
        self.gains = np.stack([gain, gain / time], axis=1)

    def run(
        self, sets: Any, starts: Starts, commands: Commands, rows: Any, observed: Observed
    ) -> tuple[FloatArray, Motion | None]:
        """Return what predictions miss of the motors `(N, samples, n)`, and the platform's motion.

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
        for part in (slice(*edge) for edge in chunk_bounds(count, chunks)):
            own = Starts(*(each[part] for each in starts))
            calls.append((sets[part], own, commands, rows[part], observed))
        missed, moved = map(np.concatenate, zip(*on_threads(self._run_part, calls), strict=True))
        return missed, Motion(*np.split(moved, [7, 13], axis=2)) if observed.moving else None

    def _run_part(
        self, sets: Any, starts: Starts, commands: Commands, rows: Any, observed: Observed
    ) -> tuple[FloatArray, FloatArray]:
        """Return what `run` does, of the rows of one core."""
        count, n = starts.position.shape
        arrays = make_drive_arrays(count, n, QUEUE_LENGTH)
        arrays.constants[:], arrays.gains[:] = self.drives[sets], self.gains
        arrays.counters[:, SUBSTEPS_COLUMN] = self.parts
        machines, inputs = empty_machines(count, n, 0), empty_inputs(count, n, 1)
        machines.pose[:], machines.twist[:] = starts.pose, starts.twist
        machines.coordinates[:], machines.rates[:] = starts.coordinates, starts.rates
        states = arrays.states
        position, speed = states[:, :, column.POSITION], states[:, :, column.SPEED]
        position[:], speed[:] = starts.position, starts.speed
        states[:, :, column.EFFORT] = states[:, :, column.INTEGRAL] = starts.effort
        constants = Constants(self.bodies[sets], self.kind(self.legs[sets]))
        width = (0,) * lane_count() if count >= lane_count() > 1 else ()
        last = (COMMAND_MODES.index(self.mode), self.timestep, *([width] if width else []))
        advance: Any = SameTypes(advance_groups if width else advance_rows)
        bundle = Bundle(constants, arrays, machines, inputs, *last)
        out = np.empty((count, observed.samples, n))
        motion = np.zeros((count, observed.samples if observed.moving else 0, 19))
        scale, bias = observed.scale[sets], observed.bias[sets]
        period = self.timestep * observed.ratio
        kinds, ratio = commands.kinds[sets], observed.ratio
        for sample in range(observed.samples):
            at = rows + sample
            read = (observed.position[at] - bias) / scale
            missed = np.subtract(position, read, out=out[:, sample])
            if observed.moving and sample:
                change = machines.twist - motion[:, sample - 1, 7:13]
                motion[:, sample - 1, 13:] = change / period
            step, turn = (gain * missed for gain in observed.gains)
            position -= step
            speed -= turn
            machines.coordinates[:] -= step
            machines.rates[:] -= turn
            moved = observed.inverse[at] @ np.stack([step, turn], axis=2)
            machines.pose[:] = displaced(machines.pose, -moved[:, :, 0])
            machines.twist[:] -= moved[:, :, 1]
            if observed.moving:
                motion[:, sample, :7], motion[:, sample, 7:13] = machines.pose, machines.twist
            for part in range(ratio if sample + 1 < observed.samples else 0):
                inputs.command[:] = commands.given[kinds, ratio * at + part]
                if commands.feedforward is not None:
                    inputs.feedforward[:] = commands.feedforward[kinds, ratio * at + part]
                advance(bundle)
        if observed.moving:
            motion[:, -1, 13:] = motion[:, -2, 13:]
        out[machines.failed] = motion[machines.failed] = np.nan
        return out, motion


def displaced(pose: FloatArray, change: FloatArray) -> FloatArray:
    """Return poses `(N, 7)` moved by small translations and rotation vectors `(N, 6)`."""
    found = pose.copy()
    found[:, :3] += change[:, :3]
    w, x, y, z = pose[:, 3:].T
    a, b, c = 0.5 * change[:, 3:].T
    turned = (
        -a * x - b * y - c * z,
        a * w + b * z - c * y,
        b * w + c * x - a * z,
        c * w + a * y - b * x,
    )
    found[:, 3:] += np.stack(turned, axis=1)
    found[:, 3:] /= np.sqrt((found[:, 3:] ** 2).sum(axis=1, keepdims=True))
    return found


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
    """number of windows from there that do not count"""
    counted: int
    """number of windows of a segment that count"""
    samples: int
    """number of samples of a window"""

    @property
    def times(self) -> Any:
        """Indices `(W, samples)` of the samples of all windows."""
        every = self.first[:, None] + self.samples * self.warm_up
        return (every + np.arange(self.samples * self.counted)).reshape(-1, self.samples)

    def short(self, share: int) -> Windows:
        """Return every `share`-th window as a segment of its own, after one to warm up."""
        return Windows(self.times[::share, 0] - self.samples, 1, 1, self.samples)


def windows_of(recording: Recording, samples: int) -> Windows:
    """Return windows of `samples` intervals.

    Raises:
        InputError: fewer than `MIN_WINDOWS` windows.
    """
    width = _width(recording)
    free = (len(recording.time) - 1 - 2 * width) // samples - WARM_UP
    if free < MIN_WINDOWS:
        raise InputError(
            "log",
            f"has {max(free, 0)} windows of {samples * recording.period:g} s after {WARM_UP} to "
            "begin with; record a longer motion, or take shorter windows",
        )
    count = min(max(1, free // SEGMENT_COUNT), MAX_SEGMENT_WINDOWS)
    first = width + samples * count * np.arange(free // count)
    return Windows(first, WARM_UP, count, samples)


def smoothed_motion(
    recording: Recording, machine: MachineModel, drives: FloatArray
) -> tuple[Starts, FloatArray]:
    """Return states `(T, ...)` to begin with, and inverse Jacobians `(T, 6, 6)`, at all samples.

    Args:
        recording: of the motion.
        machine: as far as it is known.
        drives: `(n, CONSTANTS)` of the machine.
    """
    position, speed, change, pose, twist, inverse, force = _smoothed(recording, machine)
    moves = drives[:, column.INERTIA] > 0.0
    stiff = np.where(moves, drives[:, column.STIFFNESS], np.inf)
    gap = np.where(moves, np.sign(force) * drives[:, column.HALF_BACKLASH], 0.0) + force / stiff
    rubbing = np.clip(speed / drives[:, column.STRIBECK], -1.0, 1.0) * drives[:, column.FRICTION]
    effort = force + drives[:, column.INERTIA] * change
    effort += rubbing + drives[:, column.VISCOUS] * speed
    pose = displaced(pose, -np.einsum("kij,kj->ki", inverse, gap))
    return Starts(position, speed, effort, pose, twist, position - gap, speed), inverse


def sign_reversals(recording: Recording, machine: MachineModel, windows: Windows) -> Any:
    """Return in which windows the force of each leg changes its sign `(W, n)`.

    Play shows there alone.
    """
    signs = np.sign(_smoothed(recording, machine)[-1][windows.times])
    return np.ptp(signs, axis=1) > 0.0


def _smoothed(recording: Recording, machine: MachineModel) -> tuple[FloatArray, ...]:
    """Return coordinates with two derivatives, poses, twists, inverse Jacobians and leg forces."""
    from scipy.signal import savgol_filter

    position, speed, change = (
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
    pose = machine.forward_kinematics(position)
    inverse = np.asarray(np.linalg.inv(machine.jacobian(pose)))
    twist = np.einsum("kij,kj->ki", inverse, speed)
    slope = machine.jacobian_derivative(pose, twist)
    bent = change - np.einsum("kij,kj->ki", slope, twist)
    force = machine.inverse_dynamics(pose, twist, np.einsum("kij,kj->ki", inverse, bent))
    return position, speed, change, pose, twist, inverse, force


def _width(recording: Recording) -> int:
    """Return the samples over which motion is smoothed."""
    return max(2 * round(0.5 * SMOOTHING_TIME / recording.period) + 1, POLYNOMIAL_ORDER + 3)


def synchronised(recording: Recording, machine: MachineModel) -> tuple[Recording, float]:
    """Return a recording with its commands on the clock of the encoders, and their move [s].

    The motors' speeds, or the efforts that the file's numbers give for their motion, follow the
    commands. What is left of that time without the delays and lags of the file is the difference
    of the clocks. Nothing moves where it is small, or where the motion does not tell.

    Raises:
        InputError: the commands fit the motion at another time, farther away than `MAX_OFFSET`.
    """
    drives = drive_constants(machine, drive_timestep(machine))
    motion, _ = smoothed_motion(recording, machine, drives)
    force = recording.mode == "force"
    followed, units = motion.effort if force else motion.speed, ("",) * machine.n_actuators
    moved = Channel("motion", recording.time, followed, units)
    commands = Channel("commands", recording.command_time, recording.commands, units)
    found = _offset(moved, commands, MAX_OFFSET)
    if found is None or found.correlation < MIN_CORRELATION:
        shared = min(recording.time[-1], commands.time[-1]) - max(
            recording.time[0], commands.time[0]
        )
        far = (
            _offset(moved, commands, min(OFFSET_SEARCH_RADIUS, 0.25 * shared))
            if shared > 0.0
            else None
        )
        if far is not None and far.correlation > MIN_CORRELATION:
            name = "command_forces" if force else "command_rates"
            side = "later" if far.seconds > 0.0 else "earlier"
            delay = f'delay = "{-1e3 * far.seconds:.4g} ms" in a mapping file corrects it'
            message = f"fit the measured motion if they are {abs(far.seconds):.4g} s {side}"
            raise InputError(name, f"{message}: their clock is another one; {delay}")
        return recording, 0.0
    own = [leg.drive for leg in machine.parameters.legs if leg.drive is not None]
    shifts = [each.delay + (each.current_lag if force else 0.0) for each in own]
    clock = found.seconds - float(np.mean(shifts or [0.0]))
    if abs(clock) < MIN_OFFSET:
        return recording, 0.0
    return replace(recording, command_time=recording.command_time + clock), clock


def _offset(channel: Channel, reference: Channel, most: float) -> TimeOffset | None:
    """Return the offset between two channels, None where there is none up to `most` [s]."""
    try:
        return time_offset(channel, reference, most)
    except InputError:
        return None
