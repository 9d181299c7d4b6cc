"""Figures of measured frequency responses: magnitude, phase and coherence over frequency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twin.analysis.frequency.measured import MeasuredResponse
from twin.analysis.frequency.response import FrequencyResponse
from twin.basics.arrays import FloatArray
from twin.charts.panels import Axes, Line, panels_figure
from twin.errors import InputError


def response_figure(
    responses: Mapping[str, FrequencyResponse],
    title: str = "",
    *,
    marks: Mapping[str, tuple[FloatArray, FloatArray]] | None = None,
) -> Any:
    """Return a plotly figure of responses: magnitude [dB], phase [deg], coherence (measured ones).

    Args:
        responses: by name.
        title: above the figure.
        marks: name -> frequencies [Hz] and magnitudes [dB] of single points, such as printed ones.

    Raises:
        InputError: no responses.
        MissingDependencyError: plotly is not installed.
    """
    if not responses:
        raise InputError("responses", "must hold at least one")
    shown = {name: response.trusted for name, response in responses.items()}
    panels = [
        Axes(
            "magnitude [dB]",
            [
                *(Line(name, one.frequency, one.magnitude) for name, one in shown.items()),
                *(Line(name, x, y, "markers") for name, (x, y) in (marks or {}).items()),
            ],
        ),
        Axes(
            "phase [deg]",
            [Line(name, one.frequency, np.degrees(one.phase)) for name, one in shown.items()],
        ),
    ]
    # Calculated responses have none to show.
    if any((one.coherence < 1.0).any() for one in responses.values()):
        lines = [Line(name, one.frequency, one.coherence) for name, one in responses.items()]
        panels.append(Axes("coherence", lines))
    return panels_figure(panels, "frequency [Hz]", log_x=True, title=title)


def measured_figure(measured: MeasuredResponse) -> Any:
    """Return a plotly figure of a run: the platform's response and that of its actuators.

    Raises:
        InputError: not a measured response.
        MissingDependencyError: plotly is not installed.
    """
    if not isinstance(measured, MeasuredResponse):
        raise InputError("measured", f"must be a MeasuredResponse, not {measured!r}")
    lines = {"platform": measured.platform}
    lines |= {f"actuator {number}": one for number, one in measured.actuators.items()}
    title = f"{measured.machine} on {measured.engine}: {measured.direction}, {measured.controller}"
    return response_figure(lines, title)
