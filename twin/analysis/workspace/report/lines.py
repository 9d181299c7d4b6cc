"""Motion ranges as bars, and the measures along each axis as curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.workspace.analysis import Workspace
from twin.analysis.workspace.chart import Chart
from twin.analysis.workspace.dexterity import dexterity, stiffness_range
from twin.analysis.workspace.report.planes import DEGREES, MILLI, quantities
from twin.basics.optional import optional
from twin.charts.panels import FOOT, GAP, Axes, Line, panels_figure
from twin.charts.style import FONT_SIZE, axis, curve_color, layout, legend

POINTS = 161
"""Poses along an axis."""

LIGHT = "#b3d1e7"
"""The first curve's colour at 30 % on white; legends do not show opacity."""

BAR = 44
"""[pixels] per axis"""


def ranges_figure(found: Workspace) -> Any:
    """Return a plotly figure of the range of every axis, alone and with the others free.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    figures = optional("plotly.graph_objects")
    shifts = [one for one in found.ranges if one.unit == "m"]
    turns = [one for one in found.ranges if one.unit == "rad"]
    rows = max(len(shifts), len(turns))
    figure = figures.Figure(layout=layout(rows * BAR + GAP + FOOT, GAP))
    for number, (group, scale, unit) in enumerate(((shifts, MILLI, "mm"), (turns, DEGREES, "deg"))):
        name = "" if not number else "2"
        left = 0.53 * number
        figure.layout[f"xaxis{name}"] = axis(f"displacement from the centre [{unit}]") | {
            "domain": [left, left + 0.47], "anchor": f"y{name}", "zeroline": True,
        }  # fmt: skip
        figure.layout[f"yaxis{name}"] = axis("") | {
            "autorange": "reversed", "anchor": f"x{name}",
        }  # fmt: skip
        for k, (label, field) in enumerate(
            (("others free", "free"), ("alone, others at the centre", "alone"))
        ):
            ends = scale * np.array([getattr(one, field) for one in group])
            figure.add_trace(
                figures.Bar(
                    y=[one.axis for one in group], base=ends[:, 0], x=ends[:, 1] - ends[:, 0],
                    orientation="h", name=label, legendgroup=label, showlegend=not number,
                    width=(0.7, 0.36)[k], xaxis=f"x{name}", yaxis=f"y{name}",
                    marker={"color": (LIGHT, curve_color(0))[k]},
                    hovertext=[f"{a:.4g} to {b:.4g} {unit}" for a, b in ends],
                    hovertemplate="%{hovertext}",
                )
            )  # fmt: skip
    figure.layout.barmode = "overlay"
    figure.layout.hovermode = "closest"
    figure.layout.legend = legend(1.02) | {"font": {"size": FONT_SIZE}}
    return figure


def axes_figure(found: Workspace, unit: str) -> Any:
    """Return a plotly figure of dexterity and stiffness along the axes of one unit, "m" or "rad".

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    titles = [quantity.title for quantity in quantities(found)]
    scale, label = (MILLI, "mm") if unit == "m" else (DEGREES, "deg")
    stiffness = found.legs.values if found.legs.source == "given" else None
    force = 1.0 if found.legs.source == "relative" else 1e-3
    curves: list[list[Line]] = [[] for _ in titles]
    for one in found.ranges:
        if one.unit != unit:
            continue
        chart = Chart.about(found.platform, (one.axis,), found.center)
        x = np.linspace(*one.alone, POINTS)
        poses = chart.poses(x[:, None])
        moves = dexterity(found.platform, poses)
        holds = stiffness_range(found.platform, poses, stiffness)
        values = (
            moves.conditioning,
            moves.smallest,
            force * holds.softest_translation,
            force * holds.softest_rotation,
        )
        for panel, value in zip(curves, values, strict=True):
            panel.append(Line(one.axis, scale * x, value))
    panels = [Axes(_plain(title), lines) for title, lines in zip(titles, curves, strict=True)]
    return panels_figure(panels, f"displacement from the centre, others held [{label}]")


def _plain(title: str) -> str:
    """Return a title short enough for an axis, without markup."""
    for long, short in (
        (": 0 at a singular pose", ""),
        ("1/condition number", "1/condition"),
        ("smallest singular value", "smallest s. v."),
        ("softest ", "soft. "),
        (" per stiffness of an actuator", ""),
        ("<sup>2</sup>", "²"),
    ):
        title = title.replace(long, short)
    return title
