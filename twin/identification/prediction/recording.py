"""Commands and measured motion of one log, as predictions need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from twin.basics.arrays import FloatArray, cross, quaternion_product, rotated, turned
from twin.errors import InputError
from twin.identification.parameters import Parameter, SignalErrors, signal_errors, values_by_path
from twin.logs import Channel, Log
from twin.machine.hardware.drive import InertialSensor
from twin.model.machine_model import MachineModel

POSE_SIGNALS = ("pose", "accelerometer", "gyroscope")

DEFAULT_NOISE = {"pose": (20e-6, 50e-6), "accelerometer": (0.05,), "gyroscope": (1e-3,)}
"""[m, rad; m/s2; rad/s] Engineering choice: noise of signals for which neither the log nor the file
states one.
"""

SENSOR_PREFIXES = ("imu.", *(f"signal.{name}." for name in POSE_SIGNALS))
"""Prefixes of the paths of parameters that do not change the motion."""

MAX_JITTER = 1e-3
"""Largest departure of a sample's time, in sampling periods, that still counts as even."""

MIN_SAMPLES = 200
"""Minimum number of samples that a log needs."""

UPPER_TRIANGLE = np.triu_indices(3)


class Slots(NamedTuple):
    """Samples of a signal by window; windows with fewer than others have empty slots."""

    index: Any
    """index of the sample in each slot `(W, q)`"""
    filled: Any
    """whether each slot holds a sample `(W, q)`"""


class PlatformSignal(NamedTuple):
    """Samples of one signal, at times of its own."""

    name: str
    time: FloatArray
    """times of the samples `(k,)` [s]"""
    values: FloatArray
    """`(k, 7)` poses, or `(k, 3)`"""
    noise: FloatArray
    """`(6,)` standard deviations [m], [rad] of poses; `(3,)` of readings"""

    def slots(self, begin: FloatArray, length: float) -> Slots:
        """Return which samples are in windows `(W,)` of a length [s] that begin at times [s]."""
        first, stop = np.searchsorted(self.time, [begin, begin + length])
        index = first[:, None] + np.arange(max(int((stop - first).max(initial=0)), 1))
        return Slots(np.minimum(index, len(self.time) - 1), index < stop[:, None])


def platform_signals(log: Log, machine: MachineModel) -> tuple[PlatformSignal, ...]:
    """Return signals of a log that show the platform; of inertial sensors that a machine has."""
    signals = []
    for name in POSE_SIGNALS:
        has_sensor = name == "pose" or machine.parameters.imu is not None
        if name not in log or not len(log[name]) or not has_sensor:
            continue
        channel = log[name]
        signals.append(
            PlatformSignal(name, channel.time, channel.values, _noise(name, log, machine))
        )
    return tuple(signals)


def _noise(name: str, log: Log, machine: MachineModel) -> FloatArray:
    """Return the noise that the log states of a tracker, or the file of a sensor; else defaults."""
    stated_noise = [0.0]
    if name == "pose":
        names = ("position_noise", "angle_noise")
        stated_noise = [
            float(log[name_of_noise].values.mean()) if name_of_noise in log else 0.0
            for name_of_noise in names
        ]
    elif (imu := machine.parameters.imu) is not None:
        triad = imu.accelerometers if name == "accelerometer" else imu.gyroscopes
        stated_noise = [triad.noise if triad is not None else 0.0]
    return np.repeat(
        [
            noise or default
            for noise, default in zip(stated_noise, DEFAULT_NOISE[name], strict=True)
        ],
        3,
    )


def used_signals(
    signals: Sequence[PlatformSignal], parameters: Sequence[Parameter]
) -> list[PlatformSignal]:
    """Return the signals of which errors are among the parameters: others are not exact enough.

    Raises:
        InputError: one of them has times that do not increase, or a wrong number of columns.
    """
    used = []
    for signal in signals:
        path_prefixes = (f"signal.{signal.name}.", *(() if signal.name == "pose" else ("imu.",)))
        if not any(parameter.path.startswith(path_prefixes) for parameter in parameters):
            continue
        width = 7 if signal.name == "pose" else 3
        if signal.values.shape[1] != width:
            columns = signal.values.shape[1]
            raise InputError(signal.name, f"has {columns} columns, not {width}")
        if not (np.diff(signal.time) > 0.0).all():
            raise InputError(signal.name, "has times that repeat or step back; see check_log")
        used.append(signal)
    return used


@dataclass(frozen=True, eq=False)
class Recording:
    """Commands and measured motion of one log."""

    time: FloatArray
    """`(T,)` [s] times of the samples, evenly spaced"""
    position: FloatArray
    """`(T, n)` measured coordinates of the motors [m, rad]"""
    mode: Literal["force", "velocity"]
    """mode of the commands"""
    command_time: FloatArray
    """`(C,)` [s] when the commands were given"""
    commands: FloatArray
    """`(C, n)` forces or speeds, each constant until the next one"""
    feedforward: FloatArray | None = None
    """`(C, n)` forces in addition to commanded speeds"""
    platform: tuple[PlatformSignal, ...] = ()
    """poses of a tracker and readings of an inertial sensor"""

    @property
    def period(self) -> float:
        """Sampling period [s]."""
        return float(self.time[-1] - self.time[0]) / (len(self.time) - 1)


def recording_of(log: Log, machine: MachineModel) -> Recording:
    """Return the part of a log in signals of a machine that predictions need.

    Commands are `command_rates`, with `command_forces` as feedforward where there are both, or
    `command_forces` alone. Positions are `measured`, or `coordinates` where that is missing. Poses
    and readings of an inertial sensor are taken along.

    Raises:
        InputError: signals are missing, have a wrong number of columns or times that do not
            increase, or the log is too short.
    """
    name = "measured" if "measured" in log else "coordinates"
    command_signal = "command_rates" if "command_rates" in log else "command_forces"
    needed = [(command_signal, "commands"), (name, "encoders")]
    has_feedforward = (
        command_signal == "command_rates"
        and "command_forces" in log
        and len(log["command_forces"]) > 0
    )
    if has_feedforward:
        needed.append(("command_forces", "feedforward forces"))
    for signal, label in needed:
        if signal not in log:
            raise InputError(
                "log",
                f"has no {signal}: the {label} are needed; map their channels to it with a mapping "
                "file (docs/logs.md)",
            )
        if log[signal].values.shape[1] != machine.n_actuators:
            columns = log[signal].values.shape[1]
            raise InputError(signal, f"has {columns} columns, not {machine.n_actuators}: one a leg")
    position, commands = log[name], log[command_signal]
    if min(len(position), len(commands)) < MIN_SAMPLES:
        raise InputError(
            "log",
            f"has {len(position)} positions and {len(commands)} commands; {MIN_SAMPLES} needed",
        )
    for channel in (log[signal] for signal, _ in needed):
        if not (np.diff(channel.time) > 0.0).all():
            raise InputError(channel.name, "has times that repeat or step back; see check_log")
    time = _even_times(position.time)
    return Recording(
        time,
        _sampled(position, time),
        "velocity" if command_signal == "command_rates" else "force",
        commands.time,
        commands.values,
        _held(log["command_forces"], commands.time) if has_feedforward else None,
        platform_signals(log, machine),
    )


def _even_times(time: FloatArray) -> FloatArray:
    """Return evenly spaced times [s] over the same span, at the median period."""
    period = float(np.median(np.diff(time)))
    return np.linspace(time[0], time[-1], round((time[-1] - time[0]) / period) + 1)


def _sampled(channel: Channel, time: FloatArray) -> FloatArray:
    """Return a channel at other times: its own values where the times agree, else splines."""
    max_departure = MAX_JITTER * float(time[1] - time[0])
    if len(channel) == len(time) and np.abs(channel.time - time).max() < max_departure:
        return channel.values
    from scipy.interpolate import make_interp_spline

    return np.asarray(make_interp_spline(channel.time, channel.values, k=3)(time))


def _held(channel: Channel, time: FloatArray) -> FloatArray:
    """Return commands at other times: each stays until the next one."""
    max_departure = MAX_JITTER * float(time[1] - time[0])
    rows = np.searchsorted(channel.time, time + max_departure, side="right") - 1
    return channel.values[np.maximum(rows, 0)]


class Motion(NamedTuple):
    """Predicted motion of the platform; first axes rollouts and samples."""

    pose: FloatArray
    """poses of the platform `(N, T, 7)`"""
    twist: FloatArray
    """twists of the platform `(N, T, 6)`"""
    acceleration: FloatArray
    """`(N, T, 6)` mean of the model from each sample to the next one"""


class Readers:
    """Sensor errors and mounting of the inertial sensor for several parameter sets."""

    def __init__(
        self, machine: MachineModel, parameters: Sequence[Parameter], values: FloatArray
    ) -> None:
        """Store the sensor errors of the parameter values `(sets, p)` [SI] of a machine."""
        self.imu, self._count = machine.parameters.imu, len(values)
        self._errors = [
            signal_errors(machine, parameters, parameter_values) for parameter_values in values
        ]
        if self.imu is not None:
            position, attitude = (
                [
                    [
                        value_of_path.get(f"imu.{name}.{k}", number)
                        for k, number in enumerate(nominal)
                    ]
                    for value_of_path in (values_by_path(parameters, row) for row in values)
                ]
                for name, nominal in (
                    ("position", self.imu.position),
                    ("attitude", self.imu.attitude),
                )
            )
            self._place = np.array(position)
            self._rotation = Rotation.from_euler("ZYX", attitude).as_matrix()

    def errors(self, signal: str, width: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return scales `(sets, 1)`, biases `(sets, width)` and delays `(sets,)` of a signal."""
        no_errors = SignalErrors(1.0, np.zeros(width), 0.0)
        scale, bias, delay = zip(
            *(set_errors.get(signal, no_errors) for set_errors in self._errors), strict=True
        )
        return np.array(scale)[:, None], np.array(bias), np.array(delay)

    def prediction_errors(
        self,
        signal: PlatformSignal,
        slots: Slots,
        motion: Motion | FloatArray,
        rows: Any,
        sets: Any,
        begin: FloatArray,
        period: float,
    ) -> FloatArray:
        """Return errors of predictions `(N, q, w)` in standard deviations; 0 in empty slots.

        Args:
            signal: that is predicted.
            slots: `(N, q)` its samples.
            motion: of all rollouts, or what readings are linear in (`sensed_inputs`).
            rows: `(N,)` rollout of each row.
            sets: `(N,)` parameter set of each row.
            begin: `(N,)` times [s] of the first samples of the rollouts.
            period: [s] between two of them.
        """
        scale, bias, delay = (
            error_array[sets] for error_array in self.errors(signal.name, len(signal.noise))
        )
        at = (signal.time[slots.index] - (begin + delay)[:, None]) / period
        measured, rows = signal.values[slots.index], rows[:, None]
        if isinstance(motion, Motion):
            errors = pose_errors(measured, motion, rows, at, period, bias)
        else:
            inertial = inertial_readings(motion, rows, at, self._place[sets], self._rotation[sets])
            reading = inertial[..., 3:] if signal.name == "gyroscope" else inertial[..., :3]
            errors = measured - (scale[:, None] * reading + bias[:, None])
        return np.where(slots.filled[..., None], errors / signal.noise, 0.0)


def pose_errors(
    measured: FloatArray, motion: Motion, rows: Any, at: FloatArray, period: float, bias: FloatArray
) -> FloatArray:
    """Return displacements `(N, Q, 6)` that lead from predicted poses to measured ones.

    Args:
        measured: `(N, Q, 7)`.
        motion: of all rollouts.
        rows: `(N, 1)` the rollout of each row.
        at: `(N, Q)` times in sampling periods from the first sample of the rollout.
        period: [s].
        bias: `(N, 6)` displacement of all measured poses.
    """
    index = np.clip(np.floor(at).astype(int), 0, motion.pose.shape[1] - 2)
    time_past_sample = period * (at - index)[..., None]
    pose, twist, acceleration = (array[rows, index] for array in motion)
    expected_pose = turned(
        pose, time_past_sample * twist + 0.5 * time_past_sample**2 * acceleration + bias[:, None]
    )
    conjugate = expected_pose[..., 3:] * [1.0, -1.0, -1.0, -1.0]
    rotation_error = quaternion_product(measured[..., 3:], conjugate)
    angle = 2.0 * np.sign(rotation_error[..., :1]) * rotation_error[..., 1:]
    return np.concatenate([measured[..., :3] - expected_pose[..., :3], angle], axis=-1)


def sensed_inputs(
    motion: Motion, gravity: FloatArray, imu: InertialSensor, period: float
) -> FloatArray:
    """Return the motions in which readings are linear `(N, T, 15)`, after a sensor's filter.

    At the samples; without a filter, the mean of the steps before and after each.

    In platform axes: specific force of the reference point, angular rate, angular acceleration, and
    products of two rates.

    Args:
        motion: of all rollouts.
        gravity: `(N, 3)` field [m/s2] in base axes.
        imu: the sensor, for its filter.
        period: [s] between two samples.
    """
    mean_twist = motion.twist + 0.5 * period * motion.acceleration
    pose = turned(motion.pose, 0.5 * period * motion.twist)
    conjugate = pose[..., 3:] * [1.0, -1.0, -1.0, -1.0]
    linear, angular = motion.acceleration[..., :3], motion.acceleration[..., 3:]
    base_vectors = (linear - gravity[:, None], mean_twist[..., 3:], angular)
    force, rate, angular_acceleration = (
        rotated(conjugate, base_vector) for base_vector in base_vectors
    )
    products = (rate[..., :, None] * rate[..., None, :])[..., UPPER_TRIANGLE[0], UPPER_TRIANGLE[1]]
    inputs = np.concatenate([force, rate, angular_acceleration, products], axis=-1)
    if imu.bandwidth is not None:
        return _filtered(inputs, imu, period)
    steps_before = np.concatenate([inputs[:, :1], inputs[:, :-1]], axis=1)
    return np.asarray(0.5 * (steps_before + inputs))


def _filtered(values: FloatArray, imu: InertialSensor, period: float) -> FloatArray:
    """Return means over steps behind the filter of a sensor, at the beginnings of these steps."""
    from scipy.signal import cont2discrete, lfilter, lfilter_zi

    w = 2.0 * np.pi * float(imu.bandwidth or 0.0)
    model = [w * w], [1.0, 2.0 * imu.damping_ratio * w, w * w]
    numerator, denominator, _ = cont2discrete(model, period, "zoh")
    start = lfilter_zi(numerator[0], denominator)[:, None] * values[:, :1]
    return np.asarray(lfilter(numerator[0], denominator, values, axis=1, zi=start)[0])


def inertial_readings(
    features: FloatArray, rows: Any, at: FloatArray, place: FloatArray, rotation: FloatArray
) -> FloatArray:
    """Return specific force and angular rate `(N, Q, 6)` of exact sensors, in their axes.

    Args:
        features: what `sensed_inputs` returns.
        rows: `(N, 1)` the rollout of each row.
        at: `(N, Q)` times in sampling periods from the first sample of the rollout; between two
            samples the features are interpolated.
        place: `(N, 3)` position of the sensor, in platform axes.
        rotation: `(N, 3, 3)` its axes to platform axes.
    """
    index = np.clip(np.floor(at).astype(int), 0, features.shape[1] - 2)
    fraction = (at - index)[..., None]
    interpolated = (1.0 - fraction) * features[rows, index] + fraction * features[rows, index + 1]
    products = np.empty((*at.shape, 3, 3))
    products[..., UPPER_TRIANGLE[0], UPPER_TRIANGLE[1]] = products[
        ..., UPPER_TRIANGLE[1], UPPER_TRIANGLE[0]
    ] = interpolated[..., 9:]
    r = np.broadcast_to(place[:, None], (*at.shape, 3))
    force = interpolated[..., :3] + cross(interpolated[..., 6:9], r)
    force += np.einsum("nqij,nqj->nqi", products, r)
    force -= np.einsum("nqii->nq", products)[..., None] * r
    force_and_rate = np.stack([force, interpolated[..., 3:6]], axis=2)
    return np.asarray(np.einsum("nqki,nij->nqkj", force_and_rate, rotation).reshape(*at.shape, 6))
