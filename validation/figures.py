"""Plots of a case as plotly figures in JSON, ready to be put into a page."""

from __future__ import annotations

from twin.validation.results import Plot
from twin.viewer.panels import Axes, Line, panels_figure


def figure_json(plot: Plot) -> str:
    """Return the plotly figure of a plot as JSON that is safe inside a script element.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    panels = [
        Axes(panel.y_label, [Line(c.name, c.x, c.y, c.style) for c in panel.curves], panel.log_y)
        for panel in plot.panels
    ]
    text: str = panels_figure(panels, plot.x_label, log_x=plot.log_x).to_json()
    # The parser of HTML must not see the end of the element, or a comment, inside a name.
    return text.replace("<", "\\u003c").replace(">", "\\u003e")
