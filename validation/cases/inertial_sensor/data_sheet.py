"""Inertial sensors against their data sheet, and logs of one on the thesis' platform.

The errors of many sensors follow from their readings alone. The numbers of the data sheet are typed
independently in `published/machines/stewart.toml`. The errors that a sensor has drawn are not
looked up: a tumble test separates them, as on a rate table.

For the logs, the cascade drives the platform in pitch. The machine has its drives, encoders and
sensor (`hardware`). Log, reference and platform share one clock, so no delay is searched for: the
delays of platform and sensor stay in the response.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, exp, pi, sin, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twin.analysis.frequency.response import spectra
from twin.analysis.inertial import (
    ChannelResponse,
    Compensation,
    InertialComparison,
    compare_log,
    compensate,
)
from twin.analysis.platform import Platform, load
from twin.basics.arrays import FloatArray
from twin.control.cascade import Cascade
from twin.control.observer.kalman_observer import lumped_mass
from twin.engines import make_engine
from twin.machine.hardware.drive import InertialSensor
from twin.motion import Motion, MultiSineMotion, RecordedMotion
from twin.plant.inertial_sensor import InertialLog, InertialUnit
from twin.simulation.simulate import simulate
from twin.validation.case import Entry, Measure
from twin.validation.measures.sampling import largest, rms
from twin.validation.published import typed_numbers

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

SENSOR_COUNT = 500
"""Number of sensors in the tumble test."""

STANDARD_ERRORS = 5.0
"""Bound of a statistic in standard errors: the chance to exceed it is 6e-7; seeds are fixed."""

LOCAL_GRAVITY = 9.81
"""[m/s2] Gravity in the tumble test."""

STANDARD_GRAVITY = 9.80665
"""[m/s2] The g of the data sheet."""

TABLE_RATE = 2.0
"""[rad/s] Angular rate of the table."""

BIAS_READINGS = 4000
"""Number of readings of the bias instability, one correlation time apart."""

CORRELATION_TIME = 300.0
"""[s] Correlation time of the bias instability. Engineering choice: the data sheet prints none."""

NOISE_READINGS = 8000
"""Number of readings of the noise."""

NOISE_INTERVAL = 2e-3
"""[s] Time between two readings of the noise."""

DAMPING_RATIO = sqrt(0.5)
"""Damping ratio of the sensor's filter. Engineering choice: the data sheet prints none."""

SENSOR_ATTITUDE = (0.4, -0.3, 0.2)
"""[rad] Yaw, pitch and roll of a tilted sensor on the platform."""

NO_ROTATION = (1.0, 0.0, 0.0, 0.0)
"""Quaternion (w, x, y, z) of a platform parallel to the base."""

MOTION_BAND = (0.5, 70.0)
"""[Hz] Lowest and highest frequency of the tank motion in pitch; thesis, section 4.3.2.3."""

MIN_COHERENCE = 0.8
"""Coherence above which a transfer ratio is used, as in the compensation."""


def sheet_measures(sensor: InertialSensor) -> Iterator[Entry]:
    """Yield the errors of a sensor's readings against its data sheet."""
    sheet = {
        key.removeprefix("imu."): float(value)
        for key, value in typed_numbers("stewart")["hardware"].items()
        if key.startswith("imu.")
    }
    # Without filter, noise and output rate every reading is instantaneous.
    noiseless = _sensor_with(sensor, {"noise": 0.0}, bandwidth=None, output_rate=None)
    constant = _sensor_with(noiseless, {"instability": 0.0})
    yield from _constant_errors(constant, sheet)
    yield from _bias_instability(noiseless, sheet)
    yield from _ranges(constant, sheet)
    yield _output_rate(sensor)
    yield _noise_spectrum(sensor, sheet)
    yield _turntable()


def at_rest(rows: int) -> tuple[FloatArray, FloatArray]:
    """Return poses `(rows, 7)` and twists `(rows, 6)` of a platform at rest, not rotated."""
    return np.tile([0.0, 0.0, 0.0, *NO_ROTATION], (rows, 1)), np.zeros((rows, 6))


def _sensor_with(
    sensor: InertialSensor, triads: dict[str, float], **sensor_changes: Any
) -> InertialSensor:
    """Return a sensor with changed entries of both triads and of the sensor (`sensor_changes`)."""
    changed_triads = {
        name: getattr(sensor, name).model_copy(update=triads)
        for name in ("accelerometers", "gyroscopes")
    }
    return sensor.model_copy(update=changed_triads | sensor_changes)


def _tumbled() -> tuple[FloatArray, FloatArray]:
    """Return 12 poses and twists: each axis up, down, and turning about itself both ways."""
    from scipy.spatial.transform import Rotation

    poses, twists = at_rest(12)
    for axis in range(3):
        for row, sign in ((2 * axis, 1.0), (2 * axis + 1, -1.0)):
            upward = sign * np.eye(3)[axis]
            rotation = Rotation.align_vectors([[0.0, 0.0, 1.0]], [upward])[0]
            poses[row, 3:] = rotation.as_quat(scalar_first=True)
            twists[row + 6, 3 + axis] = sign * TABLE_RATE
    return poses, twists


def separated_errors(sensor: InertialSensor, count: int) -> dict[str, FloatArray]:
    """Return the errors `(count, k)` by kind of sensors with seeds 0, 1, ... from a tumble test."""
    poses, twists = _tumbled()
    time, no_acceleration = np.arange(12.0), np.zeros((12, 6))
    sensors = (InertialUnit(sensor, gravity=LOCAL_GRAVITY, seed=seed) for seed in range(count))
    readings = np.array(
        [unit.measure(time, poses, twists, no_acceleration).readings for unit in sensors]
    )
    # Half the difference of both signs is a column of the error matrix, half the sum the bias.
    matrix_columns = 0.5 * (readings[:, 0::2] - readings[:, 1::2])
    biases = 0.5 * (readings[:, 0::2] + readings[:, 1::2])
    acceleration_columns = matrix_columns[:, :3] / LOCAL_GRAVITY
    rate_columns = matrix_columns[:, 3:] / TABLE_RATE
    diagonal = np.eye(3, dtype=bool)
    return {
        "accelerometers.scale_factor": acceleration_columns[:, :, :3][:, diagonal] - 1.0,
        "accelerometers.misalignment": acceleration_columns[:, :, :3][:, ~diagonal],
        "accelerometers.bias": biases[:, :3, :3].mean(axis=1),
        "gyroscopes.scale_factor": rate_columns[:, :, 3:][:, diagonal] - 1.0,
        "gyroscopes.misalignment": rate_columns[:, :, 3:][:, ~diagonal],
        "gyroscopes.acceleration_sensitivity": STANDARD_GRAVITY
        * acceleration_columns[:, :, 3:].reshape(count, 9),
        "gyroscopes.bias": biases[:, :3, 3:].mean(axis=1),
    }


def _constant_errors(sensor: InertialSensor, sheet: dict[str, float]) -> Iterator[Entry]:
    """Yield errors of standard deviation, mean and correlation of the errors of many sensors."""
    errors_by_kind = separated_errors(sensor, SENSOR_COUNT)
    standardised_means = []
    for name, errors in errors_by_kind.items():
        triad, _, kind = name.partition(".")
        count = errors.size
        yield Measure(
            f"{triad}: standard deviation of {kind.replace('_', ' ')}, relative error",
            abs(rms(errors) / sheet[name] - 1.0),
            STANDARD_ERRORS / sqrt(2.0 * count),
            f"five standard errors 1 / sqrt(2 n) of n = {count} normal errors, of "
            f"{SENSOR_COUNT} sensors",
        )
        standardised_means.append(abs(errors.mean()) / sheet[name] * sqrt(count))
    yield Measure(
        f"largest mean error of {SENSOR_COUNT} sensors, in standard errors",
        max(standardised_means),
        STANDARD_ERRORS,
        "the data sheet gives standard deviations about zero",
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        correlations = np.asarray(
            np.corrcoef(np.hstack(list(errors_by_kind.values())), rowvar=False)
        )
    yield Measure(
        f"largest correlation of two errors over {SENSOR_COUNT} sensors, in standard errors",
        largest(correlations - np.eye(len(correlations))) * sqrt(SENSOR_COUNT),
        STANDARD_ERRORS,
        f"{len(correlations)} independent errors; a standard error is 1 / sqrt({SENSOR_COUNT})",
    )


def _bias_instability(sensor: InertialSensor, sheet: dict[str, float]) -> Iterator[Entry]:
    """Yield errors of standard deviation and autocorrelation of the gyroscopes' varying bias."""
    bias_only = _sensor_with(sensor, {"bias": 0.0, "scale_factor": 0.0, "misalignment": 0.0})
    assert bias_only.gyroscopes is not None
    gyroscopes = bias_only.gyroscopes.model_copy(update={"acceleration_sensitivity": 0.0})
    unit = InertialUnit(bias_only.model_copy(update={"gyroscopes": gyroscopes}), seed=11)
    time = np.arange(float(BIAS_READINGS)) * CORRELATION_TIME
    readings = unit.measure(time, *at_rest(BIAS_READINGS))
    scaled_bias = readings.angular_rate / sheet["gyroscopes.instability"]
    autocorrelation = np.mean(scaled_bias[1:] * scaled_bias[:-1]) / np.mean(scaled_bias**2)
    correlation, n_readings = exp(-1.0), 3.0 * BIAS_READINGS
    # Squares of a first-order process are correlated too, by r^2: their mean varies more.
    variance_factor = (1.0 + correlation**2) / (1.0 - correlation**2)
    yield Measure(
        "gyroscopes: standard deviation of the bias instability, relative error",
        abs(rms(scaled_bias) - 1.0),
        STANDARD_ERRORS * sqrt(variance_factor / (2.0 * n_readings)),
        f"five standard errors of {n_readings:.0f} readings, one correlation time apart",
    )
    yield Measure(
        f"gyroscopes: autocorrelation of the bias instability at {CORRELATION_TIME:g} s, off 1 / e",
        abs(float(autocorrelation) - correlation),
        STANDARD_ERRORS * sqrt((1.0 - correlation**2) / n_readings),
        "first-order Markov process, five standard errors; the correlation time is adopted",
    )


def _ranges(sensor: InertialSensor, sheet: dict[str, float]) -> Iterator[Entry]:
    """Yield errors of readings beyond the ranges of the data sheet, and within them."""
    poses, twists = at_rest(2)
    accelerations = np.zeros((2, 6))
    signs = np.array([1.0, -1.0])[:, None]
    accelerations[:, :3] = 1.5 * sheet["accelerometers.range"] * signs
    twists[:, 3:] = 1.5 * sheet["gyroscopes.range"] * signs
    unit = InertialUnit(sensor, gravity=0.0, seed=3)
    saturated = unit.measure([0.0, 1.0], poses, twists, accelerations).readings
    limits = np.repeat([sheet["accelerometers.range"], sheet["gyroscopes.range"]], 3)
    unsaturated = unit.measure([0.0, 1.0], poses, 0.6 * twists, 0.6 * accelerations).readings
    yield Measure(
        "readings beyond the ranges against the ranges of the data sheet: relative error",
        largest(saturated / (signs * limits) - 1.0),
        1e-10,
        "the ranges are typed to twelve digits",
    )
    yield Measure(
        "readings at 90 percent of the ranges against the motion: relative error",
        largest(unsaturated / (0.9 * limits * signs) - 1.0),
        STANDARD_ERRORS
        * sqrt(
            sheet["accelerometers.scale_factor"] ** 2
            + 2.0 * sheet["accelerometers.misalignment"] ** 2
        ),
        "five standard deviations of scale factor and misalignment; nothing is clipped",
    )


def tilted_sensor(position: tuple[float, float, float]) -> tuple[InertialSensor, Rotation]:
    """Return a tilted sensor without errors, and its rotation from sensor to platform axes.

    Args:
        position: `(3,)` [m] in the platform frame.
    """
    from scipy.spatial.transform import Rotation

    about_z, about_y, about_x = map(Rotation.from_euler, "zyx", SENSOR_ATTITUDE)
    sensor = InertialSensor(source="none", position=position, attitude=SENSOR_ATTITUDE)
    return sensor, about_z * about_y * about_x


def _output_rate(sensor: InertialSensor) -> Measure:
    """Return the largest error of the sample times, for a motion sampled every millisecond."""
    time = InertialUnit(sensor, seed=1).measure(np.arange(1001) * 1e-3, *at_rest(1001)).time
    expected = np.arange(201) * 5e-3
    return Measure(
        "sample times over one second, error",
        np.inf if len(time) != len(expected) else largest(time - expected),
        1e-9,
        "appendix A.4 reads 200 samples in a second; rounding of times",
        "s",
    )


def _noise_spectrum(sensor: InertialSensor, sheet: dict[str, float]) -> Measure:
    """Return the error of the filtered noise's autocorrelation over 2 ms."""
    unit = InertialUnit(sensor.model_copy(update={"output_rate": None}), seed=5)
    time = np.arange(NOISE_READINGS) * NOISE_INTERVAL
    readings = unit.measure(time, *at_rest(NOISE_READINGS)).readings
    noise = readings - readings.mean(axis=0)
    autocorrelation = (noise[1:] * noise[:-1]).sum(axis=0) / (noise**2).sum(axis=0)
    phase = 2.0 * pi * sheet["bandwidth"] * NOISE_INTERVAL
    damped_phase = phase * sqrt(1.0 - DAMPING_RATIO**2)
    decay = exp(-DAMPING_RATIO * phase)
    expected = decay * (
        cos(damped_phase) + DAMPING_RATIO * phase / damped_phase * sin(damped_phase)
    )
    return Measure(
        "autocorrelation of the noise at 2 ms against filtered white noise",
        abs(autocorrelation.mean() - expected),
        STANDARD_ERRORS / sqrt(6.0 * NOISE_READINGS),
        "exp(-z w t) (cos q t + z w / q sin q t), q = w sqrt(1 - z^2); five standard errors",
    )


def _turntable() -> Measure:
    """Return the error of readings, step by step, of a sensor away from a turntable's axis.

    The mean acceleration over a step h is centripetal. It is smaller than w^2 r by the ratio of
    chord to arc, sin(w h / 2) / (w h / 2).
    """
    step, sensor_position = 0.01, (0.3, -0.2, 0.1)
    sensor, to_platform = tilted_sensor(sensor_position)
    unit = InertialUnit(sensor, gravity=LOCAL_GRAVITY)
    twist = np.array([0.0, 0.0, 0.0, 0.0, 0.0, TABLE_RATE])
    unit.start(np.array([0.0, 0.0, 0.0, *NO_ROTATION]), twist)
    half_angle = 0.5 * TABLE_RATE * step
    centripetal = -(TABLE_RATE**2) * sin(half_angle) / half_angle * np.array(sensor_position[:2])
    in_platform = [[*centripetal, LOCAL_GRAVITY], [0.0, 0.0, TABLE_RATE]]
    expected = to_platform.inv().apply(in_platform).ravel()
    error = 0.0
    for k in range(1, 5):
        # Quaternions of both signs are one attitude.
        sign = -1.0 if k == 3 else 1.0
        pose = np.array(
            [0.0, 0.0, 0.0, sign * cos(k * half_angle), 0.0, 0.0, sign * sin(k * half_angle)]
        )
        error = max(error, largest(unit.step(pose, twist, step) - expected))
    return Measure(
        "readings off the axis of a turntable",
        error,
        1e-12,
        "mean acceleration over a step of 10 ms in closed form; rounding per step",
        "m/s2",
    )


PRINTED_GAINS = "gains as printed"
"""Label of the runs with the thesis' gain of the velocity loops, 20 N per mm/s."""

PROPORTIONAL_GAINS = "gains in proportion"
"""Label of the runs with a velocity gain scaled up like the mass: armature included, over the
thesis' mass."""

CASCADE_PERIOD = 1e-3
"""[s] Control period of the cascade."""

ENGINE_TIMESTEP = 5e-4
"""[s] Time step of the engine and the drives."""

SINES_DURATION = 4.0
"""[s] Duration of the runs along sines."""

FADE_TIME = 0.5
"""[s] Time in which the sines rise and fall."""

EXTRA_TIME = 0.01
"""[s] Time by which a reference extends beyond the run."""

PITCH_RATE_RMS = 0.06
"""[rad/s] Rms pitch rate. Engineering choice: ten times the sensor's noise, and within the drives'
forces."""

CORNER_FREQUENCY = 10.0
"""[Hz] Frequency above which the pitch rate falls as a vehicle's does."""

PITCH_COLUMN = 4
"""Column of the pitch rate in a twist."""

PITCH_CHANNEL = "wy"
"""Channel of the sensor that reads the pitch rate."""


class LoggedRun(NamedTuple):
    """A platform driven in pitch, at `k` control instants, and the log of its inertial sensor."""

    motion: Motion
    """reference motion of the controller"""
    time: FloatArray
    """`(k,)` [s]"""
    rate: FloatArray
    """`(k,)` pitch rate [rad/s] of the platform"""
    log: InertialLog
    comparison: InertialComparison
    """comparison of the log with the motion, on a common clock"""

    @property
    def response(self) -> ChannelResponse:
        """The pitch channel of the log against the motion."""
        return self.comparison.responses[PITCH_CHANNEL]

    @property
    def is_coherent(self) -> FloatArray:
        """Mask of the response's frequencies that lie in `MOTION_BAND` and are coherent."""
        response = self.response
        in_band = (response.frequency >= MOTION_BAND[0]) & (response.frequency <= MOTION_BAND[1])
        return np.asarray(in_band & (response.coherence >= MIN_COHERENCE))

    def rate_of(self, motion: Motion) -> FloatArray:
        """Return the pitch rate `(k,)` of a motion at the same times."""
        return motion(self.time).twist[:, PITCH_COLUMN]

    def difference(self, motion: Motion) -> float:
        """Return the rms difference [rad/s] of the platform's pitch rate from a motion's."""
        settled = (self.time > FADE_TIME) & (self.time < self.time[-1] - FADE_TIME)
        return rms((self.rate - self.rate_of(motion))[settled])

    def amplification(self) -> FloatArray:
        """Return the platform's true amplitude ratio at the response's frequencies."""
        stride = round(1.0 / (self.comparison.log.rate * CASCADE_PERIOD))
        reference_rate, platform_rate = (
            rate[::stride] for rate in (self.rate_of(self.motion), self.rate)
        )
        window_size = 2 * (len(self.response.frequency) - 1)
        ratio = spectra(
            reference_rate, platform_rate, stride * CASCADE_PERIOD, window_size, detrend="linear"
        )
        return np.asarray(np.abs(ratio.transfer))


class PlatformLogs(NamedTuple):
    """All runs of the platform that the case evaluates."""

    hardware: Platform
    reference: Motion
    """reference motion: sines over the whole band"""
    runs: dict[str, LoggedRun]
    """runs along the reference, by gains"""
    ratio_corrected: dict[str, LoggedRun]
    """runs along the reference divided by the logged amplitude ratio, by gains"""
    phase_corrected: LoggedRun
    """run with scaled gains along the reference corrected by ratio and phase"""


def platform_logs() -> PlatformLogs:
    """Run the platform along the reference, and along references that its logs have corrected."""
    hardware = load("stewart", "hardware")
    mass_ratio = lumped_mass(hardware)[0] / lumped_mass(load("stewart"), drives=False)[0]
    gains = {PRINTED_GAINS: 1.0, PROPORTIONAL_GAINS: float(mass_ratio)}
    frequency = np.arange(MOTION_BAND[0], MOTION_BAND[1] + 0.25, 0.5)
    spectrum_shape = 1.0 / np.hypot(1.0, frequency / CORNER_FREQUENCY)
    amplitudes = (
        PITCH_RATE_RMS
        * np.sqrt(2.0 / (spectrum_shape**2).sum())
        * spectrum_shape
        / (2.0 * np.pi * frequency)
    )
    sines = MultiSineMotion(
        hardware.home,
        frequencies=frequency,
        amplitude={"pitch": amplitudes},
        phases="random",
        seed=3,
        duration=SINES_DURATION + EXTRA_TIME,
        fade_in=FADE_TIME,
        fade_out=FADE_TIME,
    )
    # Evaluated many times: a spline is ten times faster than 140 sines.
    time = np.arange(round(sines.duration / CASCADE_PERIOD) + 1.0) * CASCADE_PERIOD
    pitch = sines.axes(time).values[:, sines.axis_names.index("pitch")]
    reference = _in_pitch(sines.center, time, pitch)
    runs = {name: logged(hardware, reference, factor) for name, factor in gains.items()}
    changes = {name: compensate(reference, run.comparison) for name, run in runs.items()}
    ratio_corrected = {
        name: logged(hardware, _recorded_motion(change), gains[name])
        for name, change in changes.items()
    }
    with_phase = compensate(reference, runs[PROPORTIONAL_GAINS].comparison, phase=True)
    phase_corrected = logged(hardware, _recorded_motion(with_phase), gains[PROPORTIONAL_GAINS])
    return PlatformLogs(hardware, reference, runs, ratio_corrected, phase_corrected)


def logged(
    machine: Platform, motion: Motion, gain: float, duration: float = SINES_DURATION
) -> LoggedRun:
    """Return the run of a machine along a motion, by the cascade with `gain` times its gains."""
    printed_gain = Cascade(machine).loop_gains[0, 0]
    controller = Cascade(
        machine,
        motion,
        period=CASCADE_PERIOD,
        velocity_gain=gain * printed_gain,
        feedforward_start=0.0,
        feedforward_rise=0.0,
    )
    reference = controller.reference
    engine = make_engine("analytic", machine, ENGINE_TIMESTEP, "fast")
    trajectory = simulate(
        machine,
        duration,
        pose=reference.pose[0],
        twist=reference.twist[0],
        controller=controller,
        engine=engine,
        every=round(CASCADE_PERIOD / ENGINE_TIMESTEP),
        progress=False,
    )
    engine.close()
    sensor = machine.parameters.imu
    assert sensor is not None and sensor.output_rate is not None
    # The loop reads the sensor every period; it writes a line when it has a new reading.
    stride = round(1.0 / (sensor.output_rate * CASCADE_PERIOD))
    readings = trajectory.signals["inertial"][::stride]
    log = InertialLog(trajectory.signals["time"][::stride], readings[:, :3], readings[:, 3:])
    comparison = compare_log(machine, motion, log, sensor, offset=0.0)
    return LoggedRun(motion, trajectory.time, trajectory.twist[:, PITCH_COLUMN], log, comparison)


def _recorded_motion(change: Compensation) -> RecordedMotion:
    return _in_pitch(load("stewart").home, change.time, change.axes["pitch"])


def _in_pitch(center: FloatArray, time: FloatArray, pitch: FloatArray) -> RecordedMotion:
    return RecordedMotion(center, time, {"pitch": pitch}, check_size=False)
