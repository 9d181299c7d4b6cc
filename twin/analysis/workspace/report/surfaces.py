"""Workspaces in three dimensions: surfaces, with the machine drawn to scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.workspace.analysis import Workspace
from twin.analysis.workspace.chart import Chart
from twin.analysis.workspace.dexterity import dexterity
from twin.analysis.workspace.region import ReachableSet, Region
from twin.analysis.workspace.report.planes import COLOR_SCALE, axis_label, shown
from twin.basics import canonical
from twin.basics.arrays import FloatArray
from twin.basics.optional import optional
from twin.charts.style import (
    AXIS_COLOR,
    FONT_SIZE,
    GRID_COLOR,
    MUTED_COLOR,
    TEXT_COLOR,
    curve_color,
    layout,
)

FIGURE_HEIGHT = 620
"""[pixels] Height of the figure."""

REACHABLE_OPACITY = 0.2
"""Opacity of the reachable set, so that the workspace inside it is visible."""

CAMERA_VIEW = {
    "eye": {"x": 1.65, "y": -2.05, "z": 0.85},
    "center": {"x": 0.0, "y": 0.0, "z": -0.08},
}


def surface_figure(found: Workspace) -> Any:
    """Return a plotly figure of the workspace: over places with the machine, and over attitudes.

    The colour is the conditioning (1/condition number) on the surface.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    graphs, subplots = optional("plotly.graph_objects"), optional("plotly.subplots")
    has_attitudes = found.attitudes is not None
    regions = {"attitude held" if has_attitudes else "workspace": found.region}
    if found.attitudes is not None:
        regions["place held"] = found.attitudes
    scenes = [[{"type": "scene"}] * len(regions)]
    figure = subplots.make_subplots(1, len(regions), specs=scenes, horizontal_spacing=0.0)
    figure.update_layout(layout(FIGURE_HEIGHT, 40))
    color_bar = {"title": {"text": "1/condition number", "side": "right"}, "thickness": 12}
    color_bar |= {"len": 0.8, "outlinewidth": 0}
    figure.layout.coloraxis = {"colorscale": COLOR_SCALE, "colorbar": color_bar}
    for column, (name, region) in enumerate(regions.items(), start=1):
        place = {"row": 1, "col": column}
        figure.add_trace(graphs.Surface(**_surface(region, name)), **place)
        figure.update_scenes(_scene(region.chart, has_attitudes and column == 1), **place)
    if found.reachable is not None:
        figure.add_trace(graphs.Surface(**_reachable(found.reachable), scene="scene"))
    for trace in _machine(found) if has_attitudes else []:
        figure.add_trace(graphs.Scatter3d(**trace, scene="scene"))
    figure.layout.hovermode = "closest"
    figure.layout.legend = {"orientation": "h", "x": 0, "y": 1.06, "font": {"size": FONT_SIZE}}
    return figure


def _conditioning(region: Region) -> FloatArray:
    """Return conditioning `(m,)` just inside the surface, where limits are not yet met."""
    rays, chart = region.rays, region.chart
    return dexterity(chart.platform, chart.along(rays.directions, rays.exits)).conditioning


def _closed(values: FloatArray, count: int) -> FloatArray:
    """Return a grid `(count + 2, 2 count + 1)` of rays that closes about the axis and at its ends.

    The poles have the mean of the circle next to them.
    """
    grid = values.reshape(count, 2 * count)
    grid = np.column_stack([grid, grid[:, 0]])
    pole_rows = [np.full((1, grid.shape[1]), grid[row, :-1].mean()) for row in (0, -1)]
    return np.vstack([pole_rows[0], grid, pole_rows[1]])


def _grids(points: FloatArray) -> list[FloatArray]:
    count = round(np.sqrt(len(points) / 2))
    return [_closed(column, count).astype(np.float32) for column in points.T]


def _surface(region: Region, name: str) -> dict[str, Any]:
    points = shown(region.chart, region.surface)
    x, y, z = _grids(points)
    return {
        "x": x,
        "y": y,
        "z": z,
        "surfacecolor": _closed(_conditioning(region), len(x) - 2).astype(np.float32),
        "coloraxis": "coloraxis",
        "name": name,
        "showlegend": True,
        "showscale": False,
        "lighting": {"ambient": 0.75, "diffuse": 0.5, "specular": 0.05},
        "hovertemplate": "%{x:.4~g}, %{y:.4~g}, %{z:.4~g}<br>1/condition number "
        "%{surfacecolor:.3~g}",
    }


def _reachable(found: ReachableSet) -> dict[str, Any]:
    points = found.center[:3] + found.directions * found.segments.far[:, None]
    x, y, z = _grids(points)
    return {
        "x": x,
        "y": y,
        "z": z,
        "colorscale": [[0.0, MUTED_COLOR], [1.0, MUTED_COLOR]],
        "opacity": REACHABLE_OPACITY,
        "showscale": False,
        "name": "attitude free: reachable set",
        "showlegend": True,
        "hovertemplate": "%{x:.4~g}, %{y:.4~g}, %{z:.4~g} m",
    }


def _machine(found: Workspace) -> list[dict[str, Any]]:
    """Return lines of base, platform and legs at the centre of the analysis."""
    from scipy.spatial.transform import Rotation

    platform, center = found.platform, found.center
    matrix = Rotation.from_quat(center[[4, 5, 6, 3]]).as_matrix()
    tips = center[:3] + platform.platform_joints @ matrix.T
    legs = np.full((3 * len(tips), 3), np.nan)
    legs[::3], legs[1::3] = platform.base_joints, tips
    line_groups = (
        ("base joints", _ring(platform.base_joints), TEXT_COLOR, 5),
        ("platform joints", _ring(tips), curve_color(1), 5),
        ("joint to joint", legs, AXIS_COLOR, 3),
    )
    return [
        {
            "x": points[:, 0],
            "y": points[:, 1],
            "z": points[:, 2],
            "mode": "lines",
            "line": {"color": color, "width": width},
            "name": name,
            "hoverinfo": "skip",
        }
        for name, points, color, width in line_groups
    ]


def _ring(points: FloatArray) -> FloatArray:
    """Return joints in the order of their angle, closed."""
    relative_points = points - points.mean(axis=0)
    order = np.argsort(canonical.angles(relative_points[:, 1], relative_points[:, 0]))
    return points[np.r_[order, order[0]]]


def _scene(chart: Chart, equal: bool) -> dict[str, Any]:
    names = ("xaxis", "yaxis", "zaxis")
    settings: dict[str, Any] = {
        name: {
            "title": {"text": axis_label(axis)},
            "gridcolor": GRID_COLOR,
            "backgroundcolor": "rgba(0,0,0,0)",
            "zeroline": False,
            "color": MUTED_COLOR,
        }
        for name, axis in zip(names, chart.axes, strict=True)
    }
    same_unit = equal or len({axis in ("x", "y", "z") for axis in chart.axes}) == 1
    return settings | {"aspectmode": "data" if same_unit else "cube", "camera": CAMERA_VIEW}
