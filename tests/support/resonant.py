"""A platform that follows a reference through a known resonance, and its inertial log."""

import numpy as np

import twin
from twin.motion import MultiSineMotion, RecordedMotion
from twin.plant.inertial_sensor import InertialUnit

RESONANCE, DAMPING = 90.0, 0.3
LEAD = 0.8
STEP = 5e-4
THEIRS = twin.load("stewart", "hardware").parameters.imu
SENSOR = THEIRS.model_copy(update={"position": (0.05, 0.02, 0.04)})


def response(frequency):
    """Return the resonance's transfer: 4.3 dB at 70 Hz."""
    ratio = np.asarray(frequency) / RESONANCE
    return 1.0 / (1.0 - ratio**2 + 2j * DAMPING * ratio)


def wanted(duration=15.0):
    """Return a pitch motion from 0.5 to 80 Hz with a flat spectrum of its rate."""
    frequency = np.arange(0.5, 80.0, 0.5)
    size = 0.2 * np.sqrt(2.0 / len(frequency)) / (2.0 * np.pi * frequency)
    return MultiSineMotion(
        twin.load("stewart").home, frequencies=frequency, amplitude={"pitch": size},
        phases="random", seed=3, duration=duration, fade_in=1.0, fade_out=1.0,
    )  # fmt: skip


def followed(motion):
    """Return what the resonant platform does, with rest before and after the motion."""
    time = np.arange(int((motion.duration + 2.0 * LEAD) / STEP) + 1) * STEP
    values = motion.axes(np.clip(time - LEAD, 0.0, motion.duration)).values
    spectrum = np.fft.rfft(values, axis=0)
    spectrum *= response(np.fft.rfftfreq(len(time), STEP))[:, None]
    moved = np.fft.irfft(spectrum, len(time), axis=0)
    names = [name for k, name in enumerate(motion.axis_names) if np.ptp(moved[:, k]) > 0.0]
    columns = {name: moved[:, motion.axis_names.index(name)] for name in names}
    return RecordedMotion(motion.center, time, columns, check_size=False)


def logged(actual, seed=1):
    """Return what the thesis' sensor writes down on that platform."""
    time = np.arange(int(actual.duration / STEP)) * STEP
    return InertialUnit(SENSOR, gravity=9.81, seed=seed).measure(time, *actual(time))


def pitch_rates(motion, actual):
    """Return wanted pitch rates, and those of the platform, at 2 kHz."""
    time = np.arange(int(motion.duration / STEP)) * STEP
    column = motion.axis_names.index("pitch")
    return (
        motion.axes(time).rates[:, column],
        actual.axes(np.clip(time + LEAD, 0.0, actual.duration)).rates[:, column],
    )


def tracking_error(motion, actual):
    """Return the rms error of the pitch rate [rad/s] at the delay where it is smallest."""
    want, have = pitch_rates(motion, actual)
    time = np.arange(len(want)) * STEP
    inside = (time > 1.0) & (time < time[-1] - 1.0)
    delays = np.linspace(-4e-3, 6e-3, 101)
    errors = [np.interp(time + delay, time, have)[inside] - want[inside] for delay in delays]
    return float(min(np.sqrt(np.mean(error**2)) for error in errors))
