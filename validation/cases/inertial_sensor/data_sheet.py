"""Errors of many inertial sensors against their data sheet, read from what the sensors write down.

The data sheet was typed a second time (`published/machines/stewart.toml`). Nothing looks at the
errors that a sensor has drawn: a tumble test separates them, as on a rate table in a laboratory.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, exp, pi, sin, sqrt
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.hardware.sensors import InertialSensor
from twin.plant.inertial_sensor import InertialUnit
from twin.validation.published.machines import typed_numbers
from twin.validation.results import Entry, Measure

SENSORS = 500
"""Sensors whose errors are separated."""

STANDARD_ERRORS = 5.0
"""Bound of a statistic, in standard errors: a chance of 6e-7 each, and the seeds are fixed."""

GRAVITY, STANDARD_GRAVITY = 9.81, 9.80665
"""[m/s2] Where the sensors are tumbled, and the g of the data sheet."""

TURNING = 2.0
"""[rad/s] Rate of the table."""

DRIFTS = 4000
"""Readings of the wandering bias, one correlation time apart."""

CORRELATION_TIME = 300.0
"""[s] Adopted for the wandering bias: the data sheet has none."""

NOISE_READINGS, NOISE_INTERVAL = 8000, 2e-3
"""Readings of the noise, and [s] between two of them."""

DAMPING_RATIO = sqrt(0.5)
"""Adopted for the sensor's filter: the data sheet has none."""

IDENTITY = (1.0, 0.0, 0.0, 0.0)


def sheet_measures(sensor: InertialSensor) -> Iterator[Entry]:
    """Yield what many sensors of one kind write down, against their data sheet."""
    sheet = {
        key.removeprefix("imu."): float(value)
        for key, value in typed_numbers("stewart")["hardware"].items()
        if key.startswith("imu.")
    }
    # Without filter, noise and output rate every reading is that of its instant.
    still = _changed(sensor, {"noise": 0.0}, bandwidth=None, output_rate=None)
    yield from _spreads(_changed(still, {"instability": 0.0}), sheet)
    yield from _wandering(still, sheet)
    yield from _ranges(_changed(still, {"instability": 0.0}), sheet)
    yield _output_rate(sensor)
    yield _noise_over_time(sensor, sheet)
    yield _turntable()


def _changed(sensor: InertialSensor, triads: dict[str, float], **others: Any) -> InertialSensor:
    """Return a sensor with entries of both triads, and others of its own, changed."""
    assert sensor.accelerometers is not None and sensor.gyroscopes is not None
    both = {
        name: getattr(sensor, name).model_copy(update=triads)
        for name in ("accelerometers", "gyroscopes")
    }
    return sensor.model_copy(update=both | others)


def _tumbled() -> tuple[FloatArray, FloatArray]:
    """Return poses `(12, 7)` and twists `(12, 6)`: each axis up and down, then turned both ways."""
    from scipy.spatial.transform import Rotation

    poses, twists = np.tile([0.0, 0.0, 0.0, *IDENTITY], (12, 1)), np.zeros((12, 6))
    for axis in range(3):
        for row, sign in ((2 * axis, 1.0), (2 * axis + 1, -1.0)):
            up = sign * np.eye(3)[axis]
            turn = Rotation.align_vectors([[0.0, 0.0, 1.0]], [up])[0]
            poses[row, 3:] = turn.as_quat(scalar_first=True)
            twists[row + 6, 3 + axis] = sign * TURNING
    return poses, twists


def separated_errors(sensor: InertialSensor, count: int) -> dict[str, FloatArray]:
    """Return the errors `(count, k)` of sensors with the seeds 0, 1, ... from a tumble test."""
    poses, twists = _tumbled()
    time, none = np.arange(12.0), np.zeros((12, 6))
    units = (InertialUnit(sensor, gravity=GRAVITY, seed=seed) for seed in range(count))
    read = np.array([unit.measure(time, poses, twists, none).readings for unit in units])
    # Half of the difference of both signs is a column of the matrix, half of the sum the rest.
    columns = 0.5 * (read[:, 0::2] - read[:, 1::2])
    mean = 0.5 * (read[:, 0::2] + read[:, 1::2])
    forces, rates = columns[:, :3] / GRAVITY, columns[:, 3:] / TURNING
    diagonal = np.eye(3, dtype=bool)
    return {
        "accelerometers.scale_factor": forces[:, :, :3][:, diagonal] - 1.0,
        "accelerometers.misalignment": forces[:, :, :3][:, ~diagonal],
        "accelerometers.bias": mean[:, :3, :3].mean(axis=1),
        "gyroscopes.scale_factor": rates[:, :, 3:][:, diagonal] - 1.0,
        "gyroscopes.misalignment": rates[:, :, 3:][:, ~diagonal],
        "gyroscopes.acceleration_sensitivity": STANDARD_GRAVITY
        * forces[:, :, 3:].reshape(count, 9),
        "gyroscopes.bias": mean[:, :3, 3:].mean(axis=1),
    }


def _spreads(sensor: InertialSensor, sheet: dict[str, float]) -> Iterator[Entry]:
    """Yield root mean squares, means and correlations of the errors of many sensors."""
    found = separated_errors(sensor, SENSORS)
    means = []
    for name, errors in found.items():
        triad, _, kind = name.partition(".")
        number = errors.size
        # The square sum of n normal numbers is chi-square: a standard error of 1 / sqrt(2 n).
        bound = STANDARD_ERRORS / sqrt(2.0 * number)
        yield Measure(
            f"{triad}: spread of {kind.replace('_', ' ')} over {SENSORS} sensors, relative error",
            abs(float(np.sqrt(np.mean(errors**2))) / sheet[name] - 1.0),
            bound,
            f"chi-square of {number} draws: five standard errors of 1 / sqrt(2 n)",
        )
        means.append(abs(errors.mean()) / sheet[name] * sqrt(number))
    yield Measure(
        "means of the errors of many sensors, largest in standard errors",
        max(means),
        STANDARD_ERRORS,
        "the data sheet's numbers are standard deviations about zero",
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        table = np.asarray(np.corrcoef(np.hstack(list(found.values())), rowvar=False))
    yield Measure(
        "correlation of two errors over many sensors, largest in standard errors",
        np.abs(table - np.eye(len(table))).max() * sqrt(SENSORS),
        STANDARD_ERRORS,
        f"each of the {len(table)} errors is drawn by itself; 1 / sqrt({SENSORS}) each",
    )


def _wandering(sensor: InertialSensor, sheet: dict[str, float]) -> Iterator[Entry]:
    """Yield spread and memory of the gyroscopes' wandering bias."""
    motion = np.tile([0.0, 0.0, 0.0, *IDENTITY], (DRIFTS, 1)), np.zeros((DRIFTS, 6))
    settled = _changed(sensor, {"bias": 0.0, "scale_factor": 0.0, "misalignment": 0.0})
    assert settled.gyroscopes is not None
    exact = settled.gyroscopes.model_copy(update={"acceleration_sensitivity": 0.0})
    unit = InertialUnit(settled.model_copy(update={"gyroscopes": exact}), seed=11)
    time = np.arange(float(DRIFTS)) * CORRELATION_TIME
    bias = unit.measure(time, *motion).angular_rate / sheet["gyroscopes.instability"]
    kept, number = exp(-1.0), 3.0 * DRIFTS
    yield Measure(
        "gyroscopes: spread of the wandering bias, relative error",
        abs(float(np.sqrt(np.mean(bias**2))) - 1.0),
        STANDARD_ERRORS * sqrt((1.0 + kept**2) / (1.0 - kept**2) / (2.0 * number)),
        f"{number:.0f} readings one correlation time apart: five standard errors",
    )
    yield Measure(
        f"gyroscopes: correlation of the wandering bias after {CORRELATION_TIME:g} s, off 1 / e",
        abs(float(np.mean(bias[1:] * bias[:-1]) / np.mean(bias**2)) - kept),
        STANDARD_ERRORS * sqrt((1.0 - kept**2) / number),
        "a first-order process: five standard errors; the time is adopted",
    )


def _ranges(sensor: InertialSensor, sheet: dict[str, float]) -> Iterator[Entry]:
    """Yield the largest readings beyond the ranges, against those of the data sheet."""
    rows = 2
    poses, twists = np.tile([0.0, 0.0, 0.0, *IDENTITY], (rows, 1)), np.zeros((rows, 6))
    accelerations = np.zeros((rows, 6))
    signs = np.array([1.0, -1.0])[:, None]
    accelerations[:, :3] = 1.5 * sheet["accelerometers.range"] * signs
    twists[:, 3:] = 1.5 * sheet["gyroscopes.range"] * signs
    unit = InertialUnit(sensor, gravity=0.0, seed=3)
    read = unit.measure([0.0, 1.0], poses, twists, accelerations).readings
    limits = np.repeat([sheet["accelerometers.range"], sheet["gyroscopes.range"]], 3)
    beyond = np.abs(read / (signs * limits) - 1.0).max()
    below = unit.measure([0.0, 1.0], poses, 0.6 * twists, 0.6 * accelerations).readings
    true = 0.9 * limits * signs
    yield Measure(
        "readings beyond the ranges against the ranges, relative",
        beyond,
        1e-10,
        "typed to twelve digits",
    )
    yield Measure(
        "readings at nine tenths of the ranges against the truth, relative",
        np.abs(below / true - 1.0).max(),
        STANDARD_ERRORS
        * sqrt(
            sheet["accelerometers.scale_factor"] ** 2
            + 2.0 * sheet["accelerometers.misalignment"] ** 2
        ),
        "five standard deviations of scale and misalignment: no reading is cut",
    )


def _output_rate(sensor: InertialSensor) -> Measure:
    """Return the largest error of the times of readings, of a motion given every millisecond."""
    rows = 1001
    motion = np.tile([0.0, 0.0, 0.0, *IDENTITY], (rows, 1)), np.zeros((rows, 6))
    time = InertialUnit(sensor, seed=1).measure(np.arange(rows) * 1e-3, *motion).time
    expected = np.arange(201) * 5e-3
    wrong = np.inf if len(time) != len(expected) else np.abs(time - expected).max()
    reason = "appendix A.4 reads 200 lines a second; rounding of times"
    return Measure("times of the readings over a second", wrong, 1e-9, reason, unit="s")


def _noise_over_time(sensor: InertialSensor, sheet: dict[str, float]) -> Measure:
    """Return the error of the correlation of two readings of noise, 2 ms apart."""
    rows = NOISE_READINGS
    motion = np.tile([0.0, 0.0, 0.0, *IDENTITY], (rows, 1)), np.zeros((rows, 6))
    free = sensor.model_copy(update={"output_rate": None})
    read = InertialUnit(free, seed=5).measure(np.arange(rows) * NOISE_INTERVAL, *motion).readings
    noise = read - read.mean(axis=0)
    found = (noise[1:] * noise[:-1]).sum(axis=0) / (noise**2).sum(axis=0)
    phase = 2.0 * pi * sheet["bandwidth"] * NOISE_INTERVAL
    ringing = phase * sqrt(1.0 - DAMPING_RATIO**2)
    size = exp(-DAMPING_RATIO * phase)
    expected = size * (cos(ringing) + DAMPING_RATIO * phase / ringing * sin(ringing))
    return Measure(
        "correlation of the noise over 2 ms, against that of white noise behind the filter",
        abs(found.mean() - expected),
        STANDARD_ERRORS / sqrt(6.0 * rows),
        "exp(-z w t) (cos q t + z w / q sin q t), q = w sqrt(1 - z^2); five standard errors",
    )


def _turntable() -> Measure:
    """Return the error of readings taken step by step beside the axis of a turntable.

    The mean of the acceleration over a step h is centripetal and smaller than w^2 r by
    sin(w h / 2) / (w h / 2), the chord per arc.
    """
    arm, step = np.array([0.3, -0.2, 0.1]), 0.01
    unit = InertialUnit(InertialSensor(source="none", position=(0.3, -0.2, 0.1)), gravity=GRAVITY)
    twist = np.array([0.0, 0.0, 0.0, 0.0, 0.0, TURNING])
    pose = np.array([0.0, 0.0, 0.0, *IDENTITY])
    unit.start(pose, twist)
    half = 0.5 * TURNING * step
    expected = np.array([*(-(TURNING**2) * sin(half) / half * arm[:2]), GRAVITY, 0.0, 0.0, TURNING])
    worst = 0.0
    for k in range(1, 5):
        # Quaternions of both signs are one attitude.
        sign = -1.0 if k == 3 else 1.0
        pose = np.array([0.0, 0.0, 0.0, sign * cos(k * half), 0.0, 0.0, sign * sin(k * half)])
        worst = max(worst, float(np.abs(unit.step(pose, twist, step) - expected).max()))
    reason = "mean of the acceleration over a step of 10 ms, in closed form; rounding per step"
    return Measure("readings beside the axis of a turntable", worst, 1e-12, reason, unit="m/s2")
