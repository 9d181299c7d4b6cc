"""Measure the frequency response of a controlled machine."""

from __future__ import annotations

import json as text_format
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from twin.analysis.frequency.figures import measured_figure
from twin.analysis.frequency.measured import MeasuredResponse, measure_response
from twin.analysis.frequency.paths import AXES, MOVING
from twin.analysis.frequency.response import (
    CUT_OFF,
    TRUSTED,
    FrequencyResponse,
    ResponseFigures,
    response_figures,
)
from twin.basics.files import write_text
from twin.charts.text import number
from twin.commands.console import Column, line, table
from twin.commands.options import PAGE, check_files
from twin.control import make_controller
from twin.errors import InputError
from twin.simulation.platform import load

ROWS = 16
"""Frequencies that are printed."""

NONE = "-"
"""Stands for what there is not."""


def frequency(
    machine: str,
    configuration: str | None,
    controller: str,
    json: Path | None,
    plot: Path | None,
    **options: Any,
) -> None:
    """Measure, print magnitude, phase and coherence, and write what was asked for.

    The JSON file holds `machine`, `engine`, `controller`, `direction`, `speed` (peak along the
    direction, m/s or rad/s), and `responses`: name ("platform", "actuator 1", ...) to `frequency`
    [Hz], `magnitude` [dB], `phase` [rad], `coherence`, `deviation` (per magnitude), each a list,
    and `bandwidth` [Hz], `peak` [dB], `peak_frequency` [Hz], `delay` [s], null where not reached.

    Args:
        machine: name or path.
        configuration: of its file.
        controller: one of `twin.control.controller_names()`.
        json: file to write.
        plot: HTML file to write.
        options: of `measure_response`; None keeps its default.

    Raises:
        InputError: an argument that cannot be used.
    """
    check_files(json=(json, ".json"), plot=(plot, PAGE))
    if plot is not None:
        from twin.basics.optional import optional

        optional("plotly")
    platform = load(machine, configuration)
    given = {name: value for name, value in options.items() if value is not None}
    make = partial(make_controller, controller)
    measured = measure_response(platform, controller=make, progress=None, **given)
    responses = {"platform": measured.platform}
    responses |= {f"actuator {number}": one for number, one in measured.actuators.items()}
    _print(measured, responses)
    if json is not None:
        content = text_format.dumps(_content(measured, responses), indent=1)
        line(f"wrote {write_text(json, content)}")
    if plot is not None:
        from twin.charts.panels import write_figure

        line(f"wrote {write_figure(measured_figure(measured), plot)}")


def _print(measured: MeasuredResponse, responses: dict[str, FrequencyResponse]) -> None:
    title = (
        f"{measured.machine} on {measured.engine}, {measured.controller}: {measured.direction}, "
        f"peak speed {measured.excitation.speed:.3g}"
    )
    whole, shown = measured.platform, measured.platform.trusted
    names = ("frequency [Hz]", "magnitude [dB]", "phase [deg]", "coherence", "deviation [%]")
    table([Column(name, True) for name in names], _rows(shown), title)
    lost = len(whole.frequency) - len(shown.frequency)
    if lost:
        line(
            f"{lost} of {len(whole.frequency)} frequencies are left out: their coherence is below "
            f"{TRUSTED:g}; a higher --speed may raise it"
        )
    rows = [(name, *_texts(response)) for name, response in responses.items()]
    titles = ("bandwidth [Hz]", "peak [dB]", "at [Hz]", "delay [ms]")
    table([Column("response"), *(Column(name, True) for name in titles)], rows)
    if measured.direction in AXES and measured.resting:
        who = ", ".join(map(str, measured.resting))
        line(
            f"not told of actuator {who}: along this axis at home it moves by less than "
            f"{100.0 * MOVING:g} percent of the one that moves most"
        )


def _rows(response: FrequencyResponse) -> list[tuple[str, ...]]:
    """Return about `ROWS` points, evenly in octaves."""
    if not len(response.frequency):
        return []
    wanted = np.geomspace(response.frequency[0], response.frequency[-1], ROWS)
    last = len(response.frequency) - 1
    kept = np.unique(np.searchsorted(response.frequency, wanted).clip(max=last))
    degrees = np.degrees(response.phase)
    return [
        (
            number(float(response.frequency[k]), 4),
            number(float(response.magnitude[k]), 3),
            number(float(degrees[k]), 4),
            number(float(response.coherence[k]), 4),
            number(100.0 * float(response.deviation[k]), 2),
        )
        for k in kept
    ]


def _texts(response: FrequencyResponse) -> tuple[str, str, str, str]:
    """Return bandwidth [Hz], peak [dB], its frequency [Hz] and delay [ms], or why there is none."""
    figures = _figures(response)
    if figures is None:
        return (f"coherence below {TRUSTED:g}", NONE, NONE, NONE)
    return (
        _bandwidth(response, figures),
        number(figures.peak, 4),
        number(figures.peak_frequency, 4),
        number(1e3 * figures.delay, 4) if np.isfinite(figures.delay) else NONE,
    )


def _bandwidth(response: FrequencyResponse, figures: ResponseFigures) -> str:
    """Return the bandwidth [Hz] where trusted points lie on both sides of it, else why not."""
    hertz, trusted = response.frequency, response.coherence >= TRUSTED
    if np.isfinite(figures.bandwidth):
        above = int(np.searchsorted(hertz, figures.bandwidth).clip(min=1))
        if trusted[above - 1 : above + 1].all():
            return number(figures.bandwidth, 4)
    lost = hertz[~trusted & (hertz > figures.peak_frequency)]
    if lost.size:
        return f"coherence lost at {lost[0]:.3g} Hz"
    if figures.peak < CUT_OFF:
        return f"below {CUT_OFF:g} dB throughout"
    return f"beyond {hertz[-1]:.3g} Hz"


def _figures(response: FrequencyResponse) -> ResponseFigures | None:
    try:
        return response_figures(response)
    except InputError:
        return None


def _content(measured: MeasuredResponse, responses: dict[str, FrequencyResponse]) -> dict[str, Any]:
    content: dict[str, Any] = {
        "machine": measured.machine,
        "engine": measured.engine,
        "controller": measured.controller,
        "direction": measured.direction,
        "speed": measured.excitation.speed,
        "responses": {},
    }
    for name, one in responses.items():
        figures = _figures(one) or (np.nan,) * 4
        named = zip(("bandwidth", "peak", "peak_frequency", "delay"), figures, strict=True)
        arrays = {
            "frequency": one.frequency,
            "magnitude": one.magnitude,
            "phase": one.phase,
            "coherence": one.coherence,
            "deviation": one.deviation,
        }
        content["responses"][name] = {
            key: [_finite(value) for value in array] for key, array in arrays.items()
        } | {key: _finite(value) for key, value in named}
    return content


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
