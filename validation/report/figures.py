"""Figures of a case as plotly figures in JSON, packed for the page."""

from __future__ import annotations

import base64
import gzip
import html
from typing import Any, NamedTuple

import numpy as np

from twin.basics.optional import optional
from twin.charts.panels import Axes, Line, panels_figure, thin_out
from twin.charts.style import MUTED, axis, layout
from twin.validation.results import Curve, Field, Figure, Map, Plot

CURVE_POINTS = 400
"""Points of a curve at most, peaks kept: six machines have a thousand curves on one page."""

MAP_HEIGHT = 380
"""[pixels] with everything around it."""

MAP_TOP = 40
"""[pixels] above a map, for its title."""

MAP_GAP = 0.11
"""Share of the width between maps: room for the colour bar and the next axis."""

COLORS = "Viridis"
"""Readable without colour and with all common kinds of colour blindness."""


class Drawn(NamedTuple):
    """A figure as the page holds it."""

    kind: str
    """"plot" or "map" """
    height: int
    """[pixels]"""
    content: str
    """plotly's JSON, packed"""


def drawn(figure: Figure) -> Drawn:
    """Return a figure ready to be put into a page.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    built = map_figure(figure) if isinstance(figure, Map) else plot_figure(figure)
    kind = "map" if isinstance(figure, Map) else "plot"
    return Drawn(kind, int(built.layout.height), packed(built.to_json()))


def plot_figure(plot: Plot) -> Any:
    """Return the plotly figure of a plot.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    panels = [
        Axes(panel.y_label, [_line(curve) for curve in panel.curves], panel.log_y)
        for panel in plot.panels
    ]
    built = panels_figure(panels, plot.x_label, log_x=plot.log_x)
    if plot.names:
        names, last = [*map(html.escape, plot.names)], len(plot.names)
        built.update_xaxes(
            tickvals=[*range(1, last + 1)], ticktext=names, range=[0.5, last + 0.5], type="linear"
        )
    return built


def map_figure(figure: Map) -> Any:
    """Return the plotly figure of a map: one coloured field beside the other.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    graphs = optional("plotly.graph_objects")
    built = graphs.Figure(layout=layout(MAP_HEIGHT, MAP_TOP))
    count = len(figure.fields)
    for k, field in enumerate(figure.fields):
        number = "" if k == 0 else str(k + 1)
        left, right = k / count, (k + 1) / count - MAP_GAP
        built.layout[f"xaxis{number}"] = axis(html.escape(figure.x_label)) | {
            "domain": [left, right],
            "anchor": f"y{number}",
        }
        built.layout[f"yaxis{number}"] = axis("" if k else html.escape(figure.y_label)) | {
            "anchor": f"x{number}",
            "autorange": "reversed" if figure.downwards else True,
        }
        place = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        built.add_trace(graphs.Heatmap(**_colors(field, right), **place))
        built.add_annotation(_title(field.name, number))
    return built


def _colors(field: Field, right: float) -> dict[str, Any]:
    bar = {"x": right, "thickness": 12, "outlinewidth": 0, "exponentformat": "power"}
    if field.classes:
        bar["tickvals"] = [*range(field.classes)]
    return {
        "x": np.asarray(field.x, dtype=np.float32),
        "y": np.asarray(field.y, dtype=np.float32),
        "z": np.asarray(field.values, dtype=np.float32),
        "colorscale": COLORS,
        "colorbar": bar,
        "hovertemplate": "%{x:.4~g}, %{y:.4~g}: %{z:.4~g}<extra></extra>",
    }


def _title(name: str, number: str) -> dict[str, Any]:
    return {
        "text": html.escape(name),
        "xref": f"x{number} domain",
        "yref": f"y{number} domain",
        "x": 0,
        "y": 1.02,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"color": MUTED},
    }


def _line(curve: Curve) -> Line:
    kept = thin_out(curve.x, curve.y, CURVE_POINTS)
    return Line(curve.name, curve.x[kept], curve.y[kept], curve.style)


def packed(text: str) -> str:
    """Return a text compressed by gzip, in base64; the same text always gives the same result."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


def unpacked(text: str) -> str:
    """Return the text that `packed` compressed."""
    return gzip.decompress(base64.b64decode(text)).decode()
