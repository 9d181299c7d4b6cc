"""Colours and fonts of every plot and of the report: the one place that holds them."""

from __future__ import annotations

from typing import Any

FONT = "Inter, 'Segoe UI', 'Helvetica Neue', system-ui, -apple-system, Arial, sans-serif"
"""Fonts that systems have; nothing is loaded."""

INK = "#1b2733"
MUTED = "#566370"
GRID = "#e8ecf0"
AXIS = "#b7c0c9"
PAPER = "#ffffff"

CURVES = (
    "#0067b1",
    "#d4550f",
    "#00866b",
    "#b0508a",
    "#c28a00",
    "#2f9bd6",
    "#6b4fa3",
    "#7a5c3e",
)
"""Distinct for all common kinds of colour blindness (after Okabe and Ito), dark enough on white."""

DARK = {
    "ink": "#e4e8ec",
    "muted": "#a8b3be",
    "line": "#343b43",
    "paper": "#1e2227",
    "ground": "#14171a",
    "accent": "#7ab8f5",
}
"""Colours of pages in the dark scheme, by the names of their variables in CSS."""

CONFIG = {
    "responsive": True,
    "displaylogo": False,
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}
"""Plotly's settings outside the figure: nothing on the page offers to upload it."""

FONT_SIZE = 12
TITLE_SIZE = 15


def curve_color(index: int) -> str:
    """Return the colour of the curve with this number, from 0; repeats after the last."""
    return CURVES[index % len(CURVES)]


def layout(height: int, top: int) -> dict[str, Any]:
    """Return the plotly layout that all figures share; `height` and `top` margin in pixels."""
    font = {"family": FONT, "size": FONT_SIZE, "color": INK}
    return {
        "template": "none",
        "height": height,
        "autosize": True,
        "paper_bgcolor": PAPER,
        "plot_bgcolor": PAPER,
        "font": font,
        "margin": {"l": 12, "r": 14, "t": top, "b": 12},
        "hovermode": "x",
        "hoverlabel": {"font": {"family": FONT, "size": FONT_SIZE}, "namelength": -1},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": AXIS, "activecolor": INK},
    }


def legend(bottom: float) -> dict[str, Any]:
    """Return a legend in one row whose lower edge is at `bottom`, a share of the figure."""
    return {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": bottom,
        "yanchor": "bottom",
        "font": {"size": FONT_SIZE},
        "bgcolor": "rgba(0,0,0,0)",
        "itemwidth": 30,
        "tracegroupgap": 0,
    }


def axis(label: str) -> dict[str, Any]:
    """Return the settings of one axis with its label."""
    return {
        "title": {"text": label, "font": {"size": FONT_SIZE, "color": MUTED}, "standoff": 8},
        "gridcolor": GRID,
        "linecolor": AXIS,
        "tickcolor": AXIS,
        "ticks": "outside",
        "ticklen": 4,
        "showline": True,
        "mirror": True,
        "zeroline": False,
        "automargin": True,
        "exponentformat": "power",
    }
