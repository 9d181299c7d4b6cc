"""Tables and pictures of a design, for the console and a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twin.analysis.feasibility.course import leg_points
from twin.basics.arrays import FloatArray
from twin.basics.optional import optional
from twin.charts.panels import Axes, Line, panels_figure
from twin.charts.results import Figure, Results, Table
from twin.charts.style import CURVE_COLORS, layout
from twin.design.design import Design
from twin.design.specification import LIMIT_UNITS, Objective, actuator_units, is_angle

SHOWN_UNITS = {
    "m": ("mm", 1e3),
    "m/s": ("mm/s", 1e3),
    "rad": ("deg", 180.0 / np.pi),
    "rad/s": ("deg/s", 180.0 / np.pi),
}
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
        Table(
            "Free numbers, and what the machine needs",
            ("number", "value", "unit"),
            [(name, *number) for name, number in _numbers(best).items()],
        ),
        Table(
            "Demands",
            ("demand", "needed", "limit", "unit", "part of the limit [%]"),
            [
                (
                    name,
                    shown(demand.required, demand.unit)[0],
                    *shown(demand.limit, demand.unit),
                    100.0 * demand.share,
                )
                for name, demand in best.demands.items()
            ],
        ),
        Table(
            "Sensitivity: change of a demand's part of its limit [%] for a number 1 % larger",
            ("demand", *best.values),
            [(name, *best.sensitivity[name].values()) for name in best.demands],
        ),
    ]
    figures = [
        Figure("Machine", "Legs and joints at home.", lambda: _machines_figure(machines[:1], [""]))
    ]
    if other is not None:
        table, pictures = _front(machines, other)
        tables.append(table)
        figures += pictures
    return Results(f"Design: {specification.title}", findings, tables, figures)


def _front(machines: Sequence[Design], other: Objective) -> tuple[Table, list[Figure]]:
    """Return table and pictures of a Pareto front: no machine has less of both objectives."""
    first = machines[0].specification.minimise
    names = (first, other, *machines[0].values)
    points = [_numbers(machine) for machine in machines]
    columns = [f"{name} [{points[0][name][1]}]".removesuffix(" []") for name in names]
    rows = [[point[name][0] for name in names] for point in points]
    y, x = np.array(rows).T[:2]
    titles = [
        "<br>".join(f"{name} {point[name][0]:.3g} {point[name][1]}" for name in names[:2])
        for point in points
    ]
    explanation = f"Each point is a machine that needs the least {first} of all with its {other}."
    line = Line("machines", x, y, "line+markers")
    return Table(f"Front between {first} and {other}", columns, rows), [
        Figure("Front", explanation, lambda: panels_figure([Axes(columns[0], [line])], columns[1])),
        Figure(
            "Machines along the front",
            "At home, all to one scale.",
            lambda: _machines_figure(machines, titles),
        ),
    ]


def shown(value: float, unit: str) -> tuple[float, str]:
    """Return a number in SI units as tables show it, and the unit there."""
    name, factor = SHOWN_UNITS.get(unit, (unit, 1.0))
    return factor * value, name


def _numbers(machine: Design) -> dict[str, tuple[float, str]]:
    """Return the free numbers and the figures that a machine has, with their units."""
    units = {name: "rad" if is_angle(name) else "m" for name in machine.values}
    units |= LIMIT_UNITS | actuator_units(machine.specification.legs)
    return {
        name: shown(value, units.get(name, ""))
        for name, value in (machine.values | machine.figures).items()
        if np.isfinite(value)
    }


def _lines(machine: Design) -> list[FloatArray]:
    """Return the lines `(k, 3)` [m] of the joints around base and platform, and of legs at home."""
    points = leg_points(machine.machine, machine.machine.home[None])
    base, middle, tip = (part[0] for part in points[:3])
    around = []
    for joints in (base, tip):
        order = np.argsort(np.arctan2(joints[:, 1], joints[:, 0]))
        around.append(joints[[*order, order[0]]])
    return [*around, *np.stack([base, middle, tip], axis=1)]


def _machines_figure(machines: Sequence[Design], titles: Sequence[str]) -> Any:
    """Return pictures of machines beside each other, all to one scale."""
    count = len(machines)
    figure = optional("plotly.subplots").make_subplots(
        1,
        count,
        specs=[[{"type": "scene"}] * count],
        subplot_titles=titles,
        horizontal_spacing=0.0,
    )
    lines = [_lines(machine) for machine in machines]
    extent = max(
        float(np.abs(line[:, :2]).max()) for machine_lines in lines for line in machine_lines
    )
    heights = np.concatenate([line[:, 2] for machine_lines in lines for line in machine_lines])
    for column, machine_lines in enumerate(lines, start=1):
        for number, line in enumerate(machine_lines):
            color = {"width": 6, "color": CURVE_COLORS[0 if number < 2 else 1]}
            x, y, z = line.T
            figure.add_scatter3d(
                x=x, y=y, z=z, mode="lines", line=color, showlegend=False, row=1, col=column
            )
    figure.update_layout(**layout(480 if count == 1 else 340, 12 if count == 1 else 80))
    shown = {"visible": count == 1}
    side = shown | {"range": [-extent, extent]}
    height = shown | {"range": [heights.min(), heights.max()]}
    figure.update_scenes(
        xaxis=side, yaxis=side, zaxis=height, aspectmode="data", camera_eye=CAMERA_EYE
    )
    return figure
