"""Figures of the analyses: motor profiles, sag over stiffness, required stroke."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.feasibility.motor_requirement import MotorRequirement
from twin.analysis.feasibility.stroke import RequiredStroke
from twin.basics.optional import optional
from twin.charts.panels import FOOT, GAP, PANEL_HEIGHT, Axes, Line, columns, legs, panels_figure
from twin.charts.style import FONT_SIZE, axis, curve_color, layout, legend
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model


def requirement_figure(platform: MachineModel, requirement: MotorRequirement) -> Any:
    """Return a plotly figure of force or torque, speed and power over time, peaks marked.

    Raises:
        InputError: not a machine, not a requirement.
        MissingDependencyError: plotly is not installed.
    """
    length, force = as_model(platform).coordinate_unit, platform.force_unit
    if not isinstance(requirement, MotorRequirement):
        raise InputError("requirement", f"must be a MotorRequirement, not {requirement!r}")
    label = "torque" if force == "N m" else "force"
    panels = []
    for title, unit, values, peak in (
        (label, force, requirement.forces, requirement.peak_force),
        ("speed", f"{length}/s", requirement.rates, requirement.peak_speed),
        ("power", "W", requirement.power, requirement.peak_power),
    ):
        lines = columns(requirement.time, values, legs(platform.n_actuators))
        text = f"peak {title} {peak.value:.4g} {unit}, leg {peak.leg}"
        mark = Line(text, np.array([peak.time]), np.array([peak.value]), "markers")
        panels.append(Axes(f"{title} [{unit}]", [*lines, mark]))
    return panels_figure(
        panels, "time [s]", title=f"{platform.name}: motor requirement of the task"
    )


def stroke_figure(platform: MachineModel, required: RequiredStroke) -> Any:
    """Return a plotly figure of the range every actuator needs beside the range it has.

    Raises:
        InputError: not a machine, or another number of actuators.
        MissingDependencyError: plotly is not installed.
    """
    unit = as_model(platform).coordinate_unit
    if len(required.minimum) != platform.n_actuators:
        raise InputError("required", f"must be of {platform.n_actuators} actuators")
    figures = optional("plotly.graph_objects")
    names = legs(platform.n_actuators)
    figure = figures.Figure(layout=layout(PANEL_HEIGHT + GAP + FOOT, GAP))
    for k, (name, low, high) in enumerate(
        (
            ("has", platform.minimum_coordinates, platform.maximum_coordinates),
            ("needs", required.minimum, required.maximum),
        )
    ):
        figure.add_trace(
            figures.Bar(
                x=names, base=low, y=high - low, name=name,
                width=(0.7, 0.35)[k], marker={"color": curve_color(k), "opacity": (0.35, 1.0)[k]},
                hovertext=[f"{a:.6g} to {b:.6g}" for a, b in zip(low, high, strict=True)],
                hovertemplate="%{hovertext}",
            )
        )  # fmt: skip
    figure.layout.barmode = "overlay"
    figure.layout.xaxis = axis("")
    figure.layout.yaxis = axis(f"actuator coordinate [{unit}]")
    figure.layout.legend = legend(1.02) | {"font": {"size": FONT_SIZE}}
    return figure
