"""A comparison of a log with its motion in numbers: for the console and as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.inertial.compensation import COHERENT, Compensation
from twin.analysis.inertial.figures import UNITS, decibels
from twin.analysis.inertial.log_file import CHANNELS
from twin.analysis.inertial.response import ChannelResponse, InertialComparison

SHOWN = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0)
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
        k = CHANNELS.index(name)
        peak = peak_amplification(response)
        channels[name] = {
            "unit": UNITS[name[0]],
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
    coherent = (response.coherence >= COHERENT) & (response.frequency > 0.0)
    if not coherent.any():
        return None
    best = int(np.where(coherent, response.amplification, -np.inf).argmax())
    return float(response.amplification[best]), float(response.frequency[best])


def table_rows(response: ChannelResponse) -> list[tuple[str, str, str, str]]:
    """Return frequency, ratio, decibels with their uncertainty, and coherence as texts."""
    rows = []
    ratios = response.amplification
    level = decibels(ratios)
    for shown in SHOWN:
        k = int(np.abs(response.frequency - shown).argmin())
        if shown > response.frequency[-1] or response.frequency[k] == 0.0:
            continue
        row = (f"{response.frequency[k]:.3g}", f"{response.coherence[k]:.3f}")
        if response.coherence[k] < COHERENT:
            rows.append((row[0], "coherence too low", "", row[1]))
            continue
        spread = 20.0 / np.log(10.0) * response.uncertainty[k]
        rows.append((row[0], f"{ratios[k]:.4f}", f"{level[k]:+.2f} +- {spread:.2f}", row[1]))
    return list(dict.fromkeys(rows))
