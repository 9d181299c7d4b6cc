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
    for axis, gain in ({} if compensation is None else compensation.gains).items():
        if compensation is not None and channel_of_axis(axis, comparison.sensor) == channel:
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
        columns = (
            "frequency [Hz]", "ratio [1]", "ratio [dB]", "deviation [dB]", "coherence [1]",
        )  # fmt: skip
        tables.append(Table(title, columns, table_rows(response)))
    figures = [
        Figure("Readings", "All channels over time.", partial(readings_figure, comparison)),
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
    wanted = [hertz for hertz in TABLE_FREQUENCIES if hertz <= response.frequency[-1]]
    rows = {int(np.abs(response.frequency - hertz).argmin()) for hertz in wanted}
    return [tuple(column[k].item() for column in columns) for k in sorted(rows - {0})]
