"""The results of payload searches."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from twin.analysis.machine_summary import pose_name
from twin.analysis.payload.dynamic import DynamicPayload, static_figure
from twin.analysis.payload.static import ANGLE_CONVENTION, DependentActuators, StaticPayload
from twin.analysis.platform import Platform
from twin.charts.panels import number, value_text
from twin.charts.results import Figure, Results, Table
from twin.motion.motion import axis_names
from twin.rotations import angle_between


def payload_results(
    platform: Platform, still: StaticPayload, shaken: Mapping[str, DynamicPayload]
) -> Results:
    """Return the largest payload at rest, and those under shaking by the name of their motion."""
    own_mass = number(float(platform.parameters.platform.body.mass))
    largest_turn = np.degrees(angle_between(still.poses[:, 3:], platform.home[3:])).max()
    findings = [
        f"{len(still.extensions)} positions searched, {still.skipped} left out",
        "positions are all combinations of the actuators' ranges: they turn the platform by up to "
        f"{number(float(largest_turn), 3)} deg from home",
        f"total: with the platform's own {own_mass} kg; where: as seen from home",
    ]
    limits = f"{value_text(still.limits.tolist())} {platform.force_unit} ({still.sense})"
    tables = [_table(platform, still, f"payload at rest, limits {limits}")]
    for name, found in shaken.items():
        rates = ", ".join(f"{rate:g}" for rate in found.criterion.frequencies)
        tables.append(_table(platform, found, f"payload under shaking, {name}, {rates} Hz"))
        left_out = ", ".join(map(str, found.left_out))
        findings.append(
            f"{name}: positions left out per frequency: {left_out} of {len(found.extensions)}"
        )
    if shaken:
        accelerations = next(iter(shaken.values())).criterion.accelerations
        peaks = (
            f"{axis} {peak:g} {'m/s2' if axis in ('x', 'y', 'z') else 'rad/s2'}"
            for axis, peak in zip(axis_names(ANGLE_CONVENTION), accelerations, strict=True)
        )
        findings.append(
            f"criterion: that of the Stewart thesis, all axes at once, {', '.join(peaks)}"
        )
    figure = Figure(
        "Largest payload at rest",
        "Largest force or torque of all positions over the mass.",
        partial(static_figure, platform, still),
    )
    return Results(f"Payload of {platform.name}", findings, tables, [figure])


def _table(platform: Platform, found: StaticPayload | DynamicPayload, title: str) -> Table:
    failure = _place(platform, found.first_failure, "first ")
    decisive = f"leg {found.exact_leg}, {_place(platform, found.exact_position)}"
    if isinstance(found, DynamicPayload):
        decisive += f", {found.exact_frequency:g} Hz"
        if found.first_failure is not None:
            failure += f", {found.first_failure_frequency:g} Hz"
    rows = [
        ("holds", *_masses(platform, found.passes_kg), "everywhere on the grid"),
        ("does not hold", *_masses(platform, found.fails_kg), failure),
        ("largest on the grid", *_masses(platform, found.exact_limit_kg), decisive),
    ]
    columns = ("quantity", "total mass [kg]", "added [kg]", "where")
    return Table(f"{platform.name}: {title}", columns, rows)


def _masses(platform: Platform, value: float | None) -> tuple[str, str]:
    """Return the texts of a total mass and of the mass that it adds to the bare platform."""
    if value is None:
        return "none", ""
    if value <= 0.0:
        return "none", "the legs alone are too heavy"
    if not np.isfinite(value):
        return "all runs left out", ""
    added = value - float(platform.parameters.platform.body.mass)
    return number(value), number(added) if added > 0.0 else "none"


def _place(platform: Platform, position: Any, word: str = "") -> str:
    """Return the description of the pose with extensions `(n,)`; empty for None."""
    if position is None:
        return ""
    actuators = DependentActuators.of(platform)
    _, poses = actuators.positions(position[None, actuators.leading])
    return word + pose_name(platform, poses[0])
