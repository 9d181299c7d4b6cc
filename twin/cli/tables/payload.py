"""Tables of payload searches."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.payload.dynamic import DynamicPayload, WorstPhase
from twin.analysis.payload.static import ANGLE_CONVENTION, DependentActuators, StaticPayload
from twin.analysis.platform import Platform
from twin.analysis.pose_names import pose_name
from twin.charts.panels import number, value_text
from twin.cli.console import line, paragraph, table
from twin.motion.motion import axis_names
from twin.rotations import angle_between

TOO_HEAVY = "the legs alone are too heavy"

Row = tuple[str, str, str, str]


def print_static(platform: Platform, found: StaticPayload) -> None:
    """Print the largest payload at rest."""
    continuous_limit, platform_mass = found.continuous, _own(platform)
    corner_text = (
        "a corner of the range" if continuous_limit.corner else "not a corner of the range"
    )
    rows: list[Row] = [
        ("holds", *_masses(found.passes_kg, platform_mass), "everywhere on the grid"),
        (
            "does not hold",
            *_masses(found.fails_kg, platform_mass),
            _place(platform, found.first_failure, "first "),
        ),
        (
            "largest on the grid",
            *_masses(found.exact_limit_kg, platform_mass),
            f"leg {found.exact_leg}, {_place(platform, found.exact_position)}",
        ),
        (
            "largest anywhere",
            *_masses(continuous_limit.limit_kg, platform_mass),
            f"leg {continuous_limit.leg}, {pose_name(platform, continuous_limit.pose)}: "
            f"{corner_text}",
        ),
    ]
    limits = f"{value_text(found.limits.tolist())} {platform.force_unit} ({found.sense})"
    _show(platform, rows, f"{platform.name}: payload at rest, limits {limits}")
    line(f"{len(found.extensions)} positions searched, {found.skipped} left out")
    rotations = np.degrees(angle_between(found.poses[:, 3:], platform.home[3:]))
    limit_rotation = float(np.degrees(angle_between(continuous_limit.pose[3:], platform.home[3:])))
    paragraph(
        "positions are all combinations of the actuators' ranges: they turn the platform by up to "
        f"{number(float(rotations.max()), 3)} deg from home, where it holds least by "
        f"{number(limit_rotation, 3)} deg"
    )


def print_dynamic(
    platform: Platform,
    forwards: DynamicPayload,
    backwards: DynamicPayload | None,
    worst: WorstPhase,
) -> None:
    """Print the largest payloads under shaking: in phase, rotations backwards, worst phases.

    None for `backwards`: rotations run backwards in the thesis of `stewart` alone.
    """
    platform_mass = _own(platform)
    peaks = (
        f"{axis} {peak:g} {'m/s2' if axis in ('x', 'y', 'z') else 'rad/s2'}"
        for axis, peak in zip(
            axis_names(ANGLE_CONVENTION), forwards.criterion.accelerations, strict=True
        )
    )
    paragraph(f"criterion: that of the Stewart thesis, all axes at once, {', '.join(peaks)}")
    for name, found in (("in phase", forwards), ("rotations backwards", backwards)):
        if found is None:
            continue
        failure_text = _place(platform, found.first_failure, "first ")
        failure_text += "" if found.first_frequency is None else f", {found.first_frequency:g} Hz"
        limit_text = f"leg {found.exact_leg}, {_place(platform, found.exact_position)}, "
        rows: list[Row] = [
            ("holds", *_masses(found.passes_kg, platform_mass), "everywhere on the grid"),
            ("does not hold", *_masses(found.fails_kg, platform_mass), failure_text),
            (
                "largest on the grid",
                *_masses(found.exact_limit_kg, platform_mass),
                f"{limit_text}{found.exact_frequency:g} Hz",
            ),
        ]
        rates = ", ".join(f"{rate:g}" for rate in found.criterion.frequencies)
        _show(platform, rows, f"{platform.name}: payload under shaking, {name}, {rates} Hz")
        omitted_counts = ", ".join(map(str, found.left_out))
        line(f"positions left out per frequency: {omitted_counts} of {len(found.extensions)}")
    rows = [
        ("holds", *_masses(worst.passes_kg, platform_mass), ""),
        (
            "does not hold",
            *_masses(worst.fails_kg, platform_mass),
            _place(platform, worst.first_failure, "first "),
        ),
        (
            "largest on the grid",
            *_masses(worst.limit_kg, platform_mass),
            f"leg {worst.leg}, {_place(platform, worst.position)}, {worst.frequency:g} Hz",
        ),
        ("bound of small motions", *_masses(worst.bound_kg, platform_mass), ""),
    ]
    _show(platform, rows, f"{platform.name}: payload under shaking, worst phases between the axes")


def _show(platform: Platform, rows: list[Row], title: str) -> None:
    table(("quantity", "total mass [kg]", "added [kg]", "where"), rows, title)
    line(f"total: with the platform's own {number(_own(platform))} kg; where: as seen from home")


def _own(platform: Platform) -> float:
    return float(platform.parameters.platform.body.mass)


def _masses(value: float | None, own: float) -> tuple[str, str]:
    """Return the texts of a total mass and of the mass that it adds to the bare platform."""
    if value is None:
        return "none", ""
    if value <= 0.0:
        return "none", TOO_HEAVY
    if not np.isfinite(value):
        return "all runs left out", ""
    return number(value), number(value - own) if value > own else "none"


def _place(platform: Platform, position: Any, word: str = "") -> str:
    """Return the description of the pose with extensions `(n,)`; empty for None."""
    if position is None:
        return ""
    actuators = DependentActuators.of(platform)
    _, poses = actuators.positions(np.asarray(position)[None, actuators.leading])
    return word + pose_name(platform, poses[0])
