"""The results of measured frequency responses."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from twin.analysis.frequency.measured import MeasuredResponse, measured_figure
from twin.analysis.frequency.response import (
    AXES,
    CUT_OFF,
    MIN_COHERENCE,
    MOVING_RATE_FRACTION,
    FrequencyResponse,
    ResponseFigures,
    response_figures,
)
from twin.charts.results import Cell, Figure, Results, Table
from twin.errors import InputError

MAX_ROWS = 16
"""Approximate number of frequencies that are printed."""


def response_results(measured: MeasuredResponse) -> Results:
    """Return magnitude, phase and coherence of the platform, and the bandwidth of all responses."""
    unit = measured.unit
    title = (
        f"{measured.machine} on {measured.engine}, {measured.controller}: {measured.direction}, "
        f"peak speed {measured.excitation.speed:.3g} {unit}"
    )
    all_points, trusted_points = measured.platform, measured.platform.trusted
    findings = []
    names = ("frequency [Hz]", "magnitude [dB]", "phase [deg]", "coherence [1]", "deviation [%]")
    omitted = len(all_points.frequency) - len(trusted_points.frequency)
    if omitted:
        findings.append(
            f"{omitted} of {len(all_points.frequency)} frequencies are left out: their coherence "
            f"is below {MIN_COHERENCE:g}; {_advice(measured)}"
        )
    if measured.direction in AXES and measured.resting:
        actuator_list = ", ".join(map(str, measured.resting))
        findings.append(
            f"no response of actuator {actuator_list}: along this axis at home it moves by less "
            f"than {100.0 * MOVING_RATE_FRACTION:g} percent of the one that moves most"
        )
    titles = ("response", "bandwidth [Hz]", "peak [dB]", "at [Hz]", "delay [ms]")
    rows = [(name, *_figure_cells(response)) for name, response in _responses(measured).items()]
    tables = [Table(title, names, _rows(trusted_points)), Table("", titles, rows)]
    figure = Figure("Frequency response", title, partial(measured_figure, measured))
    return Results(f"Frequency response of {measured.machine}", findings, tables, [figure])


def _advice(measured: MeasuredResponse) -> str:
    """Return advice on how to raise the coherence."""
    highest_frequency = measured.platform.frequency[-1]
    advice_by_limit = {
        "acceleration": f"--high below {highest_frequency:.3g} Hz allows more",
        "stroke": "a higher --low allows more",
    }
    if not measured.limit:
        return "a higher --speed may raise it"
    advice = advice_by_limit.get(measured.limit, "sines one by one (--method stepped) may raise it")
    return (
        "beside friction and the steps of the encoders the motion is small, as large as the "
        f"actuators' limit of {measured.limit} allows; {advice}"
    )


def _rows(response: FrequencyResponse) -> list[tuple[float, ...]]:
    """Return about `MAX_ROWS` points, evenly spaced in octaves."""
    if not len(response.frequency):
        return []
    target_frequencies = np.geomspace(response.frequency[0], response.frequency[-1], MAX_ROWS)
    last_index = len(response.frequency) - 1
    indices = np.unique(
        np.searchsorted(response.frequency, target_frequencies).clip(max=last_index)
    )
    columns = (
        response.frequency,
        response.magnitude,
        np.degrees(response.phase),
        response.coherence,
        100.0 * response.deviation,
    )
    return [tuple(row) for row in np.stack(columns, axis=1)[indices].tolist()]


def _figure_cells(response: FrequencyResponse) -> tuple[Cell, ...]:
    """Return bandwidth [Hz], peak [dB], its frequency [Hz] and delay [ms], or why there is none."""
    figures = _figures(response)
    if figures is None:
        return (f"coherence below {MIN_COHERENCE:g}", "-", "-", "-")
    return (
        _bandwidth(response, figures),
        figures.peak,
        figures.peak_frequency,
        1e3 * figures.delay,
    )


def _bandwidth(response: FrequencyResponse, figures: ResponseFigures) -> Cell:
    """Return the bandwidth [Hz] where trusted points lie on both sides of it, else why not."""
    frequency, trusted = response.frequency, response.coherence >= MIN_COHERENCE
    if np.isfinite(figures.bandwidth):
        upper_index = int(np.searchsorted(frequency, figures.bandwidth).clip(min=1))
        if trusted[upper_index - 1 : upper_index + 1].all():
            return figures.bandwidth
    untrusted_frequencies = frequency[~trusted & (frequency > figures.peak_frequency)]
    if untrusted_frequencies.size:
        return f"coherence lost at {untrusted_frequencies[0]:.3g} Hz"
    if figures.peak < CUT_OFF:
        return f"below {CUT_OFF:g} dB throughout"
    return f"beyond {frequency[-1]:.3g} Hz"


def _figures(response: FrequencyResponse) -> ResponseFigures | None:
    try:
        return response_figures(response)
    except InputError:
        return None


def response_content(measured: MeasuredResponse) -> dict[str, Any]:
    """Return the responses as content for a JSON file.

    Keys: `machine`, `engine`, `controller`, `direction`, `speed` (peak along the direction, m/s or
    rad/s), and `responses`: name ("platform", "actuator 1", ...) to `frequency` [Hz], `magnitude`
    [dB], `phase` [rad], `coherence`, `deviation` (per magnitude), each a list, and `bandwidth`
    [Hz], `peak` [dB], `peak_frequency` [Hz], `delay` [s], NaN where not reached.
    """
    return {
        "machine": measured.machine,
        "engine": measured.engine,
        "controller": measured.controller,
        "direction": measured.direction,
        "speed": measured.excitation.speed,
        "responses": {
            name: _response_content(response) for name, response in _responses(measured).items()
        },
    }


def _response_content(response: FrequencyResponse) -> dict[str, Any]:
    figures = _figures(response) or ResponseFigures(np.nan, np.nan, np.nan, np.nan)
    names = ("frequency", "magnitude", "phase", "coherence", "deviation")
    return {name: getattr(response, name) for name in names} | figures._asdict()


def _responses(measured: MeasuredResponse) -> dict[str, FrequencyResponse]:
    """Return the responses of platform and actuators by name."""
    actuators = {f"actuator {number}": response for number, response in measured.actuators.items()}
    return {"platform": measured.platform} | actuators
