"""Tables and pictures of a design, for the console and a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.optional import optional
from twin.charts.results import Cell, Figure, Results, Table
from twin.charts.style import CURVE_COLORS, axis, layout
from twin.design.design import Design
from twin.design.specification import Objective, angle_bounds

SHOWN_UNITS = {"m": ("mm", 1e3), "rad": ("deg", 180.0 / np.pi), "rad/s": ("deg/s", 180.0 / np.pi)}
"""Unit of a table, and what SI values are multiplied by, where it is not the SI unit."""

CAMERA_EYE = {"x": 1.5, "y": 1.5, "z": 1.0}
"""Place of the camera of a picture, in sizes of the scene."""


def design_results(machines: Sequence[Design], other: Objective | None = None) -> Results:
    """Return the results of a design, or of machines along a front to another objective."""
    best = machines[0]
    specification = best.specification
    tightest, demand = next(iter(best.demands.items()))
    findings = [
        f"The machine needs the least {specification.minimise} of {best.evaluations} candidates; "
        "all demands are met, judged with the masses of its legs.",
        f"The tightest demand is {tightest}: {demand.share:.1%} of its limit.",
    ]
    if best.at_bounds:
        findings.append(
            f"{', '.join(best.at_bounds)} ended at a bound: wider [bounds] may give more."
        )
    if best.actuator:
        findings.append(f"Its actuators are {best.actuator}.")
    tables = [
        Table("Free numbers", ("number", "value", "unit"), _numbers(best)),
        Table(
            "Demands",
            ("demand", "needed", "limit", "unit", "part of the limit [%]"),
            [
                (name, *_shown(one.required, one.limit, one.unit), 100.0 * one.share)
                for name, one in best.demands.items()
            ],
        ),
        Table("Figures", ("figure", "value", "unit"), _figures(best)),
        Table(
            "Sensitivity: change of a demand's part of its limit [%] for a number 1 % larger",
            ("demand", *best.values),
            [(name, *changes.values()) for name, changes in best.sensitivity.items()],
        ),
    ]
    figures = [
        Figure("Machine", "Legs and joints at home.", lambda: _machines_figure(machines[:1], [""]))
    ]
    if other is not None:
        first = specification.minimise
        rows = [(one.figures[first], one.figures[other], *one.values.values()) for one in machines]
        columns = (first, other, *best.values)
        tables.append(Table(f"Front between {first} and {other}, in SI units", columns, rows))
        figures.append(
            Figure(
                "Front",
                f"Each point is a machine that needs the least {first} of all with its {other}.",
                lambda: _front_figure(machines, first, other),
            )
        )
        titles = [_title(machine, (first, other)) for machine in machines]
        figures.append(
            Figure(
                "Machines along the front",
                "At home, all to one scale.",
                lambda: _machines_figure(machines, titles),
            )
        )
    return Results(f"Design: {specification.title}", findings, tables, figures)


def _title(machine: Design, names: Sequence[str]) -> str:
    rows = (row for row in _figures(machine) if row[0] in names)
    return "<br>".join(f"{name} {value:.3g} {unit}" for name, value, unit in rows)


def _shown(required: float, limit: float, unit: str) -> tuple[Cell, Cell, Cell]:
    name, factor = SHOWN_UNITS.get(unit, (unit, 1.0))
    return factor * required, factor * limit, name


def _numbers(machine: Design) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for name, value in machine.values.items():
        unit, factor = SHOWN_UNITS["rad" if angle_bounds(name) else "m"]
        rows.append((name, factor * value, unit))
    return rows


def _figures(machine: Design) -> list[tuple[Cell, ...]]:
    platform = machine.machine
    units = {
        "force": platform.force_unit,
        "speed": f"{platform.coordinate_unit}/s",
        "stroke": platform.coordinate_unit,
        "footprint": "m",
        "condition": "",
        "price": "",
    }
    rows: list[tuple[Cell, ...]] = []
    for name, value in machine.figures.items():
        if np.isfinite(value):
            unit, factor = SHOWN_UNITS.get(units[name], (units[name], 1.0))
            rows.append((name, factor * value, unit))
    return rows


def _lines(machine: Design) -> list[FloatArray]:
    """Return the lines `(k, 3)` [m] of the joints around base and platform, and of legs at home."""
    from twin.analysis.feasibility.course import leg_points

    points = leg_points(machine.machine, machine.machine.home[None])
    base, middle, tip = points.base[0], points.middle[0], points.tip[0]
    around = []
    for joints in (base, tip):
        order = np.argsort(np.arctan2(joints[:, 1], joints[:, 0]))
        around.append(joints[[*order, order[0]]])
    return [*around, *np.stack([base, middle, tip], axis=1)]


def _machines_figure(machines: Sequence[Design], titles: Sequence[str]) -> Any:
    """Return pictures of machines beside each other, all to one scale."""
    objects, subplots = optional("plotly.graph_objects"), optional("plotly.subplots")
    count = len(machines)
    figure = subplots.make_subplots(
        1,
        count,
        specs=[[{"type": "scene"}] * count],
        subplot_titles=titles,
        horizontal_spacing=0.0,
    )
    lines = [_lines(machine) for machine in machines]
    extent = max(float(np.abs(line[:, :2]).max()) for one in lines for line in one)
    heights = np.concatenate([line[:, 2] for one in lines for line in one])
    for column, one in enumerate(lines, start=1):
        for number, line in enumerate(one):
            color = {"width": 6, "color": CURVE_COLORS[0 if number < 2 else 1]}
            trace = objects.Scatter3d(
                **dict(zip("xyz", line.T, strict=True)), mode="lines", line=color, showlegend=False
            )
            figure.add_trace(trace, 1, column)
    figure.update_layout(**layout(480 if count == 1 else 340, 12 if count == 1 else 80))
    shown = {"visible": count == 1}
    side = shown | {"range": [-extent, extent]}
    height = shown | {"range": [heights.min(), heights.max()]}
    figure.update_scenes(
        xaxis=side, yaxis=side, zaxis=height, aspectmode="data", camera_eye=CAMERA_EYE
    )
    return figure


def _front_figure(machines: Sequence[Design], first: str, other: str) -> Any:
    objects = optional("plotly.graph_objects")
    curve = objects.Scatter(
        x=[one.figures[other] for one in machines],
        y=[one.figures[first] for one in machines],
        mode="lines+markers",
        line={"color": CURVE_COLORS[0]},
    )
    figure = objects.Figure([curve])
    figure.update_layout(**layout(360, 12))
    figure.update_xaxes(**axis(f"{other}, SI units"))
    figure.update_yaxes(**axis(f"{first}, SI units"))
    return figure
