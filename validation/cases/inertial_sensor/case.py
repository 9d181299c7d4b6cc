"""Inertial sensor, encoders and homing of the Stewart thesis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.frequency.response import spectra
from twin.analysis.inertial import decibels
from twin.analysis.platform import Platform, load
from twin.machine.hardware.drive import InertialSensor
from twin.model.machine_base import ZERO_VECTOR
from twin.motion import SineMotion
from twin.plant.encoder import EncoderDecoder, Encoders
from twin.plant.homing import Homing, HomingInputs, homing_settings
from twin.plant.inertial_sensor import InertialUnit
from twin.validation.case import (
    CaseResult,
    Entry,
    Measure,
    Statement,
    validation_case,
)
from twin.validation.cases.inertial_sensor.data_sheet import (
    CASCADE_PERIOD,
    DAMPING_RATIO,
    PRINTED_GAINS,
    PROPORTIONAL_GAINS,
    LoggedRun,
    PlatformLogs,
    at_rest,
    platform_logs,
    sheet_measures,
    tilted_sensor,
)
from twin.validation.measures.sampling import largest, rms, rotation_of
from twin.validation.published.printed import STEWART_THESIS

COUNTS_PER_TURN = 4096
"""Encoder counts over one turn of the motor."""

COUNT_LENGTH = 5.08e-3 / COUNTS_PER_TURN
"""[m] Travel of one count."""

CONTROL_PERIOD = 1e-3
"""[s] Control period of the homing."""

SLOW_BAND = (1.0, 15.0)
"""[Hz] Band far below the filter's 75 Hz, in which its delay does not depend on the frequency."""


PLATFORM_RUNS = True
"""Whether the case also runs the platform with its sensor, which takes most of the time."""


def counting_measures(platform: Platform) -> Iterator[Entry]:
    """Yield errors of encoders on a machine's six actuators, in motion and after homing."""
    rng = np.random.default_rng(5)
    encoders = Encoders(
        np.full(6, COUNT_LENGTH), COUNTS_PER_TURN, platform.minimum_coordinates, seed=2
    )
    steps = rng.integers(-2047, 2048, size=(2000, 6))
    travel = np.concatenate([-np.ones((1, 6)), np.zeros((1, 6)), np.cumsum(steps, axis=0)])
    readings = encoders.readings(encoders.index_coordinates + COUNT_LENGTH * travel)[1:]
    decoder = EncoderDecoder(encoders.resolution, encoders.counts_per_turn)
    decoder.start(readings[0], encoders.index_coordinates)
    decoded, faults = decoder.decode(readings)
    error = largest(decoded - travel[1:]) + faults.sum()
    yield Measure(
        "decoded counts against the travel, and faults",
        error,
        0.0,
        "steps of less than half a turn are decoded exactly and without a fault",
    )
    settings = homing_settings(
        platform, encoders.resolution, encoders.counts_per_turn, encoders.index_coordinates
    )
    homing = Homing(settings)
    coordinates = platform.minimum_coordinates + np.linspace(-1e-3, 8e-3, 6)
    switch_coordinates = platform.minimum_coordinates + rng.uniform(-1.5e-3, 1.5e-3, 6)
    encoders.power_up(coordinates)
    time, homed = 0.0, False
    while not homed and time < 20.0:
        output = homing.update(
            HomingInputs(time, encoders.raw, (coordinates <= switch_coordinates).astype(float))
        )
        error = largest(output.coordinates - coordinates) / COUNT_LENGTH
        coordinates = coordinates + CONTROL_PERIOD * output.speeds
        encoders.count(coordinates)
        homed, time = output.ready or bool(output.fault), time + CONTROL_PERIOD
    yield Measure(
        "coordinates after homing against the actuators', in counts",
        error,
        0.5 + 1e-6,
        "the index pulse is one count wide; rounding of a million counts. Switches are up to 1.5 "
        "mm off, which is less than half a turn",
        at_bound=True,
    )
    yield Measure(
        "switch errors found by homing against the true ones, in counts",
        largest(homing.corrections - (settings.switch - switch_coordinates)) / COUNT_LENGTH,
        CONTROL_PERIOD * float(settings.index_speed.max()) / COUNT_LENGTH + 1.0,
        "a switch is seen up to one period of 1 ms late; two readings are off by half a count",
    )


def amplification_measures(logs: PlatformLogs) -> Iterator[Entry]:
    """Yield errors of the ratios in the logs, against the platform's true motion."""
    for name, run in logs.runs.items():
        coherent = run.is_coherent
        error = decibels(run.response.amplification[coherent] / run.amplification()[coherent])
        noise_level = 20.0 / np.log(10.0) * rms(run.response.uncertainty[coherent])
        yield Measure(
            f"{name}: amplification from the log against the platform's own, rms at coherent "
            "frequencies",
            rms(error),
            1.0,
            f"noise and backlash cause {noise_level:.2f} dB; the filter and the steps cause the "
            "rest",
            "dB",
        )
    log_delay, group_delay = delay_of_log(logs.runs[PROPORTIONAL_GAINS]), filter_delay()
    yield Measure(
        f"delay of the log against the filter's group delay of {1e3 * group_delay:.2f} ms, error",
        abs(log_delay - group_delay),
        2e-4,
        "noise at the frequencies up to 15 Hz; the log's sample time is 5 ms",
        "s",
    )
    uncompensated = logs.runs[PROPORTIONAL_GAINS].difference(logs.reference)
    yield Measure(
        f"{PROPORTIONAL_GAINS}: difference from the reference without compensation, per that with "
        "amplification and phase compensated",
        uncompensated / logs.phase_corrected.difference(logs.reference),
        5.0,
        "an amplification known to 0.5 dB, and the phase as well, leave 5 of 44 percent",
        at_least=True,
    )


def filter_delay() -> float:
    """Return the group delay [s] of the sensor's filter at low frequencies: 2 zeta / omega."""
    sensor = thesis_sensor()
    return 2.0 * sensor.damping_ratio / (2.0 * np.pi * (sensor.bandwidth or np.inf))


def delay_of_log(run: LoggedRun) -> float:
    """Return the delay [s] of the readings behind the platform, from the slope of the phase."""
    stride = round(1.0 / (run.comparison.log.rate * CASCADE_PERIOD))
    # Column 1 is the rate about y, the pitch axis.
    platform_rate, sensor_rate = run.rate[::stride], run.log.angular_rate[:, 1]
    spectrum = spectra(
        platform_rate,
        sensor_rate,
        stride * CASCADE_PERIOD,
        round(1.0 / (stride * CASCADE_PERIOD)),
        detrend="linear",
    )
    in_band = (spectrum.frequency >= SLOW_BAND[0]) & (spectrum.frequency <= SLOW_BAND[1])
    omega, weight = 2.0 * np.pi * spectrum.frequency[in_band], np.abs(spectrum.cross[in_band])
    return float(
        -(weight * omega * np.angle(spectrum.cross[in_band])).sum() / (weight * omega**2).sum()
    )


def amplification_statements(logs: PlatformLogs) -> tuple[Statement, ...]:
    """Return the thesis' statement about compensation and our result, with the printed gains."""
    printed, proportional = logs.runs[PRINTED_GAINS], logs.runs[PROPORTIONAL_GAINS]
    gyroscopes = thesis_sensor().gyroscopes
    assert gyroscopes is not None
    remaining = {name: run.difference(logs.reference) for name, run in logs.ratio_corrected.items()}
    return (
        STEWART_THESIS["decreased_demand"].judged(
            "The rms difference of the pitch rates falls from "
            f"{1e3 * printed.difference(logs.reference):.0f} to "
            f"{1e3 * remaining[PRINTED_GAINS]:.0f} mrad/s; with gains in proportion, from "
            f"{1e3 * proportional.difference(logs.reference):.0f} to "
            f"{1e3 * remaining[PROPORTIONAL_GAINS]:.0f} mrad/s. The sensor's noise is "
            f"{1e3 * gyroscopes.noise:.1f} mrad/s.",
            max(remaining.values()) < gyroscopes.noise,
            "the platform also lags, and more at higher frequencies: with the phase compensated as "
            f"well, {1e3 * logs.phase_corrected.difference(logs.reference):.1f} mrad/s remain",
        ),
    )


@validation_case(
    machines=("stewart",),
    because="the thesis describes the sensors of its own machine, stewart",
    run_time=4.0,
)
def check_inertial_sensor(platform: Platform) -> CaseResult:
    """Inertial sensor, encoders and homing of the Stewart thesis.

    The sensor is the SiIMU01 of appendix B.5. Its readings are compared with closed forms, its
    filter and noise with the data sheet. A tumble test of 500 sensors separates scale factor,
    misalignment, bias and sensitivity to specific force, whose standard deviations the data sheet
    gives. The encoders have 4096 counts over 5.08 mm and an index pulse; they are decoded and homed
    (section 4.3.2).

    Then follows section 4.3.2.4. The platform with its drives, encoders and the thesis' cascade
    moves in pitch, from 0.5 to 70 Hz, and carries the sensor with its filter. The log (appendix
    A.4) gives the amplification, by which the reference is corrected beforehand, as chapter 5
    suggests. Log and reference have one clock: no delay is removed, and the platform's delay stays
    in every difference.
    """
    measures = [
        *_sensor(platform),
        *sheet_measures(thesis_sensor()),
        *counting_measures(platform),
    ]
    if not PLATFORM_RUNS:
        return check_inertial_sensor.result(platform, measures)
    logs = platform_logs()
    measures += amplification_measures(logs)
    statements = (_noise_statement(), *amplification_statements(logs))
    return check_inertial_sensor.result(platform, measures, statements=statements)


def thesis_sensor() -> InertialSensor:
    """Return the inertial sensor of the thesis' machine, from its hardware configuration."""
    sensor = load("stewart", "hardware").parameters.imu
    return sensor or InertialSensor(source="none")


def _sensor(platform: Platform) -> Iterator[Entry]:
    sensor, to_platform = tilted_sensor((0.1, -0.2, 0.05))
    unit = InertialUnit(sensor, gravity=9.81)
    gravity_reading = to_platform.inv().apply([0.0, 0.0, 9.81])
    error = largest(unit.start(platform.home, ZERO_VECTOR) - [*gravity_reading, 0.0, 0.0, 0.0])
    yield Measure("reading at rest against gravity", error, 1e-13, "rounding", "m/s2")
    motion = SineMotion(
        platform.home, amplitude={"pitch": 0.05, "x": 0.01}, frequency=3.0, duration=1.0
    )
    time, step = np.linspace(0.2, 0.8, 50), 2e-3
    sensor_path = []
    for k in range(-3, 4):
        pose = motion(time + k * step).pose
        sensor_path.append(pose[:, :3] + rotation_of(pose).apply(sensor.position))
    # Weights of the central difference of sixth order for the second derivative.
    weights = np.array([1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90]) / step**2
    specific_force = np.einsum("k,kij->ij", weights, np.array(sensor_path)) + [0.0, 0.0, 9.81]  # noqa: RUF005
    sample = motion(time)
    to_sensor = (rotation_of(sample.pose) * to_platform).inv()
    log = unit.measure(time, *sample)
    yield Measure(
        "specific force off the reference point against differences of the sensor's path",
        largest(log.specific_force - to_sensor.apply(specific_force)),
        1e-8,
        "sixth-order differences over 2 ms: (omega step)^6 / 560 and rounding / step^2",
        "m/s2",
    )
    yield Measure(
        "angular rate of a tilted sensor against the motion's",
        largest(log.angular_rate - to_sensor.apply(sample.twist[:, 3:])),
        1e-14,
        "rounding of two rotations of rates below 1 rad/s",
        "rad/s",
    )
    yield from _filter(platform)
    sample_count = 20_001
    noisy_log = InertialUnit(thesis_sensor()).measure(
        np.arange(sample_count) * 2e-3, *at_rest(sample_count)
    )
    sheet_noise = np.repeat([5e-3 * 9.80665, np.radians(0.5)], 3)
    error = largest(noisy_log.readings.std(axis=0) / sheet_noise - 1.0)
    yield Measure(
        "noise against the data sheet: relative error",
        error,
        0.05,
        "largest of six deviations of 8,000 readings each, standard error 1 percent",
    )


def _filter(platform: Platform) -> Iterator[Entry]:
    sensor = thesis_sensor()
    frequency = sensor.bandwidth or 0.0
    motion = SineMotion(platform.home, amplitude={"pitch": 1e-3}, frequency=frequency, duration=0.4)
    time = np.arange(4000) * 1e-4
    errorless = sensor.model_copy(
        update={"accelerometers": None, "gyroscopes": None, "output_rate": None}
    )
    sample = motion(time)
    # Accelerations given or not, the sensor takes two ways to the same filter.
    logs = [InertialUnit(errorless).measure(time, *sample[:order]) for order in (2, 3)]
    settled = time > 0.2
    wave = np.exp(2j * np.pi * frequency * time[settled])
    basis = np.column_stack([wave.real, -wave.imag])
    input_amplitude, *output_amplitudes = (
        complex(*np.linalg.lstsq(basis, rates[settled], rcond=None)[0])
        for rates in (sample.twist[:, 4], *(log.angular_rate[:, 1] for log in logs))
    )
    response = np.array(output_amplitudes) / input_amplitude
    yield Measure(
        "phase of the filter at 75 Hz against -90 deg",
        largest(np.degrees(np.angle(response)) + 90.0),
        0.05,
        "the bandwidth in appendix B.5 is defined by it; what is left of the transient",
        "deg",
    )
    yield Measure(
        "gain of the filter at 75 Hz against 1 / (2 damping ratio): relative error",
        largest(2.0 * DAMPING_RATIO * np.abs(response) - 1.0),
        5e-4,
        "second-order filter with an adopted damping ratio; its input is held over steps of 0.1 ms "
        "at the mean of both ends, which reduces the gain by (w h)^2 / 6 = 3.7e-4",
    )


def _noise_statement() -> Statement:
    # A second-order low-pass with the damping ratio zeta has the noise bandwidth pi f / (4 zeta).
    bandwidth = np.pi * 75.0 / (4.0 * thesis_sensor().damping_ratio)
    root = np.sqrt(2.0 * bandwidth)
    random_walk = 0.5 / root * 60.0
    in_band = 1.0 / 60.0 * root / 9.80665e-3
    return STEWART_THESIS["sensor_noise"].judged(
        f"White noise of 0.5 deg/s in band is a random walk of {random_walk:.1f} deg/sqrt(h); a "
        f"random walk of 1.0 m/s/sqrt(h) is {in_band:.0f} mg in band.",
        bool(abs(random_walk - 1.0) < 0.05 and abs(in_band - 5.0) < 0.05),
        "random walk and noise in band of the data sheet do not belong to one white noise; the "
        "noise in band is modelled",
    )
