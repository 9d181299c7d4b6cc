"""Payload searches as plain content, for files."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.payload.dynamic import DynamicPayload
from twin.analysis.payload.static import StaticPayload
from twin.analysis.payload.worst_phase import WorstPhase
from twin.model.machine_model import MachineModel


def payload_record(
    platform: MachineModel,
    still: StaticPayload,
    dynamic: tuple[DynamicPayload, DynamicPayload, WorstPhase] | None,
) -> dict[str, Any]:
    """Return searches as JSON can hold them; infinite numbers are null.

    Keys: machine, parameters (their hash), force_unit, coordinate_unit, limits `(n,)`, sense,
    positions, skipped, passes_kg, fails_kg (null: none), first_failure `(n,)` (extensions beyond
    the lower ends of the actuators, or null), exact_limit_kg, exact_position `(n,)`, exact_leg
    (from 1); continuous_limit_kg, continuous_position `(n,)`, continuous_pose `(7,)`,
    continuous_leg, continuous_at_corner; dynamic (null without): in_phase, backwards (rotations
    as the thesis prints them), each with passes_kg, fails_kg, first_failure,
    first_failure_frequency, exact_limit_kg, exact_position, exact_frequency, exact_leg and left_out
    (runs beyond an actuator's ends or speeds, per frequency), worst_phase with passes_kg, fails_kg,
    first_failure, bound_kg, limit_kg, position, frequency, phases `(6,)` (x, y, z, yaw, pitch,
    roll) and leg, and frequencies.

    Args:
        platform: the machine.
        still: the search at rest.
        dynamic: axes in phase, rotations backwards, worst phases; None: not searched.
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
            "backwards": _dynamic(backwards),
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
