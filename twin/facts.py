"""What a machine's numbers mean for its user: ranges, conditioning and static load at home."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.arrays import FloatArray
from twin.parameters.derived import leg_bodies
from twin.platform import REST, Platform
from twin.rotations import angles_from_quaternion, quaternion_from_angles

SAMPLES = 4001
"""Poses tried along each axis; a range is found to 1/2000 of the span searched."""

LEG_POINTS = 1001
"""Points tried along a leg; crossing legs are found to a thousandth of their length."""

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
            platform.inverse_dynamics(platform.home, REST, REST).tolist(),
            "N",
            "that carry the machine at home",
        ),
    ]
    distance, first, second = closest_legs(platform)
    facts.append(
        Fact(
            "closest legs at home",
            distance,
            "m",
            f"between the axes of legs {first} and {second}; less than a leg's width: they "
            "collide, are the joints in the right order?",
        )
    )
    note = "from home, inside the leg limits, with the other five coordinates as at home"
    for name, unit, (low, high) in axis_ranges(platform):
        facts.append(Fact(f"{name} range", [low, high], unit, note))
    return facts


def closest_legs(platform: Platform) -> tuple[float, int, int]:
    """Return the smallest distance [m] between two legs at home, and their numbers from 1.

    Legs are the straight lines from base joint to platform joint.
    """
    base = platform.base_joints
    vectors = platform.parameters.home_leg_vectors
    along = np.linspace(0.0, 1.0, LEG_POINTS)[:, None]
    best = (np.inf, 0, 0)
    for j in range(len(base)):
        points = base[j] + along * vectors[j]
        for i in range(j):
            shares = (points - base[i]) @ vectors[i] / (vectors[i] @ vectors[i])
            feet = base[i] + np.clip(shares, 0.0, 1.0)[:, None] * vectors[i]
            distance = float(np.linalg.norm(points - feet, axis=1).min())
            best = min(best, (distance, i + 1, j + 1))
    return best


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
