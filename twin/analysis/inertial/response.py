"""Response of a platform to a reference motion, from an inertial log.

A log and a motion in one time: even samples, and the shift at which both agree best.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from twin.analysis.frequency.estimate import deviation, spectra
from twin.analysis.inertial.log_file import CHANNELS
from twin.basics.arrays import ComplexArray, FloatArray, not_negative, positive
from twin.errors import InputError
from twin.machine.hardware.sensors import InertialSensor
from twin.model.machine_model import MachineModel, as_model
from twin.motion import Motion
from twin.plant.inertial_sensor import InertialLog, InertialUnit

UNEVEN = 0.05
"""Largest error of a log's times, in parts of an interval; larger ones are lost messages."""

SMALLEST_OVERLAP = 0.5
"""Of the shorter of log and motion: less is taken for no common part."""

FEWEST = 16
"""Samples below which nothing can be compared."""


class EvenLog(NamedTuple):
    """A log at even times."""

    rate: float
    """[Hz]"""
    time: FloatArray
    """`(k,)` [s]"""
    readings: FloatArray
    """`(k, 6)` specific force, angular rate; NaN in channels that the log has not"""
    lost: int
    """samples that were filled in between their neighbours"""


class Alignment(NamedTuple):
    """Position of the motion in the log."""

    offset: float
    """[s] time of the log at which the motion starts"""
    correlation: float
    """from -1 to 1, of all channels together at that shift"""


def even_log(log: InertialLog, largest_gap: float = 0.05) -> EvenLog:
    """Return a log at even times, with lost messages filled in by straight lines.

    Args:
        log: with increasing times.
        largest_gap: [s] that may be filled in.

    Raises:
        InputError: too few samples, or a longer gap.
    """
    time = np.asarray(log.time, dtype=float)
    if len(time) < FEWEST:
        raise InputError("log", f"has {len(time)} samples; {FEWEST} are needed at least")
    gaps = np.diff(time)
    interval = float(np.median(gaps))
    if not interval > 0.0 or not (gaps > 0.0).all():
        raise InputError("log", "its times must increase")
    bridged = not_negative(largest_gap, "largest_gap")
    if gaps.max() > max(bridged, 1.5 * interval):
        at = int(gaps.argmax())
        raise InputError(
            "log",
            f"has a gap of {gaps[at]:.4g} s at {time[at]:.6g} s; cut the log there or allow "
            "longer gaps",
        )
    count = round((time[-1] - time[0]) / interval)
    even = np.linspace(time[0], time[-1], count + 1)
    readings = log.readings
    if np.abs(even - time).max() > UNEVEN * interval if len(even) == len(time) else True:
        readings = np.column_stack([np.interp(even, time, column) for column in readings.T])
    lost = max(0, count + 1 - len(time))
    return EvenLog(count / float(time[-1] - time[0]), even, readings, lost)


def reference_readings(
    sensor: InertialSensor,
    motion: Motion,
    time: FloatArray,
    gravity: float,
    *,
    filtered: bool = False,
) -> FloatArray:
    """Return the readings `(k, 6)` of a sensor without errors along a motion.

    Args:
        sensor: for its place and its axes.
        motion: reference.
        time: `(k,)` [s] of the motion; outside it the platform rests at its ends.
        gravity: [m/s2].
        filtered: whether behind the sensor's filter.
    """
    bare = InertialSensor(
        source=sensor.source,
        position=sensor.position,
        attitude=sensor.attitude,
        bandwidth=sensor.bandwidth if filtered else None,
        damping_ratio=sensor.damping_ratio,
    )
    inside = np.clip(time, 0.0, motion.duration)
    sample = motion(inside)
    rests = ((time < 0.0) | (time > motion.duration))[:, None]
    twist, acceleration = (np.where(rests, 0.0, part) for part in sample[1:])
    return (
        InertialUnit(bare, gravity=gravity).measure(time, sample.pose, twist, acceleration).readings
    )


def align(reference: FloatArray, measured: FloatArray, rate: float) -> Alignment:
    """Return the shift at which a log agrees best with a motion, by cross-correlation.

    Channels count by the reference motion in them, in units of the measured spread; those without
    readings (NaN) or without reference motion do not count. The peak is that of the parabola
    through the three highest values.

    Args:
        reference: `(k, c)` readings of an exact sensor along the motion.
        measured: `(m, c)` readings.
        rate: of both [Hz].

    Returns:
        The time of the first reference sample after the first measured one.

    Raises:
        InputError: no channel moves, or no shift at which they agree.
    """
    from scipy.signal import correlate, correlation_lags

    total: FloatArray | None = None
    powers = np.zeros(2)
    for column, reading in zip(reference.T, measured.T, strict=True):
        if np.isnan(reading).any() or not np.ptp(column) > 0.0:
            continue
        spread = float(reading.std()) or 1.0
        expected, found = (column - column.mean()) / spread, (reading - reading.mean()) / spread
        part = correlate(found, expected, mode="full", method="fft")
        total = part if total is None else total + part
        powers += [(expected**2).sum(), (found**2).sum()]
    if total is None or not powers.all():
        raise InputError("motion", "moves none of the channels that the log has")
    lags = correlation_lags(len(measured), len(reference), mode="full")
    overlap = np.minimum(len(measured), lags + len(reference)) - np.maximum(lags, 0)
    least = SMALLEST_OVERLAP * min(len(measured), len(reference))
    best = int(np.where(overlap >= least, total, -np.inf).argmax())
    peak, shift = float(total[best]), 0.0
    if 0 < best < len(total) - 1:
        before, after = total[best - 1], total[best + 1]
        bend = before - 2.0 * peak + after
        shift = 0.5 * float((before - after) / bend) if bend < 0.0 else 0.0
    correlation = peak / float(np.sqrt(powers.prod()))
    if not correlation > 0.0:
        raise InputError("log", "agrees with the motion at no shift: another motion, or other axes")
    return Alignment((float(lags[best]) + shift) / rate, correlation)


RESOLUTION = 1.0
"""[Hz] of the spectra."""

FEWEST_SEGMENTS = 2
"""Of a spectrum: one segment alone has coherence one everywhere."""

OVERLAPPED = 0.947
"""Independent segments per segment under a Hann window that overlaps its neighbours by half."""


class ChannelResponse(NamedTuple):
    """One channel of the sensor against the reference motion, over frequency."""

    frequency: FloatArray
    """`(m,)` [Hz] from 0 to half the sampling rate"""
    reference: FloatArray
    """`(m,)` power density of the reference, unit of the channel squared per Hz"""
    measured: FloatArray
    """`(m,)` power density of the readings"""
    coherence: FloatArray
    """`(m,)` from 0 to 1: share of the readings that follows from the reference"""
    transfer: ComplexArray
    """`(m,)` from reference to platform: the sensor's own filter is taken out"""
    uncertainty: FloatArray
    """`(m,)` relative standard deviation of the transfer's size"""

    @property
    def amplification(self) -> FloatArray:
        """`(m,)` ratio of the platform's motion to the reference."""
        return np.asarray(np.abs(self.transfer))


class InertialComparison(NamedTuple):
    """A log compared with the reference motion during it."""

    log: EvenLog
    alignment: Alignment
    time: FloatArray
    """`(k,)` [s] of the motion"""
    reference: FloatArray
    """`(k, 6)` readings of an exact sensor along the reference motion"""
    measured: FloatArray
    """`(k, 6)` of the log; NaN in channels that it has not"""
    responses: dict[str, ChannelResponse]
    """channel -> response, for channels that the log has and the motion moves"""
    sensor: InertialSensor
    """for place, axes and filter"""


def compare_log(
    platform: MachineModel,
    motion: Motion,
    log: InertialLog,
    sensor: InertialSensor,
    *,
    resolution: float = RESOLUTION,
    largest_gap: float = 0.05,
    offset: float | None = None,
) -> InertialComparison:
    """Return the response of a machine to a motion, from the log of a sensor on its platform.

    Without a common clock the log is aligned, and the platform's mean delay is lost.

    Args:
        platform: the machine, for its gravity.
        motion: reference.
        log: what the sensor wrote down; may begin before and end after the motion.
        sensor: its place, axes, bandwidth and damping.
        resolution: of the spectra [Hz].
        largest_gap: [s] of lost messages that may be filled in.
        offset: [s] time of the log at which the motion starts, where both have one clock; default:
            where they agree best.

    Raises:
        InputError: a log that is too short or too coarse, or agrees with the motion nowhere.

    Reference:
        Bendat and Piersol, Random Data, chapters 6 and 9: transfer estimate, its standard
        deviation sqrt((1 - c) / (2 n c)) with coherence c and n segments.
    """
    gravity = as_model(platform).parameters.gravity
    even = even_log(log, largest_gap)
    count = int(motion.duration * even.rate) + 1
    # The sensor's own delay belongs to it: what the alignment takes out is the platform's.
    begin = np.arange(max(count, 2)) / even.rate
    reference = reference_readings(sensor, motion, begin, gravity, filtered=True)
    found = align(reference, even.readings, even.rate)
    if offset is not None:
        found = found._replace(offset=offset - float(even.time[0]))
    time = even.time - even.time[0] - found.offset
    inside = (time >= -1e-9) & (time <= motion.duration + 1e-9)
    time, measured = time[inside], even.readings[inside]
    reference = reference_readings(sensor, motion, time, gravity)
    responses = {}
    for k, name in enumerate(CHANNELS):
        if not np.isnan(measured[:, k]).any() and np.ptp(reference[:, k]) > 0.0:
            responses[name] = _response(
                reference[:, k], measured[:, k], even.rate, resolution, sensor
            )
    shifted = found._replace(offset=float(even.time[0]) + found.offset)
    return InertialComparison(even, shifted, time, reference, measured, responses, sensor)


def sensor_filter(frequency: FloatArray, bandwidth: float | None, damping: float) -> ComplexArray:
    """Return the response `(m,)` of a sensor's second-order filter; ones without bandwidth."""
    if bandwidth is None:
        return np.ones(len(frequency), dtype=complex)
    ratio = frequency / bandwidth
    return np.asarray(1.0 / (1.0 - ratio**2 + 2j * damping * ratio))


def _response(
    reference: FloatArray,
    measured: FloatArray,
    rate: float,
    resolution: float,
    sensor: InertialSensor,
) -> ChannelResponse:
    segment = math.ceil(rate / positive(resolution, "resolution"))
    segments = (2 * len(reference)) // segment - 1
    if segments < FEWEST_SEGMENTS:
        raise InputError(
            "resolution",
            f"{resolution:g} Hz needs {1.5 * segment / rate:.3g} s of common motion at least, "
            f"there are {len(reference) / rate:.3g} s; take a coarser one",
        )
    found = spectra(reference, measured, 1.0 / rate, segment, detrend="linear")
    coherence = found.coherence
    return ChannelResponse(
        found.frequency,
        found.given,
        found.received,
        coherence,
        found.transfer / sensor_filter(found.frequency, sensor.bandwidth, sensor.damping_ratio),
        deviation(coherence, OVERLAPPED * segments),
    )
