"""Figure of a tuning: the response of every iteration between its bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.tuning.tuning import Tuning
from twin.charts.panels import Axes, Line, panels_figure
from twin.errors import InputError

SHOWN = 6
"""Trials drawn: the start, the result, and some between."""


def tuning_figure(tuning: Tuning) -> Any:
    """Return a plotly figure of responses over time, bounds dotted, and of the violations.

    Raises:
        InputError: not a tuning.
        MissingDependencyError: plotly is not installed.
    """
    if not isinstance(tuning, Tuning):
        raise InputError("tuning", f"must be a Tuning, not {tuning!r}")
    trials, rule = tuning.search.trials, tuning.specification
    shown = np.unique(np.linspace(0, len(trials) - 1, min(SHOWN, len(trials))).round().astype(int))
    milliseconds = 1e3 * tuning.time
    lines = [
        Line(
            f"iteration {k}: {gains_text(tuning, trials[k].parameters)}",
            milliseconds,
            trials[k].response,
        )
        for k in map(int, shown)
    ]
    lines += [
        Line("lower bound", milliseconds, rule.lower(tuning.time), "dot"),
        Line("upper bound", milliseconds, rule.upper(tuning.time), "dot"),
    ]
    title = f"{tuning.machine} on {tuning.engine}: step of the {tuning.loop} loop"
    quantity = "speed" if tuning.loop == "velocity" else "displacement"
    return panels_figure([Axes(f"{quantity} per step", lines)], "time [ms]", title=title)


def gains_text(tuning: Tuning, values: Any) -> str:
    """Return gains as a short text, such as "21.9 N/(mm/s), 3.19 ms"."""
    texts = []
    for gain, value in zip(tuning.gains, values, strict=True):
        if gain.unit == "N s/m":
            texts.append(f"{1e-3 * value:.3g} N/(mm/s)")
        elif gain.unit == "s":
            texts.append(f"{1e3 * value:.3g} ms")
        else:
            texts.append(f"{value:.4g} {gain.unit}")
    return ", ".join(texts)
