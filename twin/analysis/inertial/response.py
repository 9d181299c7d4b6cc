"""Response of a platform to a reference motion, from an inertial log."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.analysis.frequency.estimate import deviation, spectra
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
from twin.machine.hardware.sensors import InertialSensor
from twin.model.machine_model import MachineModel, as_model
from twin.motion import Motion
from twin.plant.inertial_sensor import InertialLog

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
) -> InertialComparison:
    """Return the response of a machine to a motion, from the log of a sensor on its platform.

    Args:
        platform: the machine, for its gravity.
        motion: reference.
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
    reference = reference_readings(sensor, motion, begin, gravity, filtered=True)
    found = align(reference, even.readings, even.rate)
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
