"""What a machine's numbers mean for its user: ranges, conditioning and static load at home."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.arrays import FloatArray
from twin.parameters.derived import leg_bodies
from twin.platform import Platform
from twin.rotations import angles_from_quaternion, quaternion_from_angles

SAMPLES = 4001
"""Poses tried along each axis; a range is found to 1/2000 of the span searched."""

LARGEST_ANGLE = np.pi / 2
"""Rotations are searched up to a quarter turn, where yaw, pitch and roll stop being unique."""


class Fact(NamedTuple):
    """One derived number or list of numbers."""

    name: str
    value: Any
    unit: str
    note: str


def machine_facts(platform: Platform) -> list[Fact]:
    """Return derived figures of a machine at its home pose."""
    actuator = platform.parameters.leg.actuator
    bodies = leg_bodies(platform.parameters)
    moving = float(bodies.rod_mass.sum() + platform.parameters.platform.body.mass)
    facts = [
        Fact("legs at home", platform.home_lengths.tolist(), "m", "between joint centres"),
        Fact("stroke", actuator.stroke, "m", "range of each actuator"),
        Fact("mass above the actuators", moving, "kg", "platform and rods"),
        Fact("mass of the housings", float(bodies.housing_mass.sum()), "kg", "all legs"),
        Fact(
            "condition number at home",
            float(platform.condition_number(platform.home)),
            "",
            "of the Jacobian, lengths scaled; 1 is the best, infinite at a singular pose",
        ),
        Fact(
            "leg forces at rest",
            platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6)).tolist(),
            "N",
            "that carry the machine at home",
        ),
    ]
    note = "lowest and highest inside the leg limits, the other five coordinates as at home"
    for name, unit, (low, high) in axis_ranges(platform):
        facts.append(Fact(f"{name} range", [low, high], unit, note))
    return facts


def axis_ranges(platform: Platform) -> list[tuple[str, str, tuple[float, float]]]:
    """Return (axis, unit, (lowest, highest)) of moves from home along one coordinate at a time.

    x, y and z [m] in the base frame from home; yaw, pitch and roll [deg] added to those at home.
    The range is the connected one around home.
    """
    reach = float((platform.maximum_lengths - platform.minimum_lengths).max())
    reach += float(platform.maximum_lengths.max())
    axes = [(name, "m", reach, 1.0) for name in ("x", "y", "z")]
    axes += [(name, "deg", LARGEST_ANGLE, 180.0 / np.pi) for name in ("yaw", "pitch", "roll")]
    ranges = []
    for column, (name, unit, span, scale) in enumerate(axes):
        offsets = np.linspace(-span, span, SAMPLES)
        inside = platform.within_limits(_moved(platform, column, offsets))
        middle = SAMPLES // 2
        outside = np.flatnonzero(~inside)
        low = outside[outside < middle].max(initial=-1) + 1
        high = outside[outside > middle].min(initial=SAMPLES) - 1
        ranges.append((name, unit, (scale * float(offsets[low]), scale * float(offsets[high]))))
    return ranges


def _moved(platform: Platform, column: int, offsets: FloatArray) -> FloatArray:
    poses = np.tile(platform.home, (len(offsets), 1))
    if column < 3:
        poses[:, column] += offsets
        return poses
    angles = np.tile(angles_from_quaternion(platform.home[3:]), (len(offsets), 1))
    angles[:, column - 3] += offsets
    poses[:, 3:] = quaternion_from_angles(angles)
    return poses
