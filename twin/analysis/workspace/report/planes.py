"""Maps over two axes as figures: dexterity, distance to singularity, stiffness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.analysis import Workspace
from twin.analysis.workspace.chart import Chart
from twin.analysis.workspace.dexterity import PlaneMap, dexterity, stiffness_range
from twin.basics.arrays import FloatArray
from twin.basics.optional import optional
from twin.charts.panels import FOOTER_HEIGHT, PANEL_GAP, Axes, Line, panels_figure
from twin.charts.style import FONT_SIZE, TEXT_COLOR, axis, curve_color, layout, legend

COLOR_SCALE = "Viridis"
"""Colour scale whose steps look even, also for the colour blind and in grey."""

MAP_HEIGHT = 300
"""[pixels] Height of one map."""

ROW_GAP = 74
"""[pixels] Gap between rows, for axis titles and the next row's titles."""

COLUMN_DOMAINS = ((0.045, 0.29), (0.375, 0.62), (0.705, 0.95))
"""Ends of the columns, relative to the width; each has its colour bar on the right."""

MILLI = 1e3
"""Factor from [m] to [mm]."""

DEGREES_PER_RADIAN = 180.0 / np.pi

POSES_PER_AXIS = 161
"""Poses along an axis of the curves."""

LIGHT_COLOR = "#b3d1e7"
"""The first curve's colour at 30 % on white; legends do not show opacity."""

BAR_HEIGHT = 44
"""[pixels] Height of the bar of one axis."""

TOP_MARGIN = 70
"""[pixels] Space above the maps."""

BOTTOM_MARGIN = 60
"""[pixels] Space below the maps."""


class Quantity(NamedTuple):
    """Quantity of a row of maps."""

    title: str
    field: Callable[[PlaneMap], FloatArray]


def quantities(found: Workspace) -> tuple[Quantity, ...]:
    """Return the rows of the maps, in the units of the machine."""
    relative = found.legs.source == "relative"
    crank = found.platform.coordinate_unit == "rad"
    singular = "rad/m" if crank else "1"
    if relative:
        inverse_unit = "1/m<sup>2</sup>" if crank else "1"
        shift, turn, scale = (
            f"per stiffness of an actuator [{inverse_unit}]",
            f"per stiffness of an actuator [{'1' if crank else 'm<sup>2</sup>'}]",
            1.0,
        )
    else:
        shift, turn, scale = "[kN/m]", "[kN m/rad]", 1e-3
    return (
        Quantity("1/condition number [1]", lambda one: one.dexterity.conditioning),
        Quantity(
            f"smallest singular value [{singular}]: 0 at a singular pose",
            lambda one: one.dexterity.smallest,
        ),
        Quantity(
            f"softest translation {shift}", lambda one: scale * one.stiffness.softest_translation
        ),
        Quantity(f"softest rotation {turn}", lambda one: scale * one.stiffness.softest_rotation),
    )


def maps_figure(found: Workspace, maps: tuple[PlaneMap, ...]) -> Any:
    """Return a plotly figure: a row per quantity, a column per map, with the boundary.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    plotly_graphs = optional("plotly.graph_objects")
    rows = quantities(found)
    inner_height = len(rows) * (MAP_HEIGHT + ROW_GAP) - ROW_GAP
    figure = plotly_graphs.Figure(
        layout=layout(inner_height + TOP_MARGIN + BOTTOM_MARGIN, TOP_MARGIN)
    )
    figure.layout.margin = {"l": 12, "r": 14, "t": TOP_MARGIN, "b": BOTTOM_MARGIN}
    figure.layout.hovermode = "closest"
    for k, quantity in enumerate(rows):
        top = 1.0 - k * (MAP_HEIGHT + ROW_GAP) / inner_height
        bottom = max(0.0, top - MAP_HEIGHT / inner_height)
        fields = [quantity.field(plane) for plane in maps]
        value_range = (
            float(np.nanmin([np.nanmin(field) for field in fields])),
            float(np.nanmax([np.nanmax(field) for field in fields])),
        )
        _row(figure, plotly_graphs, maps, fields, value_range, (k, bottom, top, quantity.title))
    figure.layout.legend = legend(1.0 + 30 / inner_height) | {"x": 1.0, "xanchor": "right"}
    return figure


def _row(
    figure: Any,
    figures: Any,
    maps: tuple[PlaneMap, ...],
    fields: list[FloatArray],
    ends: tuple[float, float],
    place: tuple[int, float, float, str],
) -> None:
    k, bottom, top, title = place
    figure.layout[f"coloraxis{k + 1}"] = {
        "colorscale": COLOR_SCALE,
        "cmin": ends[0],
        "cmax": ends[1],
        "colorbar": {"x": 0.97, "y": 0.5 * (bottom + top), "len": 1.0 * (top - bottom),
                     "thickness": 12, "outlinewidth": 0, "exponentformat": "power"},
    }  # fmt: skip
    figure.add_annotation(
        text=title, x=0.0, y=top, xref="paper", yref="paper", xanchor="left", yanchor="bottom",
        yshift=5, showarrow=False, font={"size": FONT_SIZE + 1, "color": TEXT_COLOR},
    )  # fmt: skip
    for column, (plane, field) in enumerate(zip(maps, fields, strict=True)):
        number = 3 * k + column + 1
        name = "" if number == 1 else str(number)
        x, y = (shown(plane.chart, values, at) for at, values in enumerate((plane.x, plane.y)))
        axes = {"xaxis": f"x{name}", "yaxis": f"y{name}"}
        figure.add_trace(
            figures.Heatmap(
                x=x.astype(np.float32), y=y.astype(np.float32), z=field.astype(np.float32),
                coloraxis=f"coloraxis{k + 1}", name=title, **axes,
                hovertemplate="%{x:.4~g}, %{y:.4~g}: %{z:.4~g}<extra></extra>",
            )
        )  # fmt: skip
        is_first = number == 1
        for curve, points, dash in (
            ("boundary seen from the centre", plane.boundary, "solid"),
            ("singular poses, limits aside", _near(plane), "dot"),
        ):
            if dash == "dot" and not np.isfinite(points).any():
                continue
            line = shown(plane.chart, points)
            figure.add_trace(
                figures.Scatter(
                    x=line[:, 0], y=line[:, 1], mode="lines", name=curve, legendgroup=curve,
                    showlegend=is_first or (dash == "dot" and k == 0), hoverinfo="skip", **axes,
                    line={"color": TEXT_COLOR if dash == "solid" else curve_color(1), "width": 1.4,
                          "dash": dash},
                )
            )  # fmt: skip
        settings = axis(axis_label(plane.chart.axes[0])) | {"anchor": f"y{name}"}
        figure.layout[f"xaxis{name}"] = settings | {
            "domain": list(COLUMN_DOMAINS[column]), "constrain": "domain",
        }  # fmt: skip
        vertical = axis(axis_label(plane.chart.axes[1])) | {"anchor": f"x{name}"}
        vertical |= {"domain": [bottom, top], "constrain": "domain"}
        if len({name_of in ("x", "y", "z") for name_of in plane.chart.axes}) == 1:
            vertical |= {"scaleanchor": f"x{name}", "scaleratio": 1}
        figure.layout[f"yaxis{name}"] = vertical


def _near(one: PlaneMap) -> FloatArray:
    """Return the singular poses that lie inside the map; NaN elsewhere."""
    low, high = (np.array([ends(one.x), ends(one.y)]) for ends in (np.min, np.max))
    is_on_map = np.asarray(((one.singular >= low) & (one.singular <= high)).all(axis=1))
    return np.where(is_on_map[:, None], one.singular, np.nan)


def axis_label(name: str) -> str:
    """Return an axis' name with the unit it is drawn in."""
    return f"{name} [{'m' if name in ('x', 'y', 'z') else 'deg'}]"


def shown(chart: Chart, values: FloatArray, column: int | None = None) -> FloatArray:
    """Return axis values as they are drawn: places [m] in the base, angles [deg] from the centre.

    Args:
        chart: whose axes they are.
        values: `(..., k)` from the centre, or `(...)` of one axis.
        column: the one axis.
    """
    factors = np.where(chart.columns < 3, 1.0, DEGREES_PER_RADIAN)
    origin = np.append(chart.center[:3], np.zeros(3))[chart.columns]
    if column is not None:
        factors, origin = factors[column], origin[column]
    return np.asarray(origin + values * factors)


def ranges_figure(found: Workspace) -> Any:
    """Return a plotly figure of the range of every axis, alone and with the others free.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    plotly_graphs = optional("plotly.graph_objects")
    translations = [span for span in found.ranges if span.unit == "m"]
    rotations = [span for span in found.ranges if span.unit == "rad"]
    rows = max(len(translations), len(rotations))
    figure = plotly_graphs.Figure(
        layout=layout(rows * BAR_HEIGHT + PANEL_GAP + FOOTER_HEIGHT, PANEL_GAP)
    )
    for number, (group, scale, unit) in enumerate(
        ((translations, MILLI, "mm"), (rotations, DEGREES_PER_RADIAN, "deg"))
    ):
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
            ends = scale * np.array([getattr(span, field) for span in group])
            figure.add_trace(
                plotly_graphs.Bar(
                    y=[span.axis for span in group], base=ends[:, 0], x=ends[:, 1] - ends[:, 0],
                    orientation="h", name=label, legendgroup=label, showlegend=not number,
                    width=(0.7, 0.36)[k], xaxis=f"x{name}", yaxis=f"y{name}",
                    marker={"color": (LIGHT_COLOR, curve_color(0))[k]},
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
    scale, label = (MILLI, "mm") if unit == "m" else (DEGREES_PER_RADIAN, "deg")
    stiffness = found.legs.values if found.legs.source == "given" else None
    force = 1.0 if found.legs.source == "relative" else 1e-3
    curves: list[list[Line]] = [[] for _ in titles]
    for axis_range in found.ranges:
        if axis_range.unit != unit:
            continue
        chart = Chart.about(found.platform, (axis_range.axis,), found.center)
        x = np.linspace(*axis_range.alone, POSES_PER_AXIS)
        poses = chart.poses(x[:, None])
        kinematics = dexterity(found.platform, poses)
        stiffnesses = stiffness_range(found.platform, poses, stiffness)
        values = (
            kinematics.conditioning,
            kinematics.smallest,
            force * stiffnesses.softest_translation,
            force * stiffnesses.softest_rotation,
        )
        for panel, value in zip(curves, values, strict=True):
            panel.append(Line(axis_range.axis, scale * x, value))
    panels = [Axes(_plain(title), lines) for title, lines in zip(titles, curves, strict=True)]
    return panels_figure(panels, f"displacement from the centre, others held [{label}]")


def _plain(title: str) -> str:
    """Return a title short enough for an axis, without markup."""
    for entity, character in (
        (": 0 at a singular pose", ""),
        ("1/condition number", "1/condition"),
        ("smallest singular value", "smallest s. v."),
        ("softest ", "soft. "),
        (" per stiffness of an actuator", ""),
        ("<sup>2</sup>", "²"),
    ):
        title = title.replace(entity, character)
    return title
