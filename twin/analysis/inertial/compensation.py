"""Pre-compensation: a reference changed by the inverse of the measured response.

The conclusion of the thesis suggests that "motion demand can be decreased by the amplification
ratio". Here that is done for every frequency at which the log is coherent.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.inertial.log_file import CHANNELS, table_text
from twin.analysis.inertial.response import ChannelResponse, InertialComparison
from twin.basics.arrays import ComplexArray, FloatArray, positive
from twin.basics.files import write_text
from twin.errors import InputError
from twin.machine.hardware.sensors import InertialSensor
from twin.motion import Motion
from twin.motion.axes import POSITIONS

COHERENT = 0.8
"""Adopted: coherence from which a ratio is trusted."""

LARGEST_CHANGE = 2.0
"""Adopted: most by which a part of the reference is raised or lowered, 6 dB."""

BRIDGE = 3.0
"""[Hz] Adopted: distance from a trusted frequency over which the change fades to none."""

SAMPLE_RATE = 1000.0
"""[Hz] Adopted: of the compensated motion, that of the controllers."""

REST_TIME = 1.0
"""[s] Of rest put around the motion, so that its end does not reach into its beginning."""

TURNS = ("roll", "pitch", "yaw")
"""Angles about x, y, z."""


class Compensation(NamedTuple):
    """A reference with which the platform follows the original motion."""

    time: FloatArray
    """`(k,)` [s]"""
    axes: dict[str, FloatArray]
    """axis -> displacements [m] or angles [rad] `(k,)`, for axes that move"""
    frequency: FloatArray
    """`(m,)` [Hz] of the gains"""
    gains: dict[str, ComplexArray]
    """axis -> factor `(m,)` on the reference"""


def channel_of_axis(axis: str, sensor: InertialSensor) -> str:
    """Return the channel that a motion's axis shows in: the sensor's axis nearest to it.

    Raises:
        InputError: an axis without direction.
    """
    from scipy.spatial.transform import Rotation

    turns = {
        **dict(zip(TURNS, range(3), strict=True)),
        **{f"angle_{a}": k for k, a in enumerate(POSITIONS)},
    }
    if axis in POSITIONS:
        kind, direction = 0, POSITIONS.index(axis)
    elif axis in turns:
        kind, direction = 3, turns[axis]
    else:
        raise InputError("motion", f"its axis {axis!r} shows in no channel of a sensor by itself")
    along = Rotation.from_euler("ZYX", sensor.attitude).as_matrix()[direction]
    return CHANNELS[kind + int(np.abs(along).argmax())]


def inverse_gain(
    response: ChannelResponse,
    frequency: FloatArray,
    *,
    coherent: float = COHERENT,
    largest: float = LARGEST_CHANGE,
    phase: bool = False,
) -> ComplexArray:
    """Return factors `(m,)` on a reference at frequencies [Hz] that undo a response.

    Where the coherence is high, a factor is the inverse of the transfer, from 1 / `largest` to
    `largest`. Farther than `BRIDGE` from such frequencies it is 1. Between frequencies the
    logarithm is interpolated.

    Args:
        response: of the channel.
        frequency: `(m,)` [Hz], from 0 up.
        coherent: coherence from which the response is trusted.
        largest: most by which a part is raised or lowered.
        phase: whether to turn the phases back too. The log must hold delays then: its alignment
            has taken the mean one out.

    Raises:
        InputError: bounds out of range.
    """
    bound, trust = np.log(positive(largest, "largest")), positive(coherent, "coherent")
    if not (bound >= 0.0 and trust <= 1.0):
        raise InputError("coherent, largest", "must be up to one, and one at least")
    size = response.amplification
    trusted = (response.coherence >= trust) & (size > 0.0) & (response.frequency > 0.0)
    if not trusted.any():
        return np.ones(len(frequency), dtype=complex)
    known = response.frequency[trusted]
    logarithm = np.clip(-np.log(size[trusted]), -bound, bound)
    turn = -np.unwrap(np.angle(response.transfer[trusted]))
    away = np.abs(response.frequency[:, None] - known).min(axis=1)
    unknown = response.frequency[(away > BRIDGE) | (response.frequency == 0.0)]
    knots = np.concatenate([known, unknown])
    order = knots.argsort()
    parts = []
    for values in (logarithm, turn if phase else np.zeros_like(turn)):
        joined = np.concatenate([values, np.zeros(len(unknown))])
        parts.append(np.interp(frequency, knots[order], joined[order]))
    return np.asarray(np.exp(parts[0] + 1j * parts[1]))


def compensate(
    motion: Motion,
    comparison: InertialComparison,
    *,
    sample_rate: float = SAMPLE_RATE,
    **options: Any,
) -> Compensation:
    """Return a reference with which the platform follows a motion.

    Args:
        motion: to be followed.
        comparison: of a log with its reference motion.
        sample_rate: of the compensated reference [Hz].
        options: of `inverse_gain`.

    Raises:
        InputError: the motion moves no axis, or one that shows in no channel by itself.
    """
    rate = positive(sample_rate, "sample_rate")
    count = max(2, round(motion.duration * rate) + 1)
    time: FloatArray = np.linspace(0.0, motion.duration, count)
    values = motion.axes(time).values
    rest = round(REST_TIME * rate)
    interval = motion.duration / (count - 1)
    frequency = np.asarray(np.fft.rfftfreq(count + 2 * rest, interval), dtype=np.float64)
    axes, gains = {}, {}
    for k, axis in enumerate(motion.axis_names):
        if not np.ptp(values[:, k]) > 0.0:
            continue
        channel = channel_of_axis(axis, comparison.sensor)
        response = comparison.responses.get(channel)
        gain = np.ones(len(frequency), dtype=complex)
        if response is not None:
            gain = inverse_gain(response, frequency, **options)
        axes[axis], gains[axis] = _filtered(values[:, k], gain, rest), gain
    if not axes:
        raise InputError("motion", "moves no axis")
    return Compensation(time, axes, frequency, gains)


def _filtered(values: FloatArray, gain: ComplexArray, rest: int) -> FloatArray:
    """Return samples with their spectrum changed; both ends stay where they are."""
    padded = np.pad(values, rest, mode="edge")
    line = np.linspace(padded[0], padded[-1], len(padded))
    changed = np.fft.irfft(gain * np.fft.rfft(padded - line), len(padded)) + line
    kept = changed[rest : len(padded) - rest]
    off = kept[[0, -1]] - values[[0, -1]]
    return np.asarray(kept - np.linspace(off[0], off[1], len(kept)))


def write_compensation(compensation: Compensation, path: str | Path) -> Path:
    """Write a compensated reference as CSV for `twin.motion.read_recording`; returns its path.

    Raises:
        InputError: the place cannot be written to.
    """
    names = [f"{axis} [{'m' if axis in POSITIONS else 'rad'}]" for axis in compensation.axes]
    columns = [compensation.time, *compensation.axes.values()]
    return write_text(path, table_text(["time [s]", *names], columns))
