"""The results of a workspace analysis: its table and figures."""

from __future__ import annotations

from functools import partial

from twin.analysis.workspace.analysis import Workspace
from twin.analysis.workspace.report.planes import axes_figure, maps_figure, ranges_figure
from twin.analysis.workspace.report.summary import summary_rows
from twin.analysis.workspace.report.surfaces import surface_figure
from twin.charts.results import Figure, Results, Table


def workspace_results(found: Workspace) -> Results:
    """Return the figures of an analysis as a table, and its charts."""
    platform = found.platform
    position_text = ", ".join(f"{value:.4g}" for value in found.center[:3])
    angle_text = ", ".join(f"{value:.4g}" for value in found.center[3:])
    title = f"{platform.name}: {platform.parameters.title}"
    return Results(
        f"Workspace of {platform.name}",
        [
            f"Seen from the pose ({position_text}) m, quaternion ({angle_text}); parameters "
            f"{platform.hash}."
        ],
        [Table(title, ("quantity", "value", "note"), summary_rows(found))],
        _figures(found),
    )


def _figures(found: Workspace) -> list[Figure]:
    has_attitudes = found.attitudes is not None
    stiffness = {
        "relative": "Stiffness is given per stiffness of an actuator, as the machine has no "
        "springs; give a stiffness for N/m.",
        "given": "Stiffness is that of the actuators as given.",
    }.get(found.legs.source, f"Stiffness is that of the {found.legs.source}.")
    places = (
        "Left: positions with the attitude held at the centre's (colour) inside those reached with "
        "some attitude (grey). Right: attitudes with the position held."
        if has_attitudes
        else "All degrees of freedom: height, roll and pitch."
    )
    figures = [
        Figure("Workspace", places, partial(surface_figure, found)),
        Figure(
            "Motion ranges",
            "Of every axis alone and with all others helping.",
            partial(ranges_figure, found),
        ),
        Figure(
            "Slices through the centre" if has_attitudes else "Slices",
            f"Inside the actuators' limits, the other axes as at the centre. {stiffness} "
            "Translational stiffness with the attitude held, rotational with the place held.",
            partial(maps_figure, found, found.maps),
        ),
    ]
    if has_attitudes:
        figures.append(
            Figure(
                "Orientation",
                "Attitudes at the centre's position: two angles each, the third as at the centre.",
                partial(maps_figure, found, found.attitude_maps),
            )
        )
    for unit, name in (("m", "translations"), ("rad", "rotations")):
        figures.append(
            Figure(
                f"Along the axes: {name}",
                "From limit to limit with the other axes as at the centre.",
                partial(axes_figure, found, unit),
            )
        )
    return figures
