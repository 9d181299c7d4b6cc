"""Inertial sensor, encoders and homing of the Stewart thesis.

The sensor is the SiIMU01 of appendix B.5. Its readings are compared with closed forms, its filter
and noise with the data sheet. A tumble test of 500 sensors separates scale factor, misalignment,
bias and sensitivity to specific force, whose standard deviations the data sheet gives. The encoders
have 4096 counts over 5.08 mm and an index pulse; they are decoded and homed (section 4.3.2).

Then follows section 4.3.2.4. The platform with its drives, encoders and the thesis' cascade moves
in pitch, from 0.5 to 70 Hz, and carries the sensor with its filter. The log (appendix A.4) gives
the amplification, by which the reference is corrected beforehand, as chapter 5 suggests. Log and
reference have one clock: no delay is removed, and the platform's delay stays in every difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from twin.analysis.platform import Platform, load
from twin.basics.arrays import FloatArray
from twin.machine.hardware.sensors import InertialSensor
from twin.model.motions import REST
from twin.motion import SineMotion
from twin.plant.inertial_sensor import InertialUnit
from twin.validation.case import Case
from twin.validation.cases.inertial_sensor.amplification import (
    amplification_measures,
    amplification_plots,
    amplification_statements,
    amplification_table,
)
from twin.validation.cases.inertial_sensor.counting import counting_measures
from twin.validation.cases.inertial_sensor.data_sheet import (
    DAMPING_RATIO,
    at_rest,
    sheet_measures,
    tilted_sensor,
)
from twin.validation.cases.inertial_sensor.platform_log import platform_logs
from twin.validation.measures.metrics import largest
from twin.validation.published.papers import THESIS
from twin.validation.results import CaseResult, Entry, Measure, Statement

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

CASE = Case(
    "inertial_sensor",
    __doc__,
    machines=("stewart",),
    because="the thesis describes the sensors of its own machine, stewart",
    cost=4.0,
)

PLATFORM_RUNS = True
"""Whether the platform moves with the sensor, which takes most of the time."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    measures = [
        *_sensor(platform),
        *sheet_measures(thesis_sensor()),
        *counting_measures(platform),
    ]
    if not PLATFORM_RUNS:
        return CASE.result(platform, measures)
    logs = platform_logs()
    measures += amplification_measures(logs)
    statements = (_noise_statement(), *amplification_statements(logs))
    plots, tables = amplification_plots(logs), (amplification_table(logs),)
    return CASE.result(platform, measures, plots, statements, tables)


def thesis_sensor() -> InertialSensor:
    """Return the inertial sensor of the thesis' machine, from its hardware configuration."""
    sensor = load("stewart", "hardware").parameters.imu
    return sensor or InertialSensor(source="none")


def _sensor(platform: Platform) -> Iterator[Entry]:
    sensor, to_platform = tilted_sensor((0.1, -0.2, 0.05))
    unit = InertialUnit(sensor, gravity=9.81)
    up = to_platform.inv().apply([0.0, 0.0, 9.81])
    error = largest(unit.start(platform.home, REST) - [*up, 0.0, 0.0, 0.0])
    yield Measure("reading at rest against gravity", error, 1e-13, "rounding", unit="m/s2")
    motion = SineMotion(
        platform.home, amplitude={"pitch": 0.05, "x": 0.01}, frequency=3.0, duration=1.0
    )
    time, step = np.linspace(0.2, 0.8, 50), 2e-3
    path = []
    for k in range(-3, 4):
        pose = motion(time + k * step).pose
        path.append(pose[:, :3] + _rotation(pose).apply(sensor.position))
    weights = np.array([1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90]) / step**2
    specific_force = np.einsum("k,kij->ij", weights, np.array(path)) + [0.0, 0.0, 9.81]  # noqa: RUF005
    sample = motion(time)
    to_sensor = (_rotation(sample.pose) * to_platform).inv()
    log = unit.measure(time, *sample)
    yield Measure(
        "specific force off the reference point against differences of the sensor's path",
        largest(log.specific_force - to_sensor.apply(specific_force)),
        1e-8,
        "sixth-order differences over 2 ms: (omega step)^6 / 560 and rounding / step^2",
        unit="m/s2",
    )
    yield Measure(
        "angular rate of a tilted sensor against the motion's",
        largest(log.angular_rate - to_sensor.apply(sample.twist[:, 3:])),
        1e-14,
        "rounding of two rotations of rates below 1 rad/s",
        unit="rad/s",
    )
    yield from _filter(platform)
    count = 20_001
    noisy = InertialUnit(thesis_sensor()).measure(np.arange(count) * 2e-3, *at_rest(count))
    stated = np.repeat([5e-3 * 9.80665, np.radians(0.5)], 3)
    error = largest(noisy.readings.std(axis=0) / stated - 1.0)
    reason = "largest of six deviations of 8,000 readings each, standard error 1 percent"
    yield Measure("noise against the data sheet: relative error", error, 0.05, reason)


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
    logs = [InertialUnit(errorless).measure(time, *sample[:given]) for given in (2, 3)]
    settled = time > 0.2
    wave = np.exp(2j * np.pi * frequency * time[settled])
    basis = np.column_stack([wave.real, -wave.imag])
    true, *read = (
        complex(*np.linalg.lstsq(basis, rates[settled], rcond=None)[0])
        for rates in (sample.twist[:, 4], *(log.angular_rate[:, 1] for log in logs))
    )
    response = np.array(read) / true
    yield Measure(
        "phase of the filter at 75 Hz against -90 deg",
        largest(np.degrees(np.angle(response)) + 90.0),
        0.05,
        "the bandwidth in appendix B.5 is defined by it; what is left of the transient",
        unit="deg",
    )
    yield Measure(
        "gain of the filter at 75 Hz against 1 / (2 damping ratio): relative error",
        largest(2.0 * DAMPING_RATIO * np.abs(response) - 1.0),
        5e-4,
        "second-order filter with an adopted damping ratio; its input is held over steps of 0.1 ms "
        "at the mean of both ends, which reduces the gain by (w h)^2 / 6 = 3.7e-4",
    )


def _noise_statement() -> Statement:
    bandwidth = np.pi * 75.0 / (4.0 * thesis_sensor().damping_ratio)
    root = np.sqrt(2.0 * bandwidth)
    random_walk = 0.5 / root * 60.0
    in_band = 1.0 / 60.0 * root / 9.80665e-3
    return THESIS["sensor_noise"].judged(
        f"White noise of 0.5 deg/s in band is a random walk of {random_walk:.1f} deg/sqrt(h); a "
        f"random walk of 1.0 m/s/sqrt(h) is {in_band:.0f} mg in band.",
        bool(abs(random_walk - 1.0) < 0.05 and abs(in_band - 5.0) < 0.05),
        "random walk and noise in band of the data sheet do not belong to one white noise; the "
        "noise in band is modelled",
    )


def _rotation(poses: FloatArray) -> Rotation:
    """Return the rotations of poses `(k, 7)`, platform to base."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(poses[:, [4, 5, 6, 3]])
