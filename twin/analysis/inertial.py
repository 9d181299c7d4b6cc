"""Response of a platform to a reference motion, from an inertial log.

The log is brought to even samples, and to the motion's time by the shift at which both agree best.
The reference can then be changed by the inverse of the measured response (pre-compensation). The
conclusion of the thesis suggests that "motion demand can be decreased by the amplification
ratio". Here that is done for every frequency at which the log is coherent.

A log is compared with its motion in figures (readings over time, spectra and ratios over
frequency), in a table for the console and in JSON.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.frequency.response import deviation, spectra
from twin.basics.arrays import ComplexArray, FloatArray, positive
from twin.basics.files import as_path, write_text
from twin.basics.text_table import csv_text
from twin.charts.panels import Axes, Line, panels_figure
from twin.charts.results import Figure, Results, Table
from twin.errors import InputError
from twin.machine.hardware.drive import InertialSensor
from twin.machine.quantity import UNIT_SPELLINGS
from twin.model.machine_model import MachineModel, as_model
from twin.motion import Motion
from twin.motion.motion import POSITION_AXES
from twin.motion.table import (
    ACCELERATION_QUANTITY,
    ANGULAR_RATE_QUANTITY,
    TIME_QUANTITY,
    Column,
    read_table,
)
from twin.plant.inertial_sensor import InertialLog, InertialUnit

SENSOR_CHANNELS = ("fx", "fy", "fz", "wx", "wy", "wz")
"""Specific force and angular rate along the sensor's axes, in the order of the columns."""

LOG_COLUMNS = {
    "time": Column("time", TIME_QUANTITY),
    **{name: Column(name, ACCELERATION_QUANTITY) for name in SENSOR_CHANNELS[:3]},
    **{name: Column(name, ANGULAR_RATE_QUANTITY) for name in SENSOR_CHANNELS[3:]},
}

THESIS_RATE = 200.0
"""[Hz] Thesis, appendix A.4: `t=0:1/200:...`."""

THESIS_COLUMNS = 7
"""Message count, three specific forces, three rates. The script names the first (`count`) and the
fifth (`vR`, which it plots against the reference motion); the others are inferred from these
two."""

MAX_TIME_ERROR = 0.05
"""Largest error of a log's times, relative to an interval; larger ones are lost messages."""

LARGEST_GAP = 0.05
"""[s] Longest gap of lost messages that is filled in."""

MIN_OVERLAP = 0.5
"""Smallest overlap of log and motion for an alignment, relative to the shorter of them."""

MIN_SAMPLES = 16
"""Smallest number of samples that can be compared."""

SPECTRUM_RESOLUTION = 1.0
"""[Hz] Distance between the frequencies of the spectra."""

MIN_SEGMENTS = 2
"""Smallest number of segments of a spectrum: one alone has coherence one everywhere."""

INDEPENDENT_FRACTION = 0.947
"""Independent segments per segment under a Hann window that overlaps its neighbours by half."""

MIN_COHERENCE = 0.8
"""Engineering choice: coherence from which a ratio is trusted."""

MAX_GAIN_CHANGE = 2.0
"""Largest factor by which a part of the reference is raised or lowered, 6 dB (engineering choice).
"""

FADE_DISTANCE = 3.0
"""[Hz] Engineering choice: distance from a trusted frequency over which the change fades to none.
"""

SAMPLE_RATE = 1000.0
"""[Hz] Sample rate of the compensated motion, that of the controllers (engineering choice)."""

REST_TIME = 1.0
"""[s] Rest added before and after the motion, as the discrete Fourier transform is periodic."""

ANGLE_NAMES = ("roll", "pitch", "yaw")
"""Angles about x, y, z."""

ROTATION_VECTOR_NAMES = ("angle_x", "angle_y", "angle_z")
"""Components of a rotation vector."""


def read_inertial_log(path: Any) -> InertialLog:
    """Return the log in a CSV file whose first line names the columns, each with its unit.

    Columns: `time`, specific force `fx`, `fy`, `fz`, angular rate `wx`, `wy`, `wz`, such as
    `time [s],fz [g],wy [deg/s]`. Those that are missing are NaN in the log.

    Raises:
        InputError: names file, line and column of the fault and what to do.
    """
    table = read_table(path, LOG_COLUMNS)
    if "time" not in table.columns or len(table.columns) < 2:
        raise InputError(
            str(table.file),
            f"line 1: needs 'time' and one of {', '.join(SENSOR_CHANNELS)} at least",
        )
    time = table.columns["time"]
    unordered = np.flatnonzero(~(np.diff(time) > 0.0))
    if unordered.size:
        raise table.fault(int(unordered[0]) + 1, "time", "is not later than the line before")
    rows = np.full((len(time), 6), np.nan)
    for k, name in enumerate(SENSOR_CHANNELS):
        if name in table.columns:
            rows[:, k] = table.columns[name]
    return InertialLog(time, rows[:, :3], rows[:, 3:])


def read_thesis_log(path: Any, *, force_unit: str = "g", rate_unit: str = "deg/s") -> InertialLog:
    """Return the log in a file of bare numbers, as the thesis' script loads `imuData.txt`.

    Seven columns split by blanks or commas: message count, specific force x y z, angular rate
    x y z. Time follows from the count, so that lost messages leave a gap; a count that begins
    again at zero goes on.

    Args:
        path: the file.
        force_unit: of columns 2 to 4: m/s2, mm/s2 or g. The thesis does not print it.
        rate_unit: of columns 5 to 7: rad/s, mrad/s, deg/s, deg/h or rpm. Likewise.

    Raises:
        InputError: no such file, not seven columns of numbers, unknown units.

    Reference:
        Stewart thesis, appendix A.4.
    """
    unit_factors = []
    for unit, quantity in ((force_unit, ACCELERATION_QUANTITY), (rate_unit, ANGULAR_RATE_QUANTITY)):
        unit = str(unit).translate(UNIT_SPELLINGS)
        if unit not in quantity.factors:
            known_units = ", ".join(quantity.factors)
            raise InputError(
                "unit", f"{unit!r} is no unit of {quantity.name}; use one of {known_units}"
            )
        unit_factors.append(quantity.factors[unit])
    rows = _bare_numbers(path)
    counts, intervals = rows[:, 0], np.diff(rows[:, 0])
    if (counts < 0.0).any() or (counts % 1.0).any() or (intervals == 0.0).any():
        raise InputError(
            str(path), "the first column must count messages: from 0, whole, none twice in a row"
        )
    if (intervals < 0.0).any():
        modulus = 2.0 ** np.ceil(np.log2(counts.max() + 1.0))
        intervals = np.where(intervals < 0.0, intervals + modulus, intervals)
    time = np.concatenate([[0.0], np.cumsum(intervals)]) / THESIS_RATE
    return InertialLog(time, rows[:, 1:4] * unit_factors[0], rows[:, 4:] * unit_factors[1])


def _bare_numbers(path: Any) -> FloatArray:
    """Return the rows `(k, 7)` of a text file, two or more."""
    file = as_path(path)
    try:
        lines = file.read_text(encoding="utf-8").replace(",", " ").splitlines()
        rows = np.loadtxt(lines, ndmin=2) if any(map(str.strip, lines)) else np.empty((0, 7))
    except (OSError, ValueError) as error:
        raise InputError(str(file), f"cannot be read as rows of numbers ({error})") from None
    if rows.shape[1] != THESIS_COLUMNS or len(rows) < 2 or not np.isfinite(rows).all():
        raise InputError(
            str(file), f"must hold two or more rows of {THESIS_COLUMNS} finite numbers each"
        )
    return rows


def write_inertial_log(log: InertialLog, path: str | Path) -> Path:
    """Write a log as CSV that `read_inertial_log` reads, atomically; returns its path.

    Raises:
        InputError: the place cannot be written to.
    """
    kept_channels = [k for k in range(6) if not np.isnan(log.readings[:, k]).any()]
    units = ["m/s2"] * 3 + ["rad/s"] * 3
    names = ["time [s]", *(f"{SENSOR_CHANNELS[k]} [{units[k]}]" for k in kept_channels)]
    return write_text(path, csv_text(names, [log.time, *log.readings[:, kept_channels].T]))


class EvenLog(NamedTuple):
    """A log at even times."""

    rate: float
    """sample rate [Hz]"""
    time: FloatArray
    """times of the samples `(k,)` [s]"""
    readings: FloatArray
    """`(k, 6)` specific force, angular rate; NaN in channels that the log lacks"""
    lost: int
    """samples that were filled in between their neighbours"""


class Alignment(NamedTuple):
    """Position of the motion in the log."""

    offset: float
    """[s] time of the log at which the motion starts"""
    correlation: float
    """correlation of all channels together at that shift, from -1 to 1"""


def even_log(log: InertialLog) -> EvenLog:
    """Return a log at even times, with lost messages filled in by straight lines.

    Raises:
        InputError: too few samples, times that do not increase, or a gap above `LARGEST_GAP`.
    """
    time = np.asarray(log.time, dtype=float)
    if len(time) < MIN_SAMPLES:
        raise InputError("log", f"has {len(time)} samples; {MIN_SAMPLES} are needed at least")
    intervals = np.diff(time)
    interval = float(np.median(intervals))
    if not interval > 0.0 or not (intervals > 0.0).all():
        raise InputError("log", "its times must increase")
    # Intervals of up to 1.5 medians are jitter, not gaps.
    if intervals.max() > max(LARGEST_GAP, 1.5 * interval):
        gap_index = int(intervals.argmax())
        raise InputError(
            "log",
            f"has a gap of {intervals[gap_index]:.4g} s at {time[gap_index]:.6g} s; cut the log "
            "there",
        )
    count = round((time[-1] - time[0]) / interval)
    grid = np.linspace(time[0], time[-1], count + 1)
    readings = log.readings
    if len(grid) != len(time) or np.abs(grid - time).max() > MAX_TIME_ERROR * interval:
        readings = np.column_stack([np.interp(grid, time, column) for column in readings.T])
    lost = max(0, len(grid) - len(time))
    return EvenLog(count / float(time[-1] - time[0]), grid, readings, lost)


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
    ideal_sensor = InertialSensor(
        source=sensor.source,
        position=sensor.position,
        attitude=sensor.attitude,
        bandwidth=sensor.bandwidth if filtered else None,
        damping_ratio=sensor.damping_ratio,
    )
    sample = motion(np.clip(time, 0.0, motion.duration))
    rests = ((time < 0.0) | (time > motion.duration))[:, None]
    twist, acceleration = (np.where(rests, 0.0, array) for array in sample[1:])
    return (
        InertialUnit(ideal_sensor, gravity=gravity)
        .measure(time, sample.pose, twist, acceleration)
        .readings
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

    correlation_sum = np.zeros(len(reference) + len(measured) - 1)
    powers = np.zeros(2)
    for column, reading in zip(reference.T, measured.T, strict=True):
        if np.isnan(reading).any() or not np.ptp(column) > 0.0:
            continue
        deviation = float(reading.std()) or 1.0
        scaled_reference = (column - column.mean()) / deviation
        scaled_reading = (reading - reading.mean()) / deviation
        correlation_sum += correlate(scaled_reading, scaled_reference, mode="full", method="fft")
        powers += [(scaled_reference**2).sum(), (scaled_reading**2).sum()]
    if not powers.all():
        raise InputError("motion", "moves none of the channels that the log has")
    lags = correlation_lags(len(measured), len(reference), mode="full")
    overlap = np.minimum(len(measured), lags + len(reference)) - np.maximum(lags, 0)
    min_overlap = MIN_OVERLAP * min(len(measured), len(reference))
    best_lag = int(np.where(overlap >= min_overlap, correlation_sum, -np.inf).argmax())
    peak, shift = float(correlation_sum[best_lag]), 0.0
    if 0 < best_lag < len(correlation_sum) - 1:
        value_before, value_after = correlation_sum[best_lag - 1], correlation_sum[best_lag + 1]
        curvature = value_before - 2.0 * peak + value_after
        shift = 0.5 * float((value_before - value_after) / curvature) if curvature < 0.0 else 0.0
    correlation = peak / float(np.sqrt(powers.prod()))
    if not correlation > 0.0:
        raise InputError("log", "agrees with the motion at no shift: another motion, or other axes")
    return Alignment((float(lags[best_lag]) + shift) / rate, correlation)


class ChannelResponse(NamedTuple):
    """One channel of the sensor against the reference motion, over frequency."""

    frequency: FloatArray
    """`(m,)` [Hz] from 0 to half the sampling rate"""
    reference: FloatArray
    """`(m,)` power density of the reference, unit of the channel squared per Hz"""
    measured: FloatArray
    """`(m,)` power density of the readings"""
    coherence: FloatArray
    """`(m,)` fraction of the readings that follows from the reference, from 0 to 1"""
    transfer: ComplexArray
    """`(m,)` transfer from reference to platform: the sensor's own filter is taken out"""
    uncertainty: FloatArray
    """`(m,)` relative standard deviation of the transfer's size"""

    @property
    def amplification(self) -> FloatArray:
        """`(m,)` ratio of the platform's motion to the reference."""
        return np.abs(self.transfer)


class InertialComparison(NamedTuple):
    """A log compared with the reference motion during it."""

    log: EvenLog
    alignment: Alignment
    time: FloatArray
    """`(k,)` times [s] of the motion"""
    reference: FloatArray
    """`(k, 6)` readings of an exact sensor along the reference motion"""
    measured: FloatArray
    """`(k, 6)` readings of the log; NaN in channels that the log lacks"""
    responses: dict[str, ChannelResponse]
    """channel -> response, for channels that the log has and the motion moves"""
    sensor: InertialSensor
    """sensor whose place, axes and filter were assumed"""


def compare_log(
    platform: MachineModel,
    motion: Motion,
    log: InertialLog,
    sensor: InertialSensor,
    *,
    resolution: float = SPECTRUM_RESOLUTION,
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
        offset: [s] time of the log at which the motion starts, where both have one clock; default:
            where they agree best.

    Raises:
        InputError: a log that is too short or too coarse, or agrees with the motion nowhere.

    Reference:
        Bendat and Piersol, Random Data, chapters 6 and 9: transfer estimate, its standard
        deviation sqrt((1 - c) / (2 n c)) with coherence c and n segments.
    """
    gravity = as_model(platform).parameters.gravity
    even_samples = even_log(log)
    count = max(int(motion.duration * even_samples.rate) + 1, 2)
    # The sensor's own delay belongs to it: what the alignment takes out is the platform's.
    initial_time = np.arange(count) / even_samples.rate
    reference = reference_readings(sensor, motion, initial_time, gravity, filtered=True)
    alignment = align(reference, even_samples.readings, even_samples.rate)
    if offset is not None:
        alignment = alignment._replace(offset=offset - float(even_samples.time[0]))
    time = even_samples.time - even_samples.time[0] - alignment.offset
    is_during_motion = (time >= -1e-9) & (time <= motion.duration + 1e-9)
    time, measured = time[is_during_motion], even_samples.readings[is_during_motion]
    reference = reference_readings(sensor, motion, time, gravity)
    responses = {}
    for k, name in enumerate(SENSOR_CHANNELS):
        if not np.isnan(measured[:, k]).any() and np.ptp(reference[:, k]) > 0.0:
            responses[name] = _response(
                reference[:, k], measured[:, k], even_samples.rate, resolution, sensor
            )
    log_alignment = alignment._replace(offset=float(even_samples.time[0]) + alignment.offset)
    return InertialComparison(
        even_samples, log_alignment, time, reference, measured, responses, sensor
    )


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
    if segments < MIN_SEGMENTS:
        raise InputError(
            "resolution",
            f"{resolution:g} Hz needs {1.5 * segment / rate:.3g} s of common motion at least, "
            f"there are {len(reference) / rate:.3g} s; take a coarser one",
        )
    estimated = spectra(reference, measured, 1.0 / rate, segment, detrend="linear")
    coherence = estimated.coherence
    return ChannelResponse(
        estimated.frequency,
        estimated.input_power,
        estimated.output_power,
        coherence,
        estimated.transfer
        / sensor_filter(estimated.frequency, sensor.bandwidth, sensor.damping_ratio),
        deviation(coherence, INDEPENDENT_FRACTION * segments),
    )


class Compensation(NamedTuple):
    """A reference with which the platform follows the original motion."""

    time: FloatArray
    """times of the samples `(k,)` [s]"""
    axes: dict[str, FloatArray]
    """axis -> displacements [m] or angles [rad] `(k,)`, for axes that move"""
    frequency: FloatArray
    """`(m,)` frequencies [Hz] of the gains"""
    gains: dict[str, ComplexArray]
    """axis -> factor `(m,)` on the reference"""


def channel_of_axis(axis: str, sensor: InertialSensor) -> str:
    """Return the channel that a motion's axis shows in: the sensor's axis nearest to it.

    Raises:
        InputError: an axis without direction.
    """
    from scipy.spatial.transform import Rotation

    names = (*POSITION_AXES, *ANGLE_NAMES, *ROTATION_VECTOR_NAMES)
    if axis not in names:
        raise InputError("motion", f"its axis {axis!r} shows in no channel of a sensor by itself")
    kind, direction = (0 if axis in POSITION_AXES else 3), names.index(axis) % 3
    sensor_direction = Rotation.from_euler("ZYX", sensor.attitude).as_matrix()[direction]
    return SENSOR_CHANNELS[kind + int(np.abs(sensor_direction).argmax())]


def inverse_gain(
    response: ChannelResponse, frequency: FloatArray, *, phase: bool = False
) -> ComplexArray:
    """Return factors `(m,)` on a reference at frequencies [Hz] that undo a response.

    From `MIN_COHERENCE` on, a factor is the inverse of the transfer, up to `MAX_GAIN_CHANGE` and
    its inverse. Farther than `FADE_DISTANCE` from such frequencies it is 1. Between frequencies
    the logarithm is interpolated.

    Args:
        response: of the channel.
        frequency: `(m,)` [Hz], from 0 up.
        phase: whether to turn the phases back too. The log must hold delays then: its alignment
            has taken the mean one out.
    """
    bound = np.log(MAX_GAIN_CHANGE)
    amplification = response.amplification
    is_trusted = (
        (response.coherence >= MIN_COHERENCE) & (amplification > 0.0) & (response.frequency > 0.0)
    )
    if not is_trusted.any():
        return np.ones(len(frequency), dtype=complex)
    trusted_frequencies = response.frequency[is_trusted]
    logarithm = np.clip(-np.log(amplification[is_trusted]), -bound, bound)
    phase_lag = -np.unwrap(np.angle(response.transfer[is_trusted]))
    frequency_distance = np.abs(response.frequency[:, None] - trusted_frequencies).min(axis=1)
    untrusted_frequencies = response.frequency[
        (frequency_distance > FADE_DISTANCE) | (response.frequency == 0.0)
    ]
    knots = np.concatenate([trusted_frequencies, untrusted_frequencies])
    order = knots.argsort()
    padding = np.zeros(len(untrusted_frequencies))
    exponent = np.concatenate([logarithm + 1j * phase_lag * phase, padding])
    return np.asarray(np.exp(np.interp(frequency, knots[order], exponent[order])))


def compensate(
    motion: Motion, comparison: InertialComparison, *, phase: bool = False
) -> Compensation:
    """Return a reference with which the platform follows a motion.

    Args:
        motion: to be followed.
        comparison: of a log with its reference motion.
        phase: whether phases are compensated too, see `inverse_gain`.

    Raises:
        InputError: the motion moves no axis, or one that shows in no channel by itself.
    """
    count = max(2, round(motion.duration * SAMPLE_RATE) + 1)
    time = np.linspace(0.0, motion.duration, count)
    values = motion.axes(time).values
    rest_samples = round(REST_TIME * SAMPLE_RATE)
    interval = motion.duration / (count - 1)
    frequency = np.asarray(np.fft.rfftfreq(count + 2 * rest_samples, interval), dtype=np.float64)
    axes, gains = {}, {}
    for k, axis in enumerate(motion.axis_names):
        if not np.ptp(values[:, k]) > 0.0:
            continue
        channel = channel_of_axis(axis, comparison.sensor)
        response = comparison.responses.get(channel)
        gain = np.ones(len(frequency), dtype=complex)
        if response is not None:
            gain = inverse_gain(response, frequency, phase=phase)
        axes[axis], gains[axis] = _filtered(values[:, k], gain, rest_samples), gain
    if not axes:
        raise InputError("motion", "moves no axis")
    return Compensation(time, axes, frequency, gains)


def _filtered(values: FloatArray, gain: ComplexArray, rest_samples: int) -> FloatArray:
    """Return samples filtered by gains on their spectrum; both end values are kept."""
    padded = np.pad(values, rest_samples, mode="edge")
    trend = np.linspace(padded[0], padded[-1], len(padded))
    filtered_values = np.fft.irfft(gain * np.fft.rfft(padded - trend), len(padded)) + trend
    motion_values = filtered_values[rest_samples : len(padded) - rest_samples]
    end_errors = motion_values[[0, -1]] - values[[0, -1]]
    return motion_values - np.linspace(end_errors[0], end_errors[1], len(motion_values))


def write_compensation(compensation: Compensation, path: str | Path) -> Path:
    """Write a compensated reference as CSV for `twin.motion.read_recording`; returns its path.

    Raises:
        InputError: the place cannot be written to.
    """
    names = [f"{axis} [{'m' if axis in POSITION_AXES else 'rad'}]" for axis in compensation.axes]
    columns = [compensation.time, *compensation.axes.values()]
    return write_text(path, csv_text(["time [s]", *names], columns))


CHANNEL_UNITS = {"f": "m/s2", "w": "rad/s"}
"""First letter of a channel -> its unit."""


def readings_figure(comparison: InertialComparison) -> Any:
    """Return a plotly figure of reference and measured readings over time, a panel per channel.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    panels = []
    for name in comparison.responses:
        k = SENSOR_CHANNELS.index(name)
        lines = [
            Line("reference", comparison.time, comparison.reference[:, k]),
            Line("measured", comparison.time, comparison.measured[:, k]),
        ]
        panels.append(Axes(f"{name} [{CHANNEL_UNITS[name[0]]}]", lines))
    return panels_figure(panels, "time of the motion [s]")


def response_figure(
    comparison: InertialComparison, channel: str, compensation: Compensation | None = None
) -> Any:
    """Return a plotly figure of amplification, coherence and spectra of a channel with a response.

    Args:
        comparison: of a log with its motion.
        channel: one of its responses.
        compensation: whose gains for the axes that show in this channel are drawn beside the
            amplification; default none.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    response, unit = comparison.responses[channel], CHANNEL_UNITS[channel[0]]
    frequency = response.frequency[1:]
    ratio = np.where(response.coherence >= 0.5, decibels(response.amplification), np.nan)[1:]
    lines = [Line("amplification", frequency, ratio)]
    if compensation is not None:
        for axis, gain in compensation.gains.items():
            if channel_of_axis(axis, comparison.sensor) == channel:
                change = np.interp(frequency, compensation.frequency, np.abs(gain))
                lines.append(Line(f"change of {axis}", frequency, decibels(change), "dash"))
    densities = [
        Line("reference", frequency, response.reference[1:]),
        Line("measured", frequency, response.measured[1:]),
    ]
    panels = [
        Axes("amplification [dB]", lines),
        Axes("coherence", [Line("coherence", frequency, response.coherence[1:])]),
        Axes(f"density [({unit})2/Hz]", densities, log_y=True),
    ]
    return panels_figure(panels, "frequency [Hz]")


def decibels(ratio: FloatArray) -> FloatArray:
    """Return 20 log10 of ratios; NaN where there is none."""
    return 20.0 * np.log10(np.where(ratio > 0.0, ratio, np.nan))


def inertial_results(
    name: str, comparison: InertialComparison, compensation: Compensation | None = None
) -> Results:
    """Return the ratios of every channel as tables, with all figures of a comparison.

    Args:
        name: name of the machine.
        comparison: of a log with its motion.
        compensation: drawn beside the amplification; default none.
    """
    content = summary(comparison, compensation)
    tables = []
    for channel, response in comparison.responses.items():
        numbers = content["channels"][channel]
        title = (
            f"{channel}: rms reference {numbers['reference_rms']:.4g}, measured "
            f"{numbers['measured_rms']:.4g} {numbers['unit']}"
        )
        columns = (
            "frequency [Hz]",
            "amplification [1]",
            "amplification [dB]",
            "standard deviation [dB]",
            "coherence [1]",
        )
        tables.append(Table(title, columns, table_rows(response)))
    figures = [
        Figure("Readings", "All channels over time.", partial(readings_figure, comparison)),
        *(
            Figure(
                f"Response of {channel}",
                "Platform against reference over frequency.",
                partial(response_figure, comparison, channel, compensation),
            )
            for channel in comparison.responses
        ),
    ]
    finding = (
        f"{name}: {content['duration']:.3f} s in common at {content['rate']:.4g} Hz, motion begins "
        f"at {content['offset']:.4f} s of the log, {content['lost']} lost samples."
    )
    return Results(f"Inertial log of {name}", [finding], tables, figures)


TABLE_FREQUENCIES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0)
"""[Hz] Frequencies of the table on the console."""


def summary(comparison: InertialComparison, compensation: Compensation | None = None) -> Any:
    """Return a comparison as content of a file.

    Keys: `rate` [Hz], `offset` [s], `correlation`, `lost` (samples filled in), `duration` [s] in
    common, `channels`: name -> `unit`, `reference_rms`, `measured_rms`, `peak_amplification`,
    `peak_frequency` [Hz] (both null where nothing is coherent), `frequency` [Hz], `amplification`,
    `uncertainty` (relative standard deviation, null where unknown), `coherence` (lists); and
    `compensation`: axis -> `largest_change` (factor), only with one.
    """
    channels = {}
    for name, response in comparison.responses.items():
        k = SENSOR_CHANNELS.index(name)
        peak, peak_frequency = peak_amplification(response) or (None, None)
        channels[name] = {
            "unit": CHANNEL_UNITS[name[0]],
            "reference_rms": comparison.reference[:, k].std(),
            "measured_rms": comparison.measured[:, k].std(),
            "peak_amplification": peak,
            "peak_frequency": peak_frequency,
            "frequency": response.frequency,
            "amplification": response.amplification,
            "uncertainty": response.uncertainty,
            "coherence": response.coherence,
        }
    content = {
        "rate": comparison.log.rate,
        "offset": comparison.alignment.offset,
        "correlation": comparison.alignment.correlation,
        "lost": comparison.log.lost,
        "duration": comparison.time[-1] - comparison.time[0],
        "channels": channels,
    }
    if compensation is not None:
        content["compensation"] = {
            axis: {"largest_change": float(np.exp(np.abs(np.log(np.abs(gain))).max()))}
            for axis, gain in compensation.gains.items()
        }
    return content


def peak_amplification(response: ChannelResponse) -> tuple[float, float] | None:
    """Return the largest coherent ratio and its frequency [Hz]; None where nothing is coherent."""
    coherent = (response.coherence >= MIN_COHERENCE) & (response.frequency > 0.0)
    if not coherent.any():
        return None
    peak_index = int(np.where(coherent, response.amplification, -np.inf).argmax())
    return float(response.amplification[peak_index]), float(response.frequency[peak_index])


def table_rows(response: ChannelResponse) -> list[tuple[float, ...]]:
    """Return frequency, ratio, decibels, their deviation and coherence near round frequencies.

    Ratios are NaN where the coherence is too low.
    """
    is_coherent = response.coherence >= MIN_COHERENCE
    ratio = np.where(is_coherent, response.amplification, np.nan)
    deviation = np.where(is_coherent, 20.0 / np.log(10.0) * response.uncertainty, np.nan)
    columns = (response.frequency, ratio, decibels(ratio), deviation, response.coherence)
    rows = {
        int(np.abs(response.frequency - hertz).argmin())
        for hertz in TABLE_FREQUENCIES
        if hertz <= response.frequency[-1]
    }
    return [tuple(column[k].item() for column in columns) for k in sorted(rows - {0})]
