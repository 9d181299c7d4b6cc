"""Payload searches as plain content, for files.

Figures of payload searches: largest force over mass, mass over frequency.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.payload.criterion import THESIS_MACHINE
from twin.analysis.payload.dynamic import DynamicPayload
from twin.analysis.payload.static import StaticPayload
from twin.analysis.payload.sweep import FrequencySweep
from twin.analysis.payload.worst_phase import WorstPhase
from twin.charts.panels import Axes, Line, panels_figure
from twin.model.machine_model import MachineModel, as_model


def payload_record(
    platform: MachineModel,
    still: StaticPayload,
    dynamic: tuple[DynamicPayload, DynamicPayload | None, WorstPhase] | None,
) -> dict[str, Any]:
    """Return searches as JSON can hold them; infinite numbers are null.

    Keys: `machine`, `parameters` (their hash), `force_unit`, `coordinate_unit`, `limits` `(n,)`,
    `sense`, `positions`, `skipped`, `passes_kg`, `fails_kg` (null: none), `first_failure` `(n,)`
    (extensions beyond the lower ends of the actuators, or null), `exact_limit_kg`,
    `exact_position` `(n,)`, `exact_leg` (from 1), `continuous_limit_kg`, `continuous_position`
    `(n,)`, `continuous_pose` `(7,)`, `continuous_leg`, `continuous_at_corner` and `dynamic` (null
    without).

    Keys of `dynamic`: `frequencies`, `in_phase`, `backwards` (rotations as the thesis prints them,
    null for other machines) and `worst_phase`. The second and the third have `passes_kg`,
    `fails_kg`, `first_failure`, `first_failure_frequency`, `exact_limit_kg`, `exact_position`,
    `exact_frequency`, `exact_leg` and `left_out` (runs beyond an actuator's ends or speeds, per
    frequency). The last has `passes_kg`, `fails_kg`, `first_failure`, `bound_kg`, `limit_kg`,
    `position`, `frequency`, `phases` `(6,)` (x, y, z, yaw, pitch, roll) and `leg`.

    Args:
        platform: the machine.
        still: the search at rest.
        dynamic: axes in phase, rotations backwards (None for machines other than the thesis'),
            worst phases; None: not searched.
    """
    least = still.continuous
    content = {
        "machine": platform.name,
        "parameters": platform.hash,
        "force_unit": platform.force_unit,
        "coordinate_unit": platform.coordinate_unit,
        "limits": still.limits,
        "sense": still.sense,
        "positions": len(still.extensions),
        "skipped": still.skipped,
        **_fields(still, "passes_kg", "fails_kg", "first_failure"),
        **_fields(still, "exact_limit_kg", "exact_position", "exact_leg"),
        "continuous_limit_kg": least.limit_kg,
        "continuous_position": least.position,
        "continuous_pose": least.pose,
        "continuous_leg": least.leg,
        "continuous_at_corner": least.corner,
        "dynamic": None,
    }
    if dynamic is not None:
        forwards, backwards, worst = dynamic
        content["dynamic"] = {
            "frequencies": forwards.criterion.frequencies,
            "in_phase": _dynamic(forwards),
            "backwards": None if backwards is None else _dynamic(backwards),
            "worst_phase": _fields(
                worst, "passes_kg", "fails_kg", "first_failure", "bound_kg", "limit_kg",
                "position", "frequency", "phases", "leg",
            ),
        }  # fmt: skip
    return {key: _plain(value) for key, value in content.items()}


def _dynamic(found: DynamicPayload) -> dict[str, Any]:
    names = ("passes_kg", "fails_kg", "first_failure", "exact_limit_kg", "exact_position")
    fields = _fields(found, *names, "exact_frequency", "exact_leg", "left_out")
    return fields | {"first_failure_frequency": found.first_frequency}


def _fields(found: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(found, name) for name in names}


def _plain(value: Any) -> Any:
    """Return what JSON can hold: arrays as lists, numbers that are not finite as null."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (tuple, list, np.ndarray)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.12g}") if np.isfinite(value) else None
    return value


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
    ]
    if platform.name == THESIS_MACHINE:
        lines.append(Line("rotations backwards", sweep.frequency, sweep.backwards, "dash"))
    panels = [Axes("mass [kg]", lines)]
    return panels_figure(panels, "frequency [Hz]", log_x=True, title=title)
