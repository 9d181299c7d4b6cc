"""Feasibility: whether a machine does a motion with a load, and what is missing if it does not."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np

from twin.analysis.feasibility.course import DEFAULT_SAMPLES, motion_course, rest_course
from twin.analysis.feasibility.verdict import Feasibility, verdict
from twin.analysis.machine_summary import Ranges, axis_ranges, moved_home
from twin.analysis.payload.body import Payload, with_payload
from twin.basics.arrays import FloatArray
from twin.basics.optional import optional
from twin.charts.panels import FOOTER_HEIGHT, PANEL_GAP, SINGLE_PANEL_HEIGHT, TITLE_HEIGHT, thin_out
from twin.charts.style import CURVE_COLORS, TITLE_SIZE, axis, curve_color, layout, legend
from twin.errors import InputError, brief
from twin.model.machine_base import without_compiling
from twin.model.machine_model import MachineModel, as_model

MAX_DRAWN_FRACTION = 100.0
"""Largest fraction of a limit that is drawn; at a singular pose it is infinite."""


def feasibility(
    platform: MachineModel,
    motion: Any = None,
    *,
    payload: Payload | float | None = None,
    wrench: Any = None,
    samples: int = DEFAULT_SAMPLES,
) -> Feasibility:
    """Return whether a machine does a motion, or rests at home, with a load.

    Springs beside the actuators count as in `motor_requirement`. Springs in series follow without
    oscillating: forces are those of static equilibrium at rest, and quasi-static in a motion.

    Args:
        platform: the machine.
        motion: from `twin.motion`; None: at rest at home.
        payload: body fixed to the platform, or the mass [kg] of a point at its reference point;
            default none.
        wrench: external, constant `(6,)` [N], [N m] in base axes, default none.
        samples: number of times along the motion.

    Raises:
        InputError: not a machine, motion or payload, wrong shapes, or a convention whose angles
            the machine cannot have.
    """
    machine, load = _loaded(platform, payload)
    if motion is None:
        task = f"at rest at home{load}"
        return rest_feasibility(machine, machine.home[None], ("home",), task, wrench)
    course = motion_course(machine, motion, samples)
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(motion).__name__).lower()
    return verdict(machine, course, f"{kind} of {motion.duration:.4g} s{load}", wrench)


def rest_feasibility(
    platform: MachineModel,
    poses: FloatArray,
    places: tuple[str, ...],
    task: str,
    wrench: Any = None,
) -> Feasibility:
    """Return whether a machine rests at poses `(k, 7)`, each for itself.

    Args:
        platform: the machine.
        poses: that it can have.
        places: a name for each.
        task: name of them all.
        wrench: as for `feasibility`.

    Raises:
        InputError: wrong shapes.
    """
    with without_compiling():
        return verdict(platform, rest_course(platform, poses, places), task, wrench)


def range_feasibility(
    platform: MachineModel,
    *,
    payload: Payload | float | None = None,
    wrench: Any = None,
    ranges: Ranges | None = None,
    part: float = 1.0,
) -> Feasibility:
    """Return whether a machine rests at both ends of each range of `axis_ranges`.

    The ends are where an actuator is at its limit, springs relaxed, so stroke is left out.

    Args:
        platform: the machine.
        payload: as for `feasibility`.
        wrench: as for `feasibility`.
        ranges: what `axis_ranges` returns, where it is known.
        part: fraction of each range from home to its ends.

    Raises:
        InputError: not a machine or payload, or wrong shapes.
    """
    machine, load = _loaded(platform, payload)
    with without_compiling():
        range_poses = [
            (f"{name} {part * value:+.4g} {unit}", moved_home(machine, name, part * value, unit))
            for name, unit, span, _ in (axis_ranges(machine) if ranges is None else ranges)
            for value in span
        ]
    places, poses = zip(*range_poses, strict=True)
    ends_text = "its range ends" if part == 1.0 else f"{100.0 * part:.3g} % of its ranges"
    task = f"at rest at {ends_text}{load}"
    result = rest_feasibility(machine, np.array(poses), places, task, wrench)
    return result._replace(
        margins=tuple(margin for margin in result.margins if "stroke" not in margin.quantity)
    )


def _loaded(platform: MachineModel, payload: Payload | float | None) -> tuple[MachineModel, str]:
    """Return the machine with a payload, and a description of the payload."""
    as_model(platform)
    if payload is None:
        return platform, ""
    payload_body = payload if isinstance(payload, Payload) else Payload(payload)
    return with_payload(platform, payload_body), f" with {payload_body.name}"


def feasibility_record(found: Feasibility) -> dict[str, Any]:
    """Return a verdict as content for JSON; times in s, other values in the units named there."""
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
    """Return a plotly figure of the fraction of each limit over time, with a line at 1.

    The cursor shows the fraction and the leg that has it. Larger fractions are drawn at
    `MAX_DRAWN_FRACTION`.

    Raises:
        InputError: not a verdict, or one at rest, which has no course over time.
        MissingDependencyError: plotly is not installed.
    """
    if not isinstance(found, Feasibility):
        raise InputError("found", f"must be a Feasibility, not {brief(found)}")
    if not len(found.time) or not found.time[-1] > 0.0:
        raise InputError("plot", "a verdict at rest has no course over time; give a motion")
    plotly_graphs = optional("plotly.graph_objects")
    top_margin = PANEL_GAP + TITLE_HEIGHT + PANEL_GAP
    figure = plotly_graphs.Figure(
        layout=layout(2 * SINGLE_PANEL_HEIGHT + top_margin + FOOTER_HEIGHT, top_margin)
    )
    title = html.escape(found.summary)
    figure.layout.title = {"text": title, "font": {"size": TITLE_SIZE}, "x": 0.01, "y": 0.99}
    figure.layout.title.yanchor = "top"
    drawn_quantities = [
        margin.quantity for margin in found.margins if margin.quantity in found.shares
    ]
    for number, name in enumerate(drawn_quantities):
        values = np.minimum(found.shares[name], MAX_DRAWN_FRACTION)
        drawn = thin_out(found.time, values)
        dash = "dot" if number >= len(CURVE_COLORS) else "solid"
        figure.add_trace(
            plotly_graphs.Scatter(
                x=found.time[drawn], y=values[drawn], name=html.escape(name), mode="lines",
                line={"color": curve_color(number), "dash": dash, "width": 1.8, "simplify": False},
                customdata=np.array(found.worst_legs[name])[drawn],
                hovertemplate="%{y:.3~g}, %{customdata}",
            )
        )  # fmt: skip
    figure.add_hline(y=1.0, line={"color": "#b3261e", "width": 1.5, "dash": "dash"})
    figure.layout.hovermode = "x unified"
    figure.layout.xaxis = axis("time [s]")
    max_fraction = max(float(found.shares[name].max()) for name in drawn_quantities)
    axis_limit = 1.05 * min(max(max_fraction, 1.05), MAX_DRAWN_FRACTION)
    figure.layout.yaxis = axis("share of the limit, above 1: violated") | {
        "range": [0.0, axis_limit]
    }
    figure.layout.legend = legend(1.01)
    return figure
