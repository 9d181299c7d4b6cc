"""Summary of a machine at home: ranges, conditioning, static load, distance between legs.

Poses relative to home are described in words, such as "12 mm up, pitched forward 8 deg".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.feasibility.collisions import closest_legs
from twin.analysis.workspace.region import AxisRange, motion_ranges
from twin.analysis.workspace.search import Chart, dof_axes
from twin.basics.arrays import FloatArray
from twin.charts.panels import number
from twin.control.gains import drive_model
from twin.errors import InputError
from twin.model.machine_base import ZERO_VECTOR, without_compiling
from twin.model.machine_model import MachineModel
from twin.rotations import displacement

Ranges = tuple[AxisRange, ...]
"""Ranges of the axes of a machine."""


class SummaryRow(NamedTuple):
    """One derived quantity: a number or a list of numbers."""

    name: str
    value: Any
    unit: str
    note: str


def machine_summary(platform: MachineModel, ranges: Ranges | None = None) -> list[SummaryRow]:
    """Return derived figures of a machine at its home pose; `ranges` where they are known."""
    unit, legs = platform.coordinate_unit, platform.parameters.legs
    with without_compiling():
        condition = float(platform.condition_number(platform.home))
        forces = platform.inverse_dynamics(platform.home, ZERO_VECTOR, ZERO_VECTOR).tolist()
        known_ranges = axis_ranges(platform) if ranges is None else ranges
        distance, first_leg, second_leg = closest_legs(platform, platform.home[None])
        friction = _friction(platform)
    body, stroke = platform.parameters.platform.body, sorted({leg.actuator.stroke for leg in legs})
    rows = [
        SummaryRow(
            "degrees of freedom",
            platform.dof,
            "",
            "" if platform.dof == 6 else "of the platform; the others are held by the legs",
        ),
        SummaryRow(
            f"{platform.parameters.leg.coordinate}s at home",
            platform.home_coordinates.tolist(),
            unit,
            "actuator coordinates",
        ),
        SummaryRow("stroke", stroke[0] if len(stroke) == 1 else stroke, unit, "of the actuators"),
        SummaryRow("mass of the platform", body.mass, "kg", "without legs"),
        SummaryRow("mass of the legs", sum(leg.mass for leg in legs), "kg", "all legs"),
        SummaryRow(
            "condition number at home",
            condition,
            "",
            "of the Jacobian, moments scaled; 1 is the best, infinite at a singular pose",
        ),
        SummaryRow(
            f"{'torque' if platform.force_unit == 'N m' else 'force'}s at rest",
            forces,
            platform.force_unit,
            "of the actuators that carry the machine at home"
            + (", the smallest of many" if platform.n_actuators > platform.dof else ""),
        ),
    ]
    rows += [*friction, *_redundant_legs(platform)]
    rows.append(
        SummaryRow(
            "closest legs at home",
            distance,
            "m",
            f"between the axes of legs {first_leg} and {second_leg}, of those that share no joint; "
            "below a leg's width they collide, perhaps as the joints are in the wrong order",
        )
    )
    for axis_range in known_ranges:
        low, high = axis_range.ends
        note = f"from home, the other axes as there; ends: {low}; {high}"
        rows.append(
            SummaryRow(f"{axis_range.axis} range", list(axis_range.span), axis_range.unit, note)
        )
    return rows


def _redundant_legs(platform: MachineModel) -> list[SummaryRow]:
    """Return the numbers of the redundant legs; nothing without any."""
    if platform.n_actuators == platform.dof:
        return []
    numbers = ", ".join(map(str, platform.parameters.redundant_legs))
    note = "can push against each other without moving the platform"
    return [SummaryRow("redundant legs", numbers, "", note)]


def _friction(platform: MachineModel) -> list[SummaryRow]:
    """Return the dry friction of the drives at the legs or cranks; nothing without any."""
    drives, unit = drive_model(platform), platform.force_unit
    if not drives.friction.any():
        return []
    value = sorted(set(drives.friction.tolist()))
    actuator_name = "leg" if unit == "N" else "crank"
    note = f"dry, at the {actuator_name}; {drives.breakaway.max():.4g} {unit} to break away"
    return [
        SummaryRow("friction of the drives", value[0] if len(value) == 1 else value, unit, note)
    ]


def axis_ranges(platform: MachineModel) -> Ranges:
    """Return the ranges of moves from home along one axis at a time, with what ends them.

    Those of `twin.analysis.workspace.region.motion_ranges`, angles in degrees: x, y and z [m]
    in the base frame from home; yaw, pitch and roll on top of home's attitude; of a machine with
    three degrees of freedom, z, roll and pitch. Zero where home itself is singular or at a limit.
    """
    try:
        ranges = motion_ranges(platform)
    except InputError as error:
        text = f"home {error.message}"
        return tuple(
            AxisRange(name, "m" if name in "xyz" else "deg", (0.0, 0.0), (text, text))
            for name in dof_axes(platform)
        )
    return tuple(
        one if one.unit == "m" else one._replace(unit="deg", span=_degrees(one.span))
        for one in ranges
    )


def _degrees(span: tuple[float, float]) -> tuple[float, float]:
    # In radians again, rounding must not put them beyond the end, where there may be no pose.
    low, high = np.degrees(span) * (1.0 - DEGREE_TOLERANCE)
    return float(low), float(high)


def moved_home(platform: MachineModel, axis: str, value: float, unit: str) -> FloatArray:
    """Return the home pose `(7,)` moved along one axis of `axis_ranges` by a value in its unit."""
    unit_scale = np.pi / 180.0 if unit == "deg" else 1.0
    return Chart.about(platform, (axis,)).poses([unit_scale * value])


DEGREE_TOLERANCE = 1e-12
"""Fraction by which ends of ranges in degrees are inside those in radians."""

END_TOLERANCE = 1e-6
"""Fraction of the stroke within which an actuator counts as being at its end."""

MIN_STROKE_FRACTION = 0.01
"""Fraction of the stroke above which a displacement is named."""

MIN_RELATIVE_SIZE = 0.2
"""Fraction of the largest displacement above which another one is named too."""

MAX_NAMED_AXES = 3
"""Maximum number of displacements that are named."""

TRANSLATION_WORDS = (("forward", "back"), ("left", "right"), ("up", "down"))
"""Positive and negative displacements along x, y and z."""

ROTATION_WORDS = (
    ("rolled right", "rolled left"),
    ("pitched forward", "pitched back"),
    ("turned left", "turned right"),
)
"""Positive and negative rotations about x, y and z."""


def pose_name(platform: MachineModel, pose: Any) -> str:
    """Return a description of a pose `(7,)`: its largest displacements and rotations from home.

    Raises:
        InputError: not a pose.
        UnreachablePoseError: a leg cannot reach it.
    """
    stroke = platform.stroke
    stroke_fractions = (platform.inverse_kinematics(pose) - platform.minimum_coordinates) / stroke
    displacements = displacement(pose, platform.home)
    if (stroke_fractions < END_TOLERANCE).all() or (stroke_fractions > 1.0 - END_TOLERANCE).all():
        return "highest" if displacements[2] > 0.0 else "lowest"
    travel = float(stroke.mean()) if platform.coordinate_unit == "m" else platform.joint_radius
    relative_sizes = np.abs(displacements) * np.repeat([1.0, platform.joint_radius], 3) / travel
    is_named = (relative_sizes > MIN_STROKE_FRACTION) & (
        relative_sizes > MIN_RELATIVE_SIZE * relative_sizes.max()
    )
    parts = []
    for column in sorted(np.argsort(-relative_sizes)[:MAX_NAMED_AXES]):
        if not is_named[column]:
            continue
        direction = (*TRANSLATION_WORDS, *ROTATION_WORDS)[column][int(displacements[column] < 0.0)]
        if column < len(TRANSLATION_WORDS):
            parts.append(f"{number(1e3 * abs(displacements[column]), 3)} mm {direction}")
        else:
            parts.append(
                f"{direction} {number(float(np.degrees(abs(displacements[column]))), 2)} deg"
            )
    return ", ".join(parts) or "home"
