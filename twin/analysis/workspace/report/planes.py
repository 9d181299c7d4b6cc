"""Maps over two axes as figures: dexterity, distance to singularity, stiffness."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.analysis import Workspace
from twin.analysis.workspace.chart import Chart
from twin.analysis.workspace.dexterity import PlaneMap, dexterity, stiffness_range
from twin.basics.arrays import FloatArray
from twin.basics.optional import optional
from twin.charts.panels import FOOTER_HEIGHT, PANEL_GAP, Axes, Line, panels_figure
from twin.charts.style import FONT_SIZE, TEXT_COLOR, axis, curve_color, layout, legend
from twin.motion.motion import POSITION_AXES

COLOR_SCALE = "Viridis"
"""Colour scale whose steps look even, also for the colour blind and in grey."""

MAP_HEIGHT = 300
"""[pixels] Height of one map."""

ROW_GAP = 74
"""[pixels] Gap between rows, for axis titles and the next row's titles."""

COLUMN_GAP = 0.085
"""Gap between columns relative to the width, for axis titles."""

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
    graphs, subplots = optional("plotly.graph_objects"), optional("plotly.subplots")
    rows = quantities(found)
    inner_height = len(rows) * (MAP_HEIGHT + ROW_GAP) - ROW_GAP
    figure = subplots.make_subplots(
        len(rows),
        len(maps),
        horizontal_spacing=COLUMN_GAP,
        vertical_spacing=ROW_GAP / inner_height,
        subplot_titles=[
            quantity.title if column == 1 else ""
            for quantity in rows
            for column in range(len(maps))
        ],
    )
    figure.update_annotations(font={"size": FONT_SIZE + 1, "color": TEXT_COLOR})
    named_curves: set[str] = set()
    for k, quantity in enumerate(rows, start=1):
        fields = [quantity.field(plane) for plane in maps]
        bottom, top = figure.get_subplot(k, 1).yaxis.domain
        bar = {"x": 1.0, "y": 0.5 * (bottom + top), "len": top - bottom, "thickness": 12}
        figure.layout[f"coloraxis{k}"] = {
            "colorscale": COLOR_SCALE,
            "cmin": float(np.nanmin([np.nanmin(field) for field in fields])),
            "cmax": float(np.nanmax([np.nanmax(field) for field in fields])),
            "colorbar": {**bar, "outlinewidth": 0, "exponentformat": "power"},
        }
        for column, (plane, field) in enumerate(zip(maps, fields, strict=True), start=1):
            place = {"row": k, "col": column}
            x, y = (shown(plane.chart, values, at) for at, values in enumerate((plane.x, plane.y)))
            heatmap = graphs.Heatmap(
                x=x.astype(np.float32), y=y.astype(np.float32), z=field.astype(np.float32),
                coloraxis=f"coloraxis{k}", name=quantity.title,
                hovertemplate="%{x:.4~g}, %{y:.4~g}: %{z:.4~g}<extra></extra>",
            )  # fmt: skip
            figure.add_trace(heatmap, **place)
            for name, line in _curves(plane):
                in_legend = name not in named_curves
                named_curves.add(name)
                curve = graphs.Scatter(
                    **line, name=name, legendgroup=name, showlegend=in_legend, hoverinfo="skip"
                )
                figure.add_trace(curve, **place)
            x_name, y_name = plane.chart.axes
            figure.update_xaxes(axis(axis_label(x_name)) | {"constrain": "domain"}, **place)
            figure.update_yaxes(axis(axis_label(y_name)) | {"constrain": "domain"}, **place)
            if (x_name in POSITION_AXES) == (y_name in POSITION_AXES):
                figure.update_yaxes(scaleanchor=figure.get_subplot(k, column).yaxis.anchor, **place)
    figure.update_layout(layout(inner_height + TOP_MARGIN + BOTTOM_MARGIN, TOP_MARGIN))
    figure.update_layout(
        hovermode="closest",
        margin={"b": BOTTOM_MARGIN},
        legend=legend(1.0 + 30 / inner_height) | {"x": 1.0, "xanchor": "right"},
    )
    return figure


def _curves(plane: PlaneMap) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and plotly settings of the lines on a map, without those that lie outside it."""
    for name, points, color, dash in (
        ("boundary seen from the centre", plane.boundary, TEXT_COLOR, "solid"),
        ("singular poses, limits aside", _near(plane), curve_color(1), "dot"),
    ):
        if np.isfinite(points).any():
            x, y = shown(plane.chart, points).T
            style = {"color": color, "width": 1.4, "dash": dash}
            yield name, {"x": x, "y": y, "mode": "lines", "line": style}


def _near(one: PlaneMap) -> FloatArray:
    """Return the singular poses that lie inside the map; NaN elsewhere."""
    low, high = (np.array([ends(one.x), ends(one.y)]) for ends in (np.min, np.max))
    is_on_map = np.asarray(((one.singular >= low) & (one.singular <= high)).all(axis=1))
    return np.where(is_on_map[:, None], one.singular, np.nan)


def axis_label(name: str) -> str:
    """Return an axis' name with the unit it is drawn in."""
    return f"{name} [{'m' if name in POSITION_AXES else 'deg'}]"


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
    graphs, subplots = optional("plotly.graph_objects"), optional("plotly.subplots")
    figure = subplots.make_subplots(1, 2, horizontal_spacing=COLUMN_GAP)
    bars = (("others free", "free", 0.7), ("alone, others at the centre", "alone", 0.36))
    row_count = 0
    for column, (unit, scale, shown_unit) in enumerate(
        (("m", MILLI, "mm"), ("rad", DEGREES_PER_RADIAN, "deg")), start=1
    ):
        group = [axis_range for axis_range in found.ranges if axis_range.unit == unit]
        row_count = max(row_count, len(group))
        label = f"displacement from the centre [{shown_unit}]"
        figure.update_xaxes(axis(label) | {"zeroline": True}, col=column)
        figure.update_yaxes(axis("") | {"autorange": "reversed"}, col=column)
        for color, (name, field, width) in zip((LIGHT_COLOR, curve_color(0)), bars, strict=True):
            low, high = scale * np.array([getattr(axis_range, field) for axis_range in group]).T
            ends = zip(low, high, strict=True)
            texts = [f"{start:.4g} to {end:.4g} {shown_unit}" for start, end in ends]
            bar = graphs.Bar(
                y=[axis_range.axis for axis_range in group], base=low, x=high - low,
                orientation="h", name=name, legendgroup=name, showlegend=column == 1, width=width,
                marker={"color": color}, hovertemplate="%{hovertext}",
                hovertext=texts,
            )  # fmt: skip
            figure.add_trace(bar, row=1, col=column)
    figure.update_layout(layout(row_count * BAR_HEIGHT + PANEL_GAP + FOOTER_HEIGHT, PANEL_GAP))
    figure.update_layout(barmode="overlay", hovermode="closest", legend=legend(1.02))
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
