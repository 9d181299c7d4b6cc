"""The workspace analysis as one interactive page that loads nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from twin.analysis.workspace.analysis import Workspace
from twin.analysis.workspace.report.planes import axes_figure, maps_figure, ranges_figure
from twin.analysis.workspace.report.summary import summary_rows
from twin.analysis.workspace.report.surfaces import surface_figure
from twin.basics.files import write_text
from twin.charts.results_page import results_page


def write_page(found: Workspace, path: str | Path) -> Path:
    """Write the analysis with all its figures as one HTML page, atomically; returns the path.

    Raises:
        InputError: the place cannot be written to.
        MissingDependencyError: plotly or jinja2 is not installed.
    """
    page = results_page(
        Path(__file__).with_name("page.html"),
        f"Workspace of {found.platform.name}",
        datetime.now(UTC).isoformat(timespec="seconds"),
        _sections(found),
        found=found,
        pose=_pose(found),
        rows=summary_rows(found),
    )
    return write_text(path, page)


def _sections(found: Workspace) -> list[tuple[str, str, Any]]:
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
    sections = [
        ("Workspace", places, surface_figure(found)),
        (
            "Motion ranges",
            "Of every axis alone and with all others helping.",
            ranges_figure(found),
        ),
        (
            "Slices through the centre" if has_attitudes else "Slices",
            f"Inside the actuators' limits, the other axes as at the centre. {stiffness} "
            "Translational stiffness with the attitude held, rotational with the place held.",
            maps_figure(found, found.maps, ""),
        ),
    ]
    if has_attitudes:
        sections.append(
            (
                "Orientation",
                "Attitudes at the centre's position: two angles each, the third as at the centre.",
                maps_figure(found, found.attitude_maps, ""),
            )
        )
    for unit, name in (("m", "translations"), ("rad", "rotations")):
        sections.append(
            (
                f"Along the axes: {name}",
                "From limit to limit with the other axes as at the centre.",
                axes_figure(found, unit),
            )
        )
    return sections


def _pose(found: Workspace) -> str:
    position_text = ", ".join(f"{value:.4g}" for value in found.center[:3])
    angle_text = ", ".join(f"{value:.4g}" for value in found.center[3:])
    return f"({position_text}) m, quaternion ({angle_text})"
