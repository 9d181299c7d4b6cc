"""A platform with a known resonance, driven with and without pre-compensation from its log."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.analysis.inertial.compensation import Compensation, compensate
from twin.analysis.inertial.response import ChannelResponse, compare_log
from twin.basics.arrays import FloatArray
from twin.machine.hardware.sensors import InertialSensor
from twin.motion import Motion, MultiSineMotion, RecordedMotion
from twin.plant.inertial_sensor import InertialUnit
from twin.simulation.platform import Platform, load
from twin.validation.results import Curve

RESONANCE, DAMPING = 90.0, 0.3
LEAD, STEP = 0.5, 5e-4


class ResonantDrive(NamedTuple):
    """The resonant platform driven, and driven again by compensated references."""

    response: ChannelResponse
    change: Compensation
    errors: dict[str, float]
    """reference -> rms error of the pitch rate [rad/s]"""
    curves: tuple[Curve, ...]


def thesis_sensor() -> InertialSensor:
    """Return the inertial sensor of the thesis' machine, from its hardware configuration."""
    sensor = load("stewart", "hardware").parameters.imu
    return sensor or InertialSensor(source="none")


def drive_resonant(platform: Platform) -> ResonantDrive:
    """Drive the resonant platform in pitch, read its log, and drive it again compensated."""
    frequency = np.arange(0.5, 80.0, 0.5)
    size = 0.2 * np.sqrt(2.0 / len(frequency)) / (2.0 * np.pi * frequency)
    motion = MultiSineMotion(
        platform.home,
        frequencies=frequency,
        amplitude={"pitch": size},
        phases="random",
        seed=3,
        duration=12.0,
        fade_in=1.0,
        fade_out=1.0,
    )
    actual = _followed(motion)
    time = np.arange(int(actual.duration / STEP)) * STEP
    sensor = thesis_sensor()
    log = InertialUnit(sensor, seed=1).measure(time, *actual(time))
    found = compare_log(platform, motion, log, sensor)
    change = compensate(motion, found)
    runs = {"as wanted": actual}
    for name, given in (
        ("amplitude compensated", change),
        ("amplitude and phase compensated", compensate(motion, found, phase=True)),
    ):
        reference = RecordedMotion(platform.home, given.time, given.axes, check_size=False)
        runs[name] = _followed(reference)
    times = np.asarray(np.arange(int(motion.duration / STEP)) * STEP, dtype=np.float64)
    want = motion.axes(times).rates[:, 4]
    rates = {name: _rate(run, times) for name, run in runs.items()}
    close = (times > 5.0) & (times < 5.3)
    curves = [Curve("wanted", times[close], want[close], "dash")]
    curves += [Curve(name, times[close], rate[close]) for name, rate in rates.items()]
    errors = {name: _error(times, want, rate) for name, rate in rates.items()}
    return ResonantDrive(found.responses["wy"], change, errors, tuple(curves))


def resonance(frequency: FloatArray) -> NDArray[np.complex128]:
    """Return the platform's transfer `(m,)` at frequencies [Hz]: 4.3 dB at 70 Hz."""
    ratio = frequency / RESONANCE
    return np.asarray(1.0 / (1.0 - ratio**2 + 2j * DAMPING * ratio))


def _followed(motion: Motion) -> RecordedMotion:
    """Return the resonant platform's motion, with rest before and after it."""
    time = np.arange(int((motion.duration + 2.0 * LEAD) / STEP) + 1) * STEP
    pitch = motion.axes(np.clip(time - LEAD, 0.0, motion.duration)).values[:, 4]
    frequency = np.asarray(np.fft.rfftfreq(len(time), STEP), dtype=np.float64)
    spectrum = np.fft.rfft(pitch) * resonance(frequency)
    columns = {"pitch": np.fft.irfft(spectrum, len(time))}
    return RecordedMotion(motion.center, time, columns, check_size=False)


def _rate(actual: Motion, time: FloatArray) -> FloatArray:
    return np.asarray(actual.axes(np.clip(time + LEAD, 0.0, actual.duration)).rates[:, 4])


def _error(time: FloatArray, want: FloatArray, have: FloatArray) -> float:
    """Return the rms error at the delay where it is smallest."""
    inside = (time > 1.0) & (time < time[-1] - 1.0)
    center, width = 1e-3, 5e-3
    least = np.inf
    for _ in range(3):
        delays = np.linspace(center - width, center + width, 21)
        errors = [
            float(np.sqrt(np.mean((np.interp(time + d, time, have) - want)[inside] ** 2)))
            for d in delays
        ]
        center, width, least = float(delays[int(np.argmin(errors))]), width / 10.0, min(errors)
    return least
