"""Response of a platform to a reference motion from an inertial log: spectra and coherence."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.analysis.inertial.alignment import (
    Alignment,
    EvenLog,
    align,
    even_log,
    reference_readings,
)
from twin.analysis.inertial.log_file import CHANNELS
from twin.basics.arrays import FloatArray, positive
from twin.errors import InputError
from twin.machine.inertial_sensor import InertialSensor
from twin.model.machine_model import MachineModel, as_model
from twin.motion import Motion
from twin.plant.inertial_log import InertialLog

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
    transfer: NDArray[np.complex128]
    """`(m,)` from reference to platform: the sensor's own filter is taken out"""
    uncertainty: FloatArray
    """`(m,)` relative standard deviation of the transfer's size"""

    @property
    def amplification(self) -> FloatArray:
        """`(m,)` ratio of the platform's motion to the reference."""
        return np.asarray(np.abs(self.transfer))


class InertialComparison(NamedTuple):
    """A log held against the reference motion of that time."""

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
) -> InertialComparison:
    """Return what a machine made of a motion, from the log of a sensor on its platform.

    Args:
        platform: the machine, for its gravity.
        motion: the reference.
        log: what the sensor wrote down; may begin before and end after the motion.
        sensor: its place, axes, bandwidth and damping.
        resolution: of the spectra [Hz].
        largest_gap: [s] of lost messages that may be filled in.

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
    wish = reference_readings(sensor, motion, begin, gravity, filtered=True)
    found = align(wish, even.readings, even.rate)
    time = even.time - even.time[0] - found.offset
    inside = (time >= -1e-9) & (time <= motion.duration + 1e-9)
    time, measured = time[inside], even.readings[inside]
    wish = reference_readings(sensor, motion, time, gravity)
    responses = {}
    for k, name in enumerate(CHANNELS):
        if not np.isnan(measured[:, k]).any() and np.ptp(wish[:, k]) > 0.0:
            responses[name] = _response(wish[:, k], measured[:, k], even.rate, resolution, sensor)
    shifted = found._replace(offset=float(even.time[0]) + found.offset)
    return InertialComparison(even, shifted, time, wish, measured, responses, sensor)


def sensor_filter(
    frequency: FloatArray, bandwidth: float | None, damping: float
) -> NDArray[np.complex128]:
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
    from scipy.signal import csd, welch

    segment = math.ceil(rate / positive(resolution, "resolution"))
    segments = (2 * len(reference)) // segment - 1
    if segments < FEWEST_SEGMENTS:
        raise InputError(
            "resolution",
            f"{resolution:g} Hz needs {1.5 * segment / rate:.3g} s of common motion at least, "
            f"there are {len(reference) / rate:.3g} s; take a coarser one",
        )
    options = {"fs": rate, "nperseg": segment, "detrend": "linear"}
    frequency, wish = welch(reference, **options)
    found = welch(measured, **options)[1]
    cross = csd(reference, measured, **options)[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        transfer = np.nan_to_num(cross / wish, nan=0.0, posinf=0.0, neginf=0.0)
        coherence = np.nan_to_num(np.abs(cross) ** 2 / (wish * found))
        coherence = np.clip(coherence, 0.0, 1.0)
        averages = OVERLAPPED * segments
        spread = np.sqrt((1.0 - coherence) / (2.0 * averages * coherence))
    return ChannelResponse(
        frequency,
        wish,
        found,
        coherence,
        transfer / sensor_filter(frequency, sensor.bandwidth, sensor.damping_ratio),
        np.nan_to_num(spread, nan=np.inf, posinf=np.inf),
    )
