"""A verdict as content for a file, and as a figure of all margins over time."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from twin.analysis.feasibility.verdict import Feasibility
from twin.basics.optional import optional
from twin.charts.panels import ALONE_HEIGHT, FOOT, GAP, HEAD, thin_out
from twin.charts.style import CURVES, TITLE_SIZE, axis, curve_color, layout, legend
from twin.errors import InputError, brief

LARGEST = 100.0
"""Share of a limit that is drawn; that of a singular pose is infinite."""


def feasibility_record(found: Feasibility) -> dict[str, Any]:
    """Return a verdict as content for JSON; times in s, the rest in the units that it names."""
    margins = [
        margin._asdict() | {"pose": margin.pose.tolist(), "holds": margin.holds}
        for margin in found.margins
    ]
    return {
        "machine": found.machine,
        "task": found.task,
        "feasible": found.feasible,
        "summary": found.summary,
        "margins": margins,
        "not_given": list(found.not_given),
        "notes": list(found.notes),
    }


def feasibility_figure(found: Feasibility) -> Any:
    """Return a plotly figure of the share of each limit over time, a line at 1.

    The cursor shows the share and the leg that uses most. Shares above `LARGEST` are drawn there.

    Raises:
        InputError: not a verdict, or one at rest, which has no course over time.
        MissingDependencyError: plotly is not installed.
    """
    if not isinstance(found, Feasibility):
        raise InputError("found", f"must be a Feasibility, not {brief(found)}")
    if not len(found.time) or not found.time[-1] > 0.0:
        raise InputError("plot", "a verdict at rest has no course over time; give a motion")
    figures = optional("plotly.graph_objects")
    top = GAP + HEAD + GAP
    figure = figures.Figure(layout=layout(2 * ALONE_HEIGHT + top + FOOT, top))
    title = html.escape(found.summary)
    figure.layout.title = {"text": title, "font": {"size": TITLE_SIZE}, "x": 0.01, "y": 0.99}
    figure.layout.title.yanchor = "top"
    order = [margin.quantity for margin in found.margins if margin.quantity in found.shares]
    for number, name in enumerate(order):
        share = np.minimum(found.shares[name], LARGEST)
        kept = thin_out(found.time, share)
        figure.add_trace(
            figures.Scatter(
                x=found.time[kept], y=share[kept], name=html.escape(name), mode="lines",
                line={"color": curve_color(number), "dash": "dot" if number >= len(CURVES) else
                      "solid", "width": 1.8, "simplify": False},
                customdata=np.array(found.worst_legs[name])[kept],
                hovertemplate="%{y:.3~g}, %{customdata}",
            )
        )  # fmt: skip
    figure.add_hline(y=1.0, line={"color": "#b3261e", "width": 1.5, "dash": "dash"})
    figure.layout.hovermode = "x unified"
    figure.layout.xaxis = axis("time [s]")
    largest = max(float(found.shares[name].max()) for name in order)
    highest = 1.05 * min(max(largest, 1.05), LARGEST)
    figure.layout.yaxis = axis("share of the limit, above 1: violated") | {"range": [0.0, highest]}
    figure.layout.legend = legend(1.01)
    return figure
