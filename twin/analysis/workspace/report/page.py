"""The workspace analysis as one interactive page that loads nothing."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from twin.analysis.workspace.analysis import Workspace
from twin.analysis.workspace.report.lines import axes_figure, ranges_figure
from twin.analysis.workspace.report.planes import maps_figure
from twin.analysis.workspace.report.summary import summary_rows
from twin.analysis.workspace.report.surfaces import surface_figure
from twin.basics.files import write_text
from twin.charts.style import CONFIG, FONT, GRID, INK, MUTED

STYLE = f"""
body {{ font-family: {FONT}; color: {INK}; margin: 0 auto; max-width: 1280px; padding: 20px 24px; }}
h1 {{ font-size: 22px; margin: 0 0 4px; }} h2 {{ font-size: 17px; margin: 30px 0 2px; }}
p {{ color: {MUTED}; font-size: 13.5px; line-height: 1.45; margin: 3px 0 8px; max-width: 1000px; }}
table {{ border-collapse: collapse; font-size: 13px; }}
th, td {{ text-align: left; padding: 4px 16px 4px 0; border-bottom: 1px solid {GRID}; }}
th {{ color: {MUTED}; font-weight: 600; }}
"""


def write_page(found: Workspace, path: str | Path) -> Path:
    """Write the analysis with all its figures as one HTML page, atomically; returns the path.

    Raises:
        InputError: the place cannot be written to.
        MissingDependencyError: plotly is not installed.
    """
    platform = found.platform
    title = f"{platform.name}: workspace"
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p>{html.escape(platform.parameters.title)}. Parameters {platform.hash}. "
        f"Seen from the pose {_pose(found)}.</p>",
        _table(found),
    ]
    for number, (heading, text, figure) in enumerate(_sections(found)):
        parts += [f"<h2>{heading}</h2>", f"<p>{text}</p>", _figure(figure, first=not number)]
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>"
        f"{''.join(parts)}</body></html>"
    )
    return write_text(path, page)


def _sections(found: Workspace) -> list[tuple[str, str, Any]]:
    whole = found.attitudes is not None
    stiffness = {
        "relative": "Stiffness is given per stiffness of an actuator, as the machine has no "
        "springs; give a stiffness for N/m.",
        "given": "Stiffness is that of the actuators as given.",
    }.get(found.legs.source, f"Stiffness is that of the {found.legs.source}.")
    places = (
        "Left: positions with the attitude held at the centre's (colour) inside those reached with "
        "some attitude (grey). Right: attitudes with the position held."
        if whole
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
            "Slices through the centre" if whole else "Slices",
            f"Inside the actuators' limits, the other axes as at the centre. {stiffness} "
            "Translational stiffness with the attitude held, rotational with the place held.",
            maps_figure(found, found.maps, ""),
        ),
    ]
    if whole:
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


def _figure(figure: Any, first: bool) -> str:
    # Plotly takes entries out of the settings it is given.
    return str(figure.to_html(full_html=False, include_plotlyjs=first, config=dict(CONFIG)))


def _table(found: Workspace) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(row.name)}</td><td>{html.escape(row.value)}</td>"
        f"<td>{html.escape(row.note)}</td></tr>"
        for row in summary_rows(found)
    )
    return f"<table><tr><th>quantity</th><th>value</th><th>note</th></tr>{rows}</table>"


def _pose(found: Workspace) -> str:
    place = ", ".join(f"{value:.4g}" for value in found.center[:3])
    turn = ", ".join(f"{value:.4g}" for value in found.center[3:])
    return f"({place}) m, quaternion ({turn})"
