"""The tables that the commands `feasible`, `payload` and `frequency` show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from twin.analysis.feasibility.course import TIGHT_FRACTION, Margin, amount, share_text
from twin.analysis.feasibility.feasibility import Feasibility, feasibility
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
from twin.analysis.machine_summary import pose_name
from twin.analysis.payload.dynamic import DynamicPayload, static_figure
from twin.analysis.payload.static import ANGLE_CONVENTION, DependentActuators, StaticPayload
from twin.analysis.platform import Platform
from twin.charts.panels import number, value_text
from twin.charts.results import Cell, Figure, Results, Table
from twin.cli.console import line, paragraph, table
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.motion.motion import axis_names
from twin.rotations import angle_between


def print_feasibility(verdict: Feasibility) -> None:
    """Print the verdict, its margins, remedies, assumptions and limits that are not given."""
    columns = ("quantity", "needed", "limit", "unit", "used", "leg", "where", "verdict")
    table(columns, [_row(margin) for margin in verdict.margins], verdict.summary)
    _print_required(verdict)
    _print_remedies(verdict)
    for note in verdict.notes:
        paragraph(f"Note: {note}.")
    if verdict.not_given:
        paragraph(f"Not given, so not judged: {'; '.join(verdict.not_given)}.")


def _print_required(feasibility: Feasibility) -> None:
    """Print what each actuator has to give, with or without a limit."""
    force, speed = feasibility.units
    columns = ["leg", f"peak [{force}]", "where"]
    if feasibility.places:
        rows = [
            (leg.leg, leg.peak_force, feasibility.places[leg.peak_force_row])
            for leg in feasibility.required
        ]
        table(columns, rows, "required of the actuators at rest")
        return
    columns += [f"RMS [{force}]", f"peak [{speed}]", "where", "peak [W]", "where", "energy [J]"]

    def instant(row: int) -> str:
        return f"{feasibility.time[row]:.3g} s"

    legs = [
        (
            leg.leg,
            leg.peak_force,
            instant(leg.peak_force_row),
            leg.rms_force,
            leg.peak_speed,
            instant(leg.peak_speed_row),
            leg.peak_power,
            instant(leg.peak_power_row),
            leg.energy,
        )
        for leg in feasibility.required
    ]
    table(columns, legs, "required of the actuators")


def print_verdicts(verdicts: Sequence[Feasibility]) -> None:
    """Print one line per verdict, and the missing limits; `twin feasible` shows all margins."""
    columns = ("task", "verdict", "closest limit", "used", "leg", "where")
    rows = []
    for verdict in verdicts:
        quantity, *_, share_used, leg, instant_text, result = _row(verdict.margins[0])
        rows.append((verdict.task, result, quantity, share_used, leg, instant_text))
    table(columns, rows, "feasibility")
    for verdict in verdicts:
        _print_remedies(verdict)
    missing_limits = dict.fromkeys(name for verdict in verdicts for name in verdict.not_given)
    if missing_limits:
        paragraph(f"Not given, so not judged: {'; '.join(missing_limits)}.")


def print_banner(platform: MachineModel, motion: Motion | None) -> None:
    """Print the limits that a motion violates, or rest at home; nothing for a feasible one."""
    verdict = feasibility(platform, motion)
    if not verdict.feasible:
        line(verdict.summary, bold=True)
        _print_remedies(verdict)


def _print_remedies(feasibility: Feasibility) -> None:
    for remedy in feasibility.remedies:
        paragraph(remedy, "- ")


def _row(margin: Margin) -> tuple[str, ...]:
    """Return the row of a margin."""
    sign = ">= " if margin.at_least else ""
    result = "fail" if not margin.holds else "tight" if margin.share > TIGHT_FRACTION else "pass"
    return (
        margin.quantity,
        amount(margin.required),
        sign + amount(margin.limit),
        margin.unit,
        share_text(margin.share),
        ", ".join(map(str, margin.legs)),
        margin.place,
        result,
    )


def payload_results(
    platform: Platform, still: StaticPayload, dynamic_payloads: Mapping[str, DynamicPayload]
) -> Results:
    """Return the largest payload at rest, and those under shaking by the name of their motion."""
    own_mass = number(float(platform.parameters.platform.body.mass))
    largest_turn = np.degrees(angle_between(still.poses[:, 3:], platform.home[3:])).max()
    findings = [
        f"{len(still.extensions)} positions searched, {still.skipped} left out",
        "positions are all combinations of the actuators' ranges: they turn the platform by up to "
        f"{number(float(largest_turn), 3)} deg from home",
        f"total: with the platform's own {own_mass} kg; where: as seen from home",
    ]
    limits = f"{value_text(still.limits.tolist())} {platform.force_unit} ({still.sense})"
    tables = [_table(platform, still, f"payload at rest, limits {limits}")]
    for name, dynamic_payload in dynamic_payloads.items():
        rates = ", ".join(f"{rate:g}" for rate in dynamic_payload.criterion.frequencies)
        tables.append(
            _table(platform, dynamic_payload, f"payload under shaking, {name}, {rates} Hz")
        )
        left_out = ", ".join(map(str, dynamic_payload.left_out))
        findings.append(
            f"{name}: positions left out per frequency: {left_out} of "
            f"{len(dynamic_payload.extensions)}"
        )
    if dynamic_payloads:
        accelerations = next(iter(dynamic_payloads.values())).criterion.accelerations
        peaks = (
            f"{axis} {peak:g} {'m/s2' if axis in ('x', 'y', 'z') else 'rad/s2'}"
            for axis, peak in zip(axis_names(ANGLE_CONVENTION), accelerations, strict=True)
        )
        findings.append(
            f"criterion: that of the Stewart thesis, all axes at once, {', '.join(peaks)}"
        )
    figure = Figure(
        "Largest payload at rest",
        "Largest force or torque of all positions over the mass.",
        partial(static_figure, platform, still),
    )
    return Results(f"Payload of {platform.name}", findings, tables, [figure])


def _table(platform: Platform, payload: StaticPayload | DynamicPayload, title: str) -> Table:
    failure = _position_text(platform, payload.first_failure, "first ")
    decisive = f"leg {payload.exact_leg}, {_position_text(platform, payload.exact_position)}"
    if isinstance(payload, DynamicPayload):
        decisive += f", {payload.exact_frequency:g} Hz"
        if payload.first_failure is not None:
            failure += f", {payload.first_failure_frequency:g} Hz"
    rows = [
        ("holds", *_masses(platform, payload.passes_kg), "everywhere on the grid"),
        ("does not hold", *_masses(platform, payload.fails_kg), failure),
        ("largest on the grid", *_masses(platform, payload.exact_limit_kg), decisive),
    ]
    columns = ("quantity", "total mass [kg]", "added [kg]", "where")
    return Table(f"{platform.name}: {title}", columns, rows)


def _masses(platform: Platform, value: float | None) -> tuple[str, str]:
    """Return the texts of a total mass and of the mass that it adds to the bare platform."""
    if value is None:
        return "none", ""
    if value <= 0.0:
        return "none", "the legs alone are too heavy"
    if not np.isfinite(value):
        return "all runs left out", ""
    payload_mass = value - float(platform.parameters.platform.body.mass)
    return number(value), number(payload_mass) if payload_mass > 0.0 else "none"


def _position_text(platform: Platform, position: Any, word: str = "") -> str:
    """Return the description of the pose with extensions `(n,)`; empty for None."""
    if position is None:
        return ""
    actuators = DependentActuators.of(platform)
    _, poses = actuators.positions(position[None, actuators.leading])
    return word + pose_name(platform, poses[0])


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
        return "a higher --peak-speed may raise it"
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
        return (f"fewer than two points of coherence {MIN_COHERENCE:g}", "-", "-", "-")
    return (
        _bandwidth(response, figures),
        figures.peak,
        figures.peak_frequency,
        1e3 * figures.delay,
    )


def _bandwidth(response: FrequencyResponse, figures: ResponseFigures) -> Cell:
    """Return the bandwidth [Hz] where trusted points lie on both sides of it, else why not."""
    frequency, is_trusted = response.frequency, response.coherence >= MIN_COHERENCE
    if np.isfinite(figures.bandwidth):
        upper_index = int(np.searchsorted(frequency, figures.bandwidth).clip(min=1))
        if is_trusted[upper_index - 1 : upper_index + 1].all():
            return figures.bandwidth
    untrusted_frequencies = frequency[~is_trusted & (frequency > figures.peak_frequency)]
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
