"""The workspace analysis of one machine: table, figures, and plain content for JSON files.

Figures are the surface of the workspace with the machine drawn to scale, and maps of dexterity and
stiffness over pairs of axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.dexterity import (
    Conditioning,
    Dexterity,
    LegStiffness,
    PlaneMap,
    StiffnessRange,
    conditioning_over,
    dexterity,
    leg_stiffness,
    plane_map,
    stiffness_over,
    stiffness_range,
)
from twin.analysis.workspace.region import RAY_LEVELS, AxisRange, Region, motion_ranges, region
from twin.analysis.workspace.search import (
    MAX_ANGLE,
    Chart,
    dof_axes,
    singular_distance,
    sphere,
    square,
)
from twin.basics import canonical
from twin.basics.arrays import FloatArray, rotated
from twin.basics.optional import optional
from twin.charts.results import Figure, Results, Table
from twin.charts.style import TEXT_COLOR, axis, curve_color, layout, legend
from twin.model.machine_model import MachineModel, as_model
from twin.motion.motion import POSITION_AXES

SINGULAR_LEVEL = 24
"""Heights of directions of the search for the closest singular pose."""

CONE_HALVINGS = 14
"""Number of times that the cone about the best direction is halved."""

DIRECTION_STRIDE = 19
"""Stride through the directions that are tried in each cone: every 19th of them."""


class SingularDistance(NamedTuple):
    """The closest singular poses from the centre, the actuators' limits aside; None if none."""

    translation: float | None
    """distance [m] with the attitude fixed"""
    direction: FloatArray | None
    """`(3,)` unit vector there"""
    rotation: float | None
    """angle [rad] with the position fixed"""
    axis: FloatArray | None
    """`(3,)` unit vector to turn about"""


class Workspace(NamedTuple):
    """Results of the analysis about one pose, the `center`."""

    platform: MachineModel
    center: FloatArray
    """pose `(7,)` about which the workspace is analysed"""
    ranges: tuple[AxisRange, ...]
    region: Region
    """constant-orientation workspace over x, y, z; on pillars the whole one over z, roll, pitch"""
    attitudes: Region | None
    """workspace over yaw, pitch and roll with the position fixed; None on pillars"""
    dexterity: Dexterity
    """at the centre"""
    conditioning: Conditioning
    """conditioning over the region"""
    singular: SingularDistance
    legs: LegStiffness
    stiffness: StiffnessRange
    """at the centre"""
    softest: StiffnessRange
    """lowest over the region for the softest, highest for the stiffest direction"""
    maps: tuple[PlaneMap, ...]
    """maps over pairs of x, y and z; on pillars of z, roll and pitch"""
    attitude_maps: tuple[PlaneMap, ...]
    """maps over pairs of yaw, pitch and roll; empty on pillars"""


def workspace_analysis(
    platform: MachineModel,
    center: Any = None,
    *,
    stiffness: Any = None,
    levels: tuple[int, ...] = RAY_LEVELS,
) -> Workspace:
    """Return the workspace analysis of a machine about a pose.

    Args:
        platform: the machine.
        center: pose `(7,)` inside the limits, default home.
        stiffness: of the actuators, see `leg_stiffness`.
        levels: heights of directions for the volumes, see `region`.

    Raises:
        InputError: not a machine, a centre outside the workspace, or a stiffness that does not fit.
    """
    has_six_dof = as_model(platform).dof == 6
    axes = dof_axes(platform)
    legs = leg_stiffness(platform, stiffness)
    given_stiffness = legs.values if legs.source == "given" else None
    chart = Chart.about(platform, axes[:3], center)
    positions = region(chart, levels)
    attitudes = region(Chart.about(platform, axes[3:], center), levels[:2]) if has_six_dof else None
    maps, attitude_maps = (
        tuple(
            plane_map(platform, pair, center, stiffness=given_stiffness)
            for pair in combinations(names, 2)
        )
        for names in (axes[:3], axes[3:])
    )
    return Workspace(
        platform=platform,
        center=chart.center,
        ranges=motion_ranges(platform, center),
        region=positions,
        attitudes=attitudes,
        dexterity=dexterity(platform, chart.center),
        conditioning=conditioning_over(positions),
        singular=closest_singular(platform, center),
        legs=legs,
        stiffness=stiffness_range(platform, chart.center, given_stiffness),
        softest=stiffness_over(positions, given_stiffness),
        maps=maps,
        attitude_maps=attitude_maps,
    )


def closest_singular(platform: MachineModel, center: Any = None) -> SingularDistance:
    """Return the closest singular poses by pure translation and by pure rotation.

    Raises:
        InputError: not a machine, or a singular centre.
    """
    if not square(as_model(platform)):
        return SingularDistance(None, None, None, None)
    candidates: list[Any] = []
    directions, _ = sphere(SINGULAR_LEVEL)
    for axes, convention, max_radius in (
        (("x", "y", "z"), None, None),
        (("angle_x", "angle_y", "angle_z"), "rotation_vector", 2.0 * MAX_ANGLE),
    ):
        chart = Chart.about(platform, axes, center, convention)
        radii = singular_distance(chart, directions, max_radius)
        radius, best_direction = float(radii.min()), directions[int(radii.argmin())]
        if not np.isfinite(radius):
            candidates += [None, None]
            continue
        cone = np.pi / SINGULAR_LEVEL
        for _ in range(CONE_HALVINGS):
            cone_directions = best_direction + cone * directions[::DIRECTION_STRIDE]
            cone_directions /= np.linalg.norm(cone_directions, axis=1, keepdims=True)
            # Rays need to be only slightly longer than the shortest distance so far.
            radii = singular_distance(chart, cone_directions, 1.01 * radius)
            if radii.min() < radius:
                radius, best_direction = float(radii.min()), cone_directions[int(radii.argmin())]
            cone *= 0.5
        candidates += [radius * float(chart.scale[0]), best_direction]
    return SingularDistance(*candidates)


DEGREES_PER_RADIAN = 180.0 / np.pi

COLOR_SCALE = "Viridis"
"""Colour scale whose steps look even, also for the colour blind and in grey."""

SURFACE_HEIGHT = 620
"""[pixels] Height of the figure of surfaces."""

CAMERA_VIEW = {
    "eye": {"x": 1.65, "y": -2.05, "z": 0.85},
    "center": {"x": 0.0, "y": 0.0, "z": -0.08},
}

MAP_HEIGHT = 374
"""[pixels] Height of one row of maps with the gap below it."""

MAP_GAP = 74
"""[pixels] Gap between rows of maps, for axis titles and the next row's titles."""

MAP_MARGIN = 70
"""[pixels] Space above the maps."""

Row = tuple[str, str, str]
"""Quantity, value and note."""

LIMIT_NAMES = {"minimum": "lower limits", "maximum": "upper limits", "unreachable": "reach"}
"""Cause that ends the workspace -> its name in the table, where it is another one."""


def workspace_results(workspace: Workspace) -> Results:
    """Return an analysis as a table and figures."""
    platform = workspace.platform
    position, attitude = (
        ", ".join(f"{value:.4g}" for value in values)
        for values in (workspace.center[:3], workspace.center[3:])
    )
    finding = (
        f"Seen from the pose ({position}) m, quaternion ({attitude}); parameters {platform.hash}."
    )
    rows = [*_range_rows(workspace), *_volume_rows(workspace), *_dexterity_rows(workspace)]
    rows += _stiffness_rows(workspace)
    title = f"{platform.name}: {platform.parameters.title}"
    surfaces = "All degrees of freedom: height, roll and pitch."
    if workspace.attitudes is not None:
        surfaces = (
            "Left: positions with the attitude held at the centre's. Right: attitudes with the "
            "position held."
        )
    slices = (
        "Inside the actuators' limits, the other axes as at the centre. Translational stiffness "
        "is that with the attitude held, rotational stiffness that with the position held."
    )
    orientation = "Attitudes at the centre's position: two angles, the third as at the centre."
    figures = [Figure("Workspace", surfaces, partial(surface_figure, workspace))]
    figures += [
        Figure(name, text, partial(maps_figure, workspace, maps))
        for name, text, maps in (
            ("Slices", slices, workspace.maps),
            ("Orientation", orientation, workspace.attitude_maps),
        )
        if maps
    ]
    table = Table(title, ("quantity", "value", "note"), rows)
    return Results(f"Workspace of {platform.name}", [finding], [table], figures)


def _range_rows(workspace: Workspace) -> Iterator[Row]:
    for name, si_unit, span, ends in workspace.ranges:
        scale, unit = (1e3, "mm") if si_unit == "m" else (DEGREES_PER_RADIAN, "deg")
        low, high = (f"{scale * end:+.4g}" for end in span)
        yield f"{name}, others held", f"{low} to {high} {unit}", "; ".join(ends)


def _volume_rows(workspace: Workspace) -> Iterator[Row]:
    volumes = [("workspace over z, roll and pitch", workspace.region, 1.0, "m rad²")]
    if workspace.attitudes is not None:
        volumes = [
            ("constant-orientation workspace", workspace.region, 1e3, "dm³"),
            (
                "orientation workspace over yaw, pitch, roll",
                workspace.attitudes,
                DEGREES_PER_RADIAN**3,
                "deg³",
            ),
        ]
    for name, mapped_region, scale, unit in volumes:
        note = f"to {100 * mapped_region.uncertainty:.2g} % ({mapped_region.counts[-1]} rays)"
        hidden_fraction = 1.0 - mapped_region.visible / mapped_region.volume
        if hidden_fraction > 1e-6:
            note += f"; {100 * hidden_fraction:.2g} % not seen from the centre"
        yield name, f"{scale * mapped_region.volume:.4g} {unit}", note
    causes = ", ".join(
        f"{LIMIT_NAMES.get(cause, cause)} {100 * fraction:.0f} %"
        for cause, fraction in workspace.region.shares.items()
        if fraction > 0.0
    )
    yield "causes of the end", causes, "shares of all directions"


def _dexterity_rows(workspace: Workspace) -> Iterator[Row]:
    at_center, over_workspace = workspace.dexterity, workspace.conditioning
    singular = workspace.singular
    unit = " rad/m" if workspace.platform.coordinate_unit == "rad" else ""
    yield "condition number at the centre", f"{1.0 / at_center.conditioning:.4g}", "1: best"
    ends = f"{1.0 / over_workspace.highest:.4g} to {1.0 / over_workspace.lowest:.4g}"
    yield "condition number in the workspace", ends, "infinite at a singular pose"
    note = "mean of 1/condition number over the workspace"
    yield "global conditioning index", f"{over_workspace.mean:.4g}", note
    yield (
        "smallest singular value",
        f"{at_center.smallest:.4g}{unit} at the centre, "
        f"{over_workspace.lowest_singular_value:.4g}{unit} in the workspace",
        "of the scaled Jacobian, 0 at a singular pose",
    )
    if singular.translation is not None:
        value = f"{singular.translation:.4g} m"
        yield "closest singular pose, moved", value, f"along {_vector(singular.direction)}"
    if singular.rotation is not None:
        value = f"{DEGREES_PER_RADIAN * singular.rotation:.4g} deg"
        yield "closest singular pose, turned", value, f"about {_vector(singular.axis)}"


def _vector(vector: Any) -> str:
    return f"({', '.join(f'{value:.2f}' for value in np.round(vector, 2) + 0.0)})"


def stiffness_units(workspace: Workspace) -> tuple[str, str]:
    """Return the units of translational and rotational stiffness."""
    if workspace.legs.source != "relative":
        return "N/m", "N m/rad"
    return ("1/m²", "1") if workspace.platform.coordinate_unit == "rad" else ("1", "m²")


def _stiffness_rows(workspace: Workspace) -> Iterator[Row]:
    relative = workspace.legs.source == "relative"
    note = "per stiffness of an actuator" if relative else workspace.legs.source
    for name, unit in zip(("translation", "rotation"), stiffness_units(workspace), strict=True):
        for where, values in (
            ("at the centre", workspace.stiffness),
            ("in the workspace", workspace.softest),
        ):
            softest, stiffest = (
                getattr(values, f"{side}_{name}") for side in ("softest", "stiffest")
            )
            value = f"{softest:.4g} to {stiffest:.4g} {unit}".removesuffix(" 1")
            yield f"stiffness {where}, {name}", value, note


def workspace_content(workspace: Workspace) -> dict[str, Any]:
    """Return an analysis as content of a file; SI units and radians, None for what does not exist.

    Keys: `machine`, `parameters`, `center`; `ranges` (axis -> `unit`, `span`, `ends`); `workspace`
    (`axes`, `volume`, `uncertainty`, `visible`, `low`, `high`, `shares`, `rays`, `volumes`);
    `orientation_workspace` (likewise); `dexterity` (`at_center`, `over_workspace`);
    `singularity` (`translation`, `direction`, `rotation`, `axis`); `stiffness` (`source`,
    `of_actuators`, `at_center`, `over_workspace`).
    """
    attitudes = workspace.attitudes
    return {
        "machine": workspace.platform.name,
        "parameters": workspace.platform.hash,
        "center": workspace.center,
        "ranges": {
            name: {"unit": unit, "span": span, "ends": ends}
            for name, unit, span, ends in workspace.ranges
        },
        "workspace": _region_content(workspace.region),
        "orientation_workspace": attitudes and _region_content(attitudes),
        "dexterity": {
            "at_center": workspace.dexterity._asdict(),
            "over_workspace": workspace.conditioning._asdict(),
        },
        "singularity": workspace.singular._asdict(),
        "stiffness": {
            "source": workspace.legs.source,
            "of_actuators": workspace.legs.values,
            "at_center": workspace.stiffness._asdict(),
            "over_workspace": workspace.softest._asdict(),
        },
    }


def _region_content(region: Region) -> dict[str, Any]:
    low, high = region.extremes
    return {
        "axes": region.chart.axes,
        "volume": region.volume,
        "uncertainty": region.uncertainty,
        "visible": region.visible,
        "low": low,
        "high": high,
        "shares": region.shares,
        "rays": region.counts,
        "volumes": region.volumes,
    }


def surface_figure(workspace: Workspace) -> Any:
    """Return a plotly figure of the workspace: over places with the machine, and over attitudes.

    The colour is the conditioning (1/condition number) on the surface.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    graphs, subplots = optional("plotly.graph_objects"), optional("plotly.subplots")
    regions = {"attitude held" if workspace.attitudes else "workspace": workspace.region}
    if workspace.attitudes is not None:
        regions["place held"] = workspace.attitudes
    scenes = [[{"type": "scene"}] * len(regions)]
    figure = subplots.make_subplots(1, len(regions), specs=scenes, horizontal_spacing=0.0)
    figure.update_layout(layout(SURFACE_HEIGHT, 40))
    color_bar = {"title": {"text": "1/condition number", "side": "right"}, "thickness": 12}
    figure.layout.coloraxis = {"colorscale": COLOR_SCALE, "colorbar": color_bar}
    for column, (name, mapped_region) in enumerate(regions.items(), start=1):
        x, y, z = (
            _closed(values) for values in _shown(mapped_region.chart, mapped_region.surface).T
        )
        rays, chart = mapped_region.rays, mapped_region.chart
        values = dexterity(chart.platform, chart.along(rays.directions, rays.exits)).conditioning
        surface = graphs.Surface(
            x=x, y=y, z=z, surfacecolor=_closed(values), coloraxis="coloraxis", name=name,
            showlegend=True, hovertemplate="%{x:.4~g}, %{y:.4~g}, %{z:.4~g}<br>1/condition number "
            "%{surfacecolor:.3~g}",
        )  # fmt: skip
        figure.add_trace(surface, row=1, col=column)
        scene: dict[str, Any] = {
            f"{letter}axis": {"title": {"text": _axis_title(name)}}
            for letter, name in zip("xyz", chart.axes, strict=True)
        }
        scene |= {"aspectmode": "data" if workspace.attitudes else "cube", "camera": CAMERA_VIEW}
        figure.update_scenes(scene, row=1, col=column)
    if workspace.attitudes is not None:
        for name, points, color in _machine_lines(workspace):
            x, y, z = points.T
            line = {"color": color, "width": 5}
            figure.add_scatter3d(
                x=x, y=y, z=z, mode="lines", line=line, name=name, hoverinfo="skip", row=1, col=1
            )
    figure.update_layout(hovermode="closest", legend=legend(1.0))
    return figure


def _closed(values: FloatArray) -> FloatArray:
    """Return values `(2 k^2,)` of rays as a grid that closes about the axis and at its ends.

    The grid is `(k + 2, 2 k + 1)`; its ends have the mean of the circle next to them.
    """
    count = round(np.sqrt(len(values) / 2))
    grid = values.reshape(count, 2 * count)
    ends = np.repeat(grid[[0, -1]].mean(axis=1)[:, None], 2 * count, axis=1)
    grid = np.vstack([ends[0], grid, ends[1]])
    return np.column_stack([grid, grid[:, 0]]).astype(np.float32)


def _machine_lines(workspace: Workspace) -> Iterator[tuple[str, FloatArray, str]]:
    """Yield name, points `(k, 3)` and colour of lines: the machine at the centre."""
    platform, center = workspace.platform, workspace.center
    tips = center[:3] + rotated(center[3:], platform.platform_joints)
    legs = np.full((3 * len(tips), 3), np.nan)
    legs[::3], legs[1::3] = platform.base_joints, tips
    for name, joints, color in (
        ("base joints", platform.base_joints, TEXT_COLOR),
        ("platform joints", tips, curve_color(1)),
    ):
        relative = joints - joints.mean(axis=0)
        order = np.argsort(canonical.angles(relative[:, 1], relative[:, 0]))
        yield name, joints[np.r_[order, order[0]]], color
    yield "joint to joint", legs, curve_color(0)


def _axis_title(name: str) -> str:
    """Return an axis' name with the unit it is drawn in."""
    return f"{name} [{'m' if name in POSITION_AXES else 'deg'}]"


def _shown(chart: Chart, values: FloatArray) -> FloatArray:
    """Return axis values `(..., k)` as drawn: places [m] in the base, turns [deg] of the centre."""
    factors = np.where(chart.columns < 3, 1.0, DEGREES_PER_RADIAN)
    origin = np.append(chart.center[:3], np.zeros(3))[chart.columns]
    return np.asarray(origin + values * factors)


def maps_figure(workspace: Workspace, maps: tuple[PlaneMap, ...]) -> Any:
    """Return a plotly figure: a row per quantity, a column per map, with the boundary.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    graphs, subplots = optional("plotly.graph_objects"), optional("plotly.subplots")
    translation_unit, rotation_unit = stiffness_units(workspace)
    singular_unit = "rad/m" if workspace.platform.coordinate_unit == "rad" else "1"
    quantities = {
        "1/condition number [1]": [plane.dexterity.conditioning for plane in maps],
        f"smallest singular value [{singular_unit}]": [plane.dexterity.smallest for plane in maps],
        f"softest translation [{translation_unit}]": [
            plane.stiffness.softest_translation for plane in maps
        ],
        f"softest rotation [{rotation_unit}]": [plane.stiffness.softest_rotation for plane in maps],
    }
    inner_height = len(quantities) * MAP_HEIGHT - MAP_GAP
    spacing = MAP_GAP / inner_height
    figure = subplots.make_subplots(len(quantities), len(maps), vertical_spacing=spacing)
    for row, (name, fields) in enumerate(quantities.items(), start=1):
        bottom, top = figure.get_subplot(row, 1).yaxis.domain
        bar = {"y": 0.5 * (bottom + top), "len": top - bottom, "thickness": 12}
        bar["title"] = {"text": name, "side": "right"}
        figure.layout[f"coloraxis{row}"] = {"colorscale": COLOR_SCALE, "colorbar": bar}
        for column, (plane, field) in enumerate(zip(maps, fields, strict=True), start=1):
            cell = {"row": row, "col": column}
            x, y = _shown(plane.chart, np.stack([plane.x, plane.y], axis=1)).T.astype(np.float32)
            heatmap = graphs.Heatmap(
                x=x, y=y, z=field.astype(np.float32), coloraxis=f"coloraxis{row}", name=name,
                hovertemplate="%{x:.4~g}, %{y:.4~g}: %{z:.4~g}<extra></extra>",
            )  # fmt: skip
            figure.add_trace(heatmap, **cell)
            _draw_boundaries(figure, plane, row == column == 1, cell)
            x_title, y_title = (axis(_axis_title(name)) for name in plane.chart.axes)
            figure.update_xaxes(x_title | {"range": [x[0], x[-1]]}, **cell)
            figure.update_yaxes(y_title | {"range": [y[0], y[-1]]}, **cell)
    figure.update_layout(layout(inner_height + 2 * MAP_MARGIN, MAP_MARGIN))
    figure.update_layout(hovermode="closest", legend=legend(1.0 + 30 / inner_height))
    return figure


def _draw_boundaries(figure: Any, plane: PlaneMap, in_legend: bool, cell: dict[str, int]) -> None:
    """Draw the workspace's boundary on a map, and singular poses where they lie on it."""
    for name, points, color, dash in (
        ("boundary seen from the centre", plane.boundary, TEXT_COLOR, "solid"),
        ("singular poses, limits aside", plane.singular, curve_color(1), "dot"),
    ):
        x, y = _shown(plane.chart, points).T
        figure.add_scatter(
            x=x, y=y, mode="lines", line={"color": color, "width": 1.4, "dash": dash}, name=name,
            legendgroup=name, showlegend=in_legend, hoverinfo="skip", **cell,
        )  # fmt: skip
