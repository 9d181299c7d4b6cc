"""An animated plotly figure of lines in space."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.optional import optional
from twin.charts.style import GRID_COLOR, layout

FIGURE_HEIGHT = 520
"""[pixels] Height of the figure."""

TITLE_HEIGHT = 40
"""[pixels] Space above the scene for the title."""

SCENE_MARGIN = 0.1
"""Space around the lines, relative to the largest extent."""


class MovingLine(NamedTuple):
    """A line through points that move; NaN between points interrupts it."""

    name: str
    points: FloatArray
    """`(frames, points, 3)` [m]"""
    color: str
    width: float
    """[pixels] line width"""


def animated_figure(lines: Sequence[MovingLine], times: FloatArray, title: str) -> Any:
    """Return a plotly figure that plays lines in space at the speed of their times.

    Args:
        lines: all with one frame per time.
        times: `(frames,)` [s], evenly spaced.
        title: title of the figure.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    figures = optional("plotly.graph_objects")
    frames = [
        figures.Frame(data=_traces(figures, lines, number), name=f"{time:.4g}")
        for number, time in enumerate(times)
    ]
    figure = figures.Figure(data=_traces(figures, lines, 0), frames=frames)
    frame_time = 1e3 * float(times[-1] - times[0]) / max(1, len(times) - 1)
    figure.update_layout(
        **layout(FIGURE_HEIGHT, TITLE_HEIGHT) | {"hovermode": False},
        title={"text": html.escape(title), "x": 0.01},
        showlegend=False,
        scene=_scene(lines),
        updatemenus=[_buttons(frame_time)],
        sliders=[_slider([frame.name for frame in frames])],
    )
    return figure


def _traces(figures: Any, lines: Sequence[MovingLine], number: int) -> list[Any]:
    return [
        figures.Scatter3d(
            **dict(zip("xyz", line.points[number].astype(np.float32).T, strict=True)),
            mode="lines",
            name=line.name,
            line={"color": line.color, "width": line.width},
        )
        for line in lines
    ]


def _scene(lines: Sequence[MovingLine]) -> dict[str, Any]:
    """Return the axes of the scene, equal in scale, that contain all frames."""
    points = np.concatenate([line.points.reshape(-1, 3) for line in lines])
    minimum, maximum = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    margin = SCENE_MARGIN * float((maximum - minimum).max())
    minimum, maximum = minimum - margin, maximum + margin
    relative_extent = (maximum - minimum) / (maximum - minimum).max()
    axes = {
        f"{name}axis": {
            "range": [float(minimum[k]), float(maximum[k])],
            "title": {"text": f"{name} [m]"},
            "gridcolor": GRID_COLOR,
            "showbackground": False,
        }
        for k, name in enumerate("xyz")
    }
    ratio = {name: float(value) for name, value in zip("xyz", relative_extent, strict=True)}
    camera = {"eye": {"x": 0.9, "y": -1.25, "z": 0.5}}
    return {**axes, "aspectmode": "manual", "aspectratio": ratio, "camera": camera}


def _steps(wait: float) -> dict[str, Any]:
    frame = {"duration": wait, "redraw": True}
    return {"frame": frame, "transition": {"duration": 0}, "mode": "immediate"}


def _buttons(wait: float) -> dict[str, Any]:
    play = {"label": "Play", "method": "animate", "args": [None, _steps(wait)]}
    pause = {"label": "Pause", "method": "animate", "args": [[None], _steps(0.0)]}
    position = {"x": 0.0, "y": 0.0, "xanchor": "left", "yanchor": "top", "direction": "left"}
    return {"type": "buttons", "showactive": False, "buttons": [play, pause], **position}


def _slider(names: Sequence[str]) -> dict[str, Any]:
    steps = [{"label": name, "method": "animate", "args": [[name], _steps(0.0)]} for name in names]
    current = {"prefix": "time [s]: ", "visible": True, "xanchor": "right"}
    return {"steps": steps, "currentvalue": current, "x": 0.22, "len": 0.76, "y": 0.0}
