"""Figures of the driving simulator's studies."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, one_of
from twin.basics.optional import optional
from twin.charts.panels import Axes, Line, panels_figure
from twin.charts.style import CURVES, GRID, TITLE_SIZE, axis, layout
from twin.papers.driving_simulator.dae.integration import DaeRun
from twin.papers.driving_simulator.dae.lagrange import DRIVEN
from twin.papers.driving_simulator.plate import CORNERS
from twin.papers.driving_simulator.studies.envelope import Envelope
from twin.papers.driving_simulator.studies.error_map import ErrorMap
from twin.papers.driving_simulator.studies.foot_friction import FrictionEffect
from twin.papers.driving_simulator.studies.printed_energy import ModelForces

QUANTITIES = {
    "length": "largest error of a length [mm]",
    "heave": "error of heave [mm]",
    "roll": "error of roll [deg]",
    "pitch": "error of pitch [deg]",
    "center": "horizontal error of the centre [mm]",
    "foot": "largest error of a foot [mm]",
}
"""What an error map can show -> its label."""

MILLIMETRES = 1e3

MAP_HEIGHT = 420
"""[pixels]"""

SCENE_HEIGHT = 520
"""[pixels]"""


def error_figure(grid: ErrorMap, quantity: str = "length", heave: Any = None) -> Any:
    """Return a plotly figure of a small-angle error over roll and pitch [deg] at one heave.

    Args:
        grid: the map.
        quantity: a key of `QUANTITIES`.
        heave: [m]; the nearest height of the map is shown, default its middle.

    Raises:
        InputError: unknown quantity, a heave that is no number.
        MissingDependencyError: plotly is not installed.
    """
    figures = optional("plotly.graph_objects")
    label = QUANTITIES[one_of(quantity, "quantity", QUANTITIES)]
    middle = 0.5 * (grid.heave[0] + grid.heave[-1])
    height = float(as_floats([middle if heave is None else heave], "heave", 1)[0])
    level = int(np.abs(grid.heave - height).argmin())
    values = _error_values(grid, quantity)[level]
    largest = float(np.nanmax(np.abs(values), initial=1e-12))
    figure = figures.Figure(
        figures.Heatmap(
            x=np.degrees(grid.pitch),
            y=np.degrees(grid.roll),
            z=values,
            zmin=-largest if np.nanmin(values, initial=0.0) < 0.0 else 0.0,
            zmax=largest,
            colorscale=_colors(float(np.nanmin(values, initial=0.0)) < 0.0),
            colorbar={"title": {"text": label, "side": "right"}},
            hovertemplate="pitch %{x:.3g}, roll %{y:.3g} deg: %{z:.4g}<extra></extra>",
        ),
        layout=layout(MAP_HEIGHT, 44),
    )
    figure.layout.xaxis, figure.layout.yaxis = axis("pitch [deg]"), axis("roll [deg]")
    return _titled(figure, f"Small-angle against exact model at heave {grid.heave[level]:.4g} m")


def envelope_figure(envelope: Envelope) -> Any:
    """Return a plotly figure in three dimensions [mm] of where the plate's centre can be.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    figures = optional("plotly.graph_objects")
    x, y, z = MILLIMETRES * envelope.center.T
    first, second, third = np.asarray(envelope.triangles).T
    mesh = figures.Mesh3d(
        x=x, y=y, z=z, i=first, j=second, k=third, color=CURVES[0], opacity=0.5, flatshading=True
    )
    figure = figures.Figure(mesh, layout=layout(SCENE_HEIGHT, 44))
    axes = {f"{name}axis": {"title": f"{name} [mm]", "gridcolor": GRID} for name in "xyz"}
    figure.layout.scene = {**axes, "aspectmode": "data"}
    return _titled(figure, "Translational envelope of the plate's centre")


def run_figure(run: DaeRun) -> Any:
    """Return a plotly figure of an integrated motion over time [s].

    Four panels: heave [mm], roll and pitch [deg], forces of the driven pillars [N], drift [m].

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    time, degrees = run.time, np.degrees(run.coordinates[:, 1:3])
    drift = np.where(run.position_drift > 0.0, run.position_drift, np.nan)
    panels = [
        Axes("heave [mm]", [Line("heave", time, MILLIMETRES * run.coordinates[:, 0])]),
        Axes("angle [deg]", _lines(time, degrees, ("roll", "pitch"))),
        Axes("force [N]", _lines(time, run.forces, DRIVEN)),
        Axes("drift [m]", [Line("constraints", time, drift)], log_y=True),
    ]
    return panels_figure(panels, "time [s]", title="Driven plate, small-angle model")


def forces_figure(forces: ModelForces) -> Any:
    """Return a plotly figure over time [s] of the driven pillars' forces [N] in three models.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    panels = []
    for k, name in enumerate(DRIVEN):
        lines = [
            Line("exact", forces.time, forces.exact[:, k]),
            Line("small-angle, as printed", forces.time, forces.printed[:, k], "dash"),
            Line("small-angle, complete", forces.time, forces.complete[:, k], "dot"),
        ]
        panels.append(Axes(f"{name.replace('_', ' ')} [N]", lines))
    return panels_figure(panels, "time [s]", title="Forces for one motion in three models")


def friction_figure(effect: FrictionEffect) -> Any:
    """Return a plotly figure over time [s] of what friction under the feet changes.

    Three panels: speeds of the feet [mm/s], forces [N] that friction adds, power [W].

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    speeds = MILLIMETRES * np.linalg.norm(effect.velocity, axis=-1)
    panels = [
        Axes("foot speed [mm/s]", _lines(effect.time, speeds, CORNERS)),
        Axes("added force [N]", _lines(effect.time, effect.force_difference, CORNERS)),
        Axes("friction power [W]", [Line("all feet", effect.time, effect.power)]),
    ]
    return panels_figure(panels, "time [s]", title="Friction under the feet")


def _lines(time: FloatArray, columns: FloatArray, names: tuple[str, ...]) -> list[Line]:
    return [Line(name.replace("_", " "), time, columns[:, k]) for k, name in enumerate(names)]


def _error_values(errors: ErrorMap, quantity: str) -> FloatArray:
    """Return the error `(a, b, c)` [mm] or [deg] that a map shows."""
    angle = {"roll": 1, "pitch": 2}
    if quantity in angle:
        return np.asarray(np.degrees(errors.coordinates[..., angle[quantity]]))
    metres = {
        "length": np.abs(errors.lengths).max(axis=-1),
        "heave": errors.coordinates[..., 0],
        "center": np.linalg.norm(errors.center, axis=-1),
        "foot": np.linalg.norm(errors.feet, axis=-1).max(axis=-1),
    }
    return np.asarray(MILLIMETRES * metres[quantity])


def _colors(both_signs: bool) -> list[tuple[float, str]]:
    if both_signs:
        return [(0.0, CURVES[1]), (0.5, GRID), (1.0, CURVES[0])]
    return [(0.0, GRID), (1.0, CURVES[0])]


def _titled(figure: Any, title: str) -> Any:
    text = {"text": html.escape(title), "font": {"size": TITLE_SIZE}}
    figure.layout.title = {**text, "x": 0.01, "y": 0.99, "yanchor": "top"}
    return figure
