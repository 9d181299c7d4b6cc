"""Comparison of a log with its motion as figures, as a table for the console and as JSON.

The figures show readings over time, and spectra and ratios over frequency.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from twin.analysis.inertial.response import (
    MIN_COHERENCE,
    SENSOR_CHANNELS,
    ChannelResponse,
    Compensation,
    InertialComparison,
    channel_of_axis,
)
from twin.basics.arrays import FloatArray
from twin.charts.panels import Axes, Line, panels_figure
from twin.charts.results import Figure, Results, Table
from twin.errors import InputError

CLOSEUP_DURATION = 1.0
"""[s] Length of the closer view around the largest reading."""

CHANNEL_UNITS = {"f": "m/s2", "w": "rad/s"}
"""First letter of a channel -> its unit."""


def readings_figure(comparison: InertialComparison, close: bool = False) -> Any:
    """Return a plotly figure of reference and measured readings over time, a panel per channel.

    Args:
        comparison: of a log with its motion.
        close: whether to show only the second around the largest reading.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    panels = []
    time = comparison.time
    for name in comparison.responses:
        k = _column(name)
        selected = np.ones(len(time), dtype=bool)
        if close:
            middle_time = time[
                int(np.abs(comparison.measured[:, k] - comparison.measured[:, k].mean()).argmax())
            ]
            selected = np.abs(time - middle_time) <= 0.5 * CLOSEUP_DURATION
        lines = [
            Line(title, time[selected], values[selected, k])
            for title, values in (
                ("reference", comparison.reference),
                ("measured", comparison.measured),
            )
        ]
        panels.append(Axes(f"{name} [{CHANNEL_UNITS[name[0]]}]", lines))
        if close:
            break
    title = "Readings, a closer view" if close else "Readings"
    return panels_figure(panels, "time of the motion [s]", title=title)


def response_figure(
    comparison: InertialComparison, channel: str, compensation: Compensation | None = None
) -> Any:
    """Return a plotly figure of spectra, coherence and amplification of one channel.

    Args:
        comparison: of a log with its motion.
        channel: one of its responses.
        compensation: whose gains for the axes that show in this channel are drawn beside the
            amplification; default none.

    Raises:
        InputError: a channel without response.
        MissingDependencyError: plotly is not installed.
    """
    if channel not in comparison.responses:
        raise InputError(
            "channel", f"{channel!r} has no response; known: {', '.join(comparison.responses)}"
        )
    channel_response = comparison.responses[channel]
    has_frequency = channel_response.frequency > 0.0
    frequency, unit = channel_response.frequency[has_frequency], CHANNEL_UNITS[channel[0]]
    ratio = decibels(channel_response.amplification[has_frequency])
    coherent = channel_response.coherence[has_frequency] >= 0.5
    lines = [Line("amplification", frequency[coherent], ratio[coherent])]
    if compensation is not None:
        for axis, gain in compensation.gains.items():
            if channel_of_axis(axis, comparison.sensor) != channel:
                continue
            is_in_range = (compensation.frequency > 0.0) & (compensation.frequency <= frequency[-1])
            size = decibels(np.abs(gain[is_in_range]))
            lines.append(
                Line(f"change of {axis}", compensation.frequency[is_in_range], size, "dash")
            )
    panels = [
        Axes("amplification [dB]", lines),
        Axes(
            "coherence", [Line("coherence", frequency, channel_response.coherence[has_frequency])]
        ),
        Axes(
            f"density [({unit})2/Hz]",
            [
                Line("reference", frequency, channel_response.reference[has_frequency]),
                Line("measured", frequency, channel_response.measured[has_frequency]),
            ],
            log_y=True,
        ),
    ]
    return panels_figure(panels, "frequency [Hz]", title=f"{channel}: platform against reference")


def decibels(ratio: FloatArray) -> FloatArray:
    """Return 20 log10 of ratios; NaN where there is none."""
    return np.asarray(20.0 * np.log10(np.where(ratio > 0.0, ratio, np.nan)))


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
        columns = ("frequency [Hz]", "ratio [1]", "ratio [dB]", "coherence [1]")
        tables.append(Table(title, columns, table_rows(response)))
    figures = [
        Figure("Readings", "All channels over time.", partial(readings_figure, comparison)),
        Figure(
            "Readings, a closer view",
            "The second around the largest reading.",
            partial(readings_figure, comparison, close=True),
        ),
    ]
    figures += [
        Figure(
            f"Response of {channel}",
            "Platform against reference over frequency.",
            partial(response_figure, comparison, channel, compensation),
        )
        for channel in comparison.responses
    ]
    finding = (
        f"{name}: {content['duration']:.3f} s in common at {content['rate']:.4g} Hz, motion begins "
        f"at {content['offset']:.4f} s of the log, {content['lost']} lost samples."
    )
    return Results(f"Inertial log of {name}", [finding], tables, figures)


def _column(channel: str) -> int:
    return "fw".index(channel[0]) * 3 + "xyz".index(channel[1])


TABLE_FREQUENCIES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0)
"""[Hz] Frequencies of the table on the console."""


def summary(comparison: InertialComparison, compensation: Compensation | None = None) -> Any:
    """Return a comparison as plain numbers, texts, lists and dictionaries.

    Keys: `rate` [Hz], `offset` [s], `correlation`, `lost` (samples filled in), `duration` [s] in
    common, `channels`: name -> `unit`, `reference_rms`, `measured_rms`, `peak_amplification`,
    `peak_frequency` [Hz] (both null where nothing is coherent), `frequency` [Hz], `amplification`,
    `uncertainty` (relative standard deviation, null where unknown), `coherence` (lists); and
    `compensation`: axis -> `largest_change` (factor), only with one.
    """
    channels = {}
    for name, response in comparison.responses.items():
        k = SENSOR_CHANNELS.index(name)
        peak = peak_amplification(response)
        channels[name] = {
            "unit": CHANNEL_UNITS[name[0]],
            "reference_rms": float(comparison.reference[:, k].std()),
            "measured_rms": float(comparison.measured[:, k].std()),
            "peak_amplification": None if peak is None else peak[0],
            "peak_frequency": None if peak is None else peak[1],
            "frequency": response.frequency.tolist(),
            "amplification": response.amplification.tolist(),
            "uncertainty": [x if np.isfinite(x) else None for x in response.uncertainty.tolist()],
            "coherence": response.coherence.tolist(),
        }
    content = {
        "rate": comparison.log.rate,
        "offset": comparison.alignment.offset,
        "correlation": comparison.alignment.correlation,
        "lost": comparison.log.lost,
        "duration": float(comparison.time[-1] - comparison.time[0]),
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


def table_rows(response: ChannelResponse) -> list[tuple[str, str, str, str]]:
    """Return frequency, ratio, decibels with their uncertainty, and coherence as texts."""
    rows = []
    ratios = response.amplification
    levels = decibels(ratios)
    for frequency in TABLE_FREQUENCIES:
        k = int(np.abs(response.frequency - frequency).argmin())
        if frequency > response.frequency[-1] or response.frequency[k] == 0.0:
            continue
        row = (f"{response.frequency[k]:.3g}", f"{response.coherence[k]:.3f}")
        if response.coherence[k] < MIN_COHERENCE:
            rows.append((row[0], "coherence too low", "", row[1]))
            continue
        level_deviation = 20.0 / np.log(10.0) * response.uncertainty[k]
        rows.append(
            (row[0], f"{ratios[k]:.4f}", f"{levels[k]:+.2f} +- {level_deviation:.2f}", row[1])
        )
    return list(dict.fromkeys(rows))
