"""Figures of payload searches: largest force over mass, mass over frequency."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.payload.static import StaticPayload
from twin.analysis.payload.sweep import FrequencySweep
from twin.charts.panels import Axes, Line, panels_figure
from twin.model.machine_model import MachineModel, as_model

POINTS = 81
"""Masses drawn."""


def static_figure(platform: MachineModel, found: StaticPayload) -> Any:
    """Return a plotly figure of the largest static force or torque over the payload's mass.

    Raises:
        InputError: not a machine.
        MissingDependencyError: plotly is not installed.
    """
    unit = as_model(platform).force_unit
    top = 1.3 * found.exact_limit_kg
    masses = np.linspace(0.0, top, POINTS) if np.isfinite(top) and top > 0.0 else np.arange(2.0)
    limit = float(found.limits.min())
    label = "torque" if unit == "N m" else "force"
    lines = [
        Line("largest on the grid", masses, found.largest_force(masses)),
        Line("limit", masses[[0, -1]], np.array([limit, limit]), "dash"),
    ]
    for name, mass in (
        ("last that holds", found.passes_kg),
        ("first that does not", found.fails_kg),
    ):
        if mass is not None and np.isfinite(mass):
            place = np.array([mass])
            lines.append(Line(f"{name}, {mass:g} kg", place, found.largest_force(place), "markers"))
    panels = [Axes(f"{label} [{unit}]", lines)]
    return panels_figure(panels, "mass [kg]", title=f"{platform.name}: largest payload at rest")


def sweep_figure(platform: MachineModel, sweep: FrequencySweep) -> Any:
    """Return a plotly figure of the largest masses of a machine over frequency.

    Ends and speeds of the actuators are ignored, as in `FrequencySweep`.

    Raises:
        InputError: not a machine.
        MissingDependencyError: plotly is not installed.
    """
    title = f"{as_model(platform).name}: largest payload under shaking, ends and speeds ignored"
    lines = [
        Line("in phase", sweep.frequency, sweep.in_phase),
        Line("worst phases", sweep.frequency, sweep.worst_phase),
        Line("rotations backwards", sweep.frequency, sweep.backwards, "dash"),
    ]
    panels = [Axes("mass [kg]", lines)]
    return panels_figure(panels, "frequency [Hz]", log_x=True, title=title)
