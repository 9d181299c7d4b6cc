"""Inertial sensor, encoders and homing of the Stewart thesis.

The SiIMU01 of appendix B.5: closed forms, its filter, its noise. A tumble test of 500 sensors
separates scale, misalignment, bias and sensitivity to specific force, whose spreads are those of
the data sheet. Encoders of 4096 counts over 5.08 mm with an index pulse, decoded and homed (section
4.3.2). Then section 4.3.2.4: the platform
with its drives, encoders and the thesis' cascade moves in pitch, from 0.5 to 70 Hz, with the sensor
on it and its filter behind. The log (appendix A.4) gives the amplification, which is taken out of
the reference beforehand, as chapter 5 suggests. Log and reference have one clock: no delay is
searched for, and those of the platform stay in every difference.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform, load
from twin.basics.arrays import FloatArray
from twin.machine.hardware.sensors import InertialSensor
from twin.model.motions import REST
from twin.motion import Motion, SineMotion
from twin.plant.inertial_sensor import InertialUnit
from twin.validation.case import Case
from twin.validation.cases.inertial_sensor.amplification import (
    amplification_measures,
    amplification_plots,
    amplification_statements,
    amplification_table,
)
from twin.validation.cases.inertial_sensor.counting import counting_measures
from twin.validation.cases.inertial_sensor.data_sheet import DAMPING_RATIO, sheet_measures
from twin.validation.cases.inertial_sensor.platform_log import platform_logs
from twin.validation.published.papers import THESIS
from twin.validation.results import CaseResult, Entry, Measure, Statement

CASE = Case(
    "inertial_sensor",
    __doc__,
    machines=("stewart",),
    because="the thesis describes the sensors of its own machine, stewart",
    cost=4.0,
)

PLATFORM_RUNS = True
"""Whether the platform moves with the sensor on it, which takes most of the time."""


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
    exact = InertialSensor(source="none", position=(0.1, -0.2, 0.05), attitude=(0.4, -0.3, 0.2))
    unit = InertialUnit(exact, gravity=9.81)
    up = unit.rotation.T @ [0.0, 0.0, 9.81]
    still = np.abs(unit.start(platform.home, REST) - [*up, 0.0, 0.0, 0.0]).max()
    yield Measure("reading at rest against gravity", still, 1e-13, "rounding", unit="m/s2")
    motion = SineMotion(
        platform.home, amplitude={"pitch": 0.05, "x": 0.01}, frequency=3.0, duration=1.0
    )
    time, step = np.linspace(0.2, 0.8, 50), 2e-3
    path = [_point(motion, time + k * step, exact) for k in range(-3, 4)]
    weights = np.array([1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90]) / step**2
    felt = np.einsum("k,kij->ij", weights, np.array(path)) + [0.0, 0.0, 9.81]  # noqa: RUF005
    pose = motion(time).pose
    read = unit.measure(time, *motion(time)).specific_force @ unit.rotation.T
    error = np.abs(read - _turned(pose, felt, back=True)).max()
    reason = "sixth-order differences over 2 ms: (omega step)^6 / 560 and rounding / step^2"
    yield Measure("lever arm against the path of the point", error, 1e-8, reason, unit="m/s2")
    yield from _filter(platform)
    count = 20_001
    log = InertialUnit(thesis_sensor()).measure(
        np.arange(count) * 2e-3, np.tile(platform.home, (count, 1)), np.zeros((count, 6))
    )
    stated = np.repeat([5e-3 * 9.80665, np.radians(0.5)], 3)
    error = np.abs(log.readings.std(axis=0) / stated - 1.0).max()
    reason = "largest of six of 8,000 readings each: standard error 1 percent"
    yield Measure("noise against the data sheet, relative", error, 0.05, reason)


def _filter(platform: Platform) -> Iterator[Entry]:
    theirs = thesis_sensor()
    frequency = theirs.bandwidth or 0.0
    motion = SineMotion(platform.home, amplitude={"pitch": 1e-3}, frequency=frequency, duration=0.4)
    time = np.arange(4000) * 1e-4
    bare = theirs.model_copy(
        update={"accelerometers": None, "gyroscopes": None, "output_rate": None}
    )
    sample = motion(time)
    rate = InertialUnit(bare).measure(time, *sample[:2]).angular_rate[:, 1]
    late = time > 0.2
    wave = np.exp(2j * np.pi * frequency * time[late])
    basis = np.column_stack([wave.real, -wave.imag])
    read, true = (
        complex(*np.linalg.lstsq(basis, values[late], rcond=None)[0])
        for values in (rate, sample.twist[:, 4])
    )
    error = abs(float(np.degrees(np.angle(read / true))) + 90.0)
    reason = "definition of the bandwidth in appendix B.5; rest of the transient"
    yield Measure("phase at 75 Hz, away from -90 deg", error, 0.05, reason, unit="deg")
    yield Measure(
        "amplitude at 75 Hz against one over twice the damping ratio, relative error",
        abs(2.0 * DAMPING_RATIO * abs(read / true) - 1.0),
        5e-4,
        "second-order filter, damping ratio adopted; the mean of both ends of a step of 0.1 ms, "
        "held over it, takes (w h)^2 / 6 = 3.7e-4",
    )


def _noise_statement() -> Statement:
    width = np.pi * 75.0 / (4.0 * thesis_sensor().damping_ratio)
    root = np.sqrt(2.0 * width)
    walk = 0.5 / root * 60.0
    shake = 1.0 / 60.0 * root / 9.80665e-3
    return THESIS["sensor_noise"].judged(
        f"White noise of 0.5 deg/s in band is a random walk of {walk:.1f} deg/sqrt(h); a walk "
        f"of 1.0 m/s/sqrt(h) is {shake:.0f} mg in band.",
        bool(abs(walk - 1.0) < 0.05 and abs(shake - 5.0) < 0.05),
        "the two figures of the sheet are not of one white noise; the in-band one is modelled",
    )


def _point(motion: Motion, time: FloatArray, sensor: InertialSensor) -> FloatArray:
    pose = motion(time).pose
    return pose[:, :3] + _turned(pose, np.tile(sensor.position, (len(time), 1)))


def _turned(pose: FloatArray, vectors: FloatArray, back: bool = False) -> FloatArray:
    from scipy.spatial.transform import Rotation

    rotation = Rotation.from_quat(pose[:, [4, 5, 6, 3]])
    return np.asarray(rotation.apply(vectors, inverse=back))
