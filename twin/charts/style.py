"""Colours and fonts of every plot and of the report."""

from __future__ import annotations

from typing import Any

FONT_FAMILY = "Inter, 'Segoe UI', 'Helvetica Neue', system-ui, -apple-system, Arial, sans-serif"
"""Fonts that operating systems have; none is loaded."""

TEXT_COLOR = "#1b2733"
MUTED_COLOR = "#566370"
GRID_COLOR = "#e8ecf0"
AXIS_COLOR = "#b7c0c9"
BACKGROUND_COLOR = "#ffffff"

CURVE_COLORS = (
    "#0067b1",
    "#d4550f",
    "#00866b",
    "#b0508a",
    "#c28a00",
    "#2f9bd6",
    "#6b4fa3",
    "#7a5c3e",
)
"""Colours that are distinct for all common kinds of colour blindness (after Okabe and Ito), dark
enough on white."""

DARK_COLORS = {
    "ink": "#e4e8ec",
    "muted": "#a8b3be",
    "line": "#343b43",
    "paper": "#1e2227",
    "ground": "#14171a",
    "accent": "#7ab8f5",
}
"""Colours of pages in the dark scheme, by the names of their variables in CSS."""

PLOTLY_CONFIG = {
    "responsive": True,
    "displaylogo": False,
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}
"""Plotly's settings outside the figure: no button on the page uploads it."""

FONT_SIZE = 12
TITLE_SIZE = 15


def curve_color(index: int) -> str:
    """Return the colour of the curve with this index, from 0; colours repeat after the last."""
    return CURVE_COLORS[index % len(CURVE_COLORS)]


def layout(height: int, top: int) -> dict[str, Any]:
    """Return the plotly layout that all figures share; `height` and `top` margin in pixels."""
    font = {"family": FONT_FAMILY, "size": FONT_SIZE, "color": TEXT_COLOR}
    return {
        "template": "none",
        "height": height,
        "autosize": True,
        "paper_bgcolor": BACKGROUND_COLOR,
        "plot_bgcolor": BACKGROUND_COLOR,
        "font": font,
        "margin": {"l": 12, "r": 14, "t": top, "b": 12},
        "hovermode": "x",
        "hoverlabel": {"font": {"family": FONT_FAMILY, "size": FONT_SIZE}, "namelength": -1},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": AXIS_COLOR, "activecolor": TEXT_COLOR},
    }


def legend(bottom: float) -> dict[str, Any]:
    """Return a legend in one row whose lower edge is at `bottom`, as a fraction of the figure."""
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
        "title": {"text": label, "font": {"size": FONT_SIZE, "color": MUTED_COLOR}, "standoff": 8},
        "gridcolor": GRID_COLOR,
        "linecolor": AXIS_COLOR,
        "tickcolor": AXIS_COLOR,
        "ticks": "outside",
        "ticklen": 4,
        "showline": True,
        "mirror": True,
        "zeroline": False,
        "automargin": True,
        "exponentformat": "power",
    }
