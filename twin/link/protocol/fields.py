"""Fields of a datagram: names, order and widths, and where each lies for a number of legs."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

PER_LEG = 0
"""Width of a field that has one number for each leg."""

FIELDS = {
    "coordinates": PER_LEG,
    "rates": PER_LEG,
    "forces": PER_LEG,
    "currents": PER_LEG,
    "temperatures": PER_LEG,
    "pose": 7,
    "twist": 6,
    "wrench": 6,
    "accelerometer": 3,
    "gyroscope": 3,
    "setpoint": PER_LEG,
    "command_rates": PER_LEG,
    "command_forces": PER_LEG,
    "reference_pose": 7,
    "residuals": PER_LEG,
    "alarms": 6,
}
"""Names and widths of the fields, in the order of the bits of the mask, bit 0 first.

Names and units are those of signals of a log (`twin.logs.signals`). Two more are for estimates:
`residuals`, each per its threshold, and `alarms`, 1 where active, else 0.
"""

COMMANDS = ("setpoint", "command_rates", "command_forces")
"""Fields of a measurement that were in force over the period before it."""

POSES = ("pose", "reference_pose")
"""Fields that are a position [m] and a unit quaternion, scalar first."""

MOST_LEGS = 12
"""With all fields a datagram still fits into one frame of Ethernet."""


class Layout(NamedTuple):
    """Places of the fields of a mask among the numbers of a datagram."""

    slices: tuple[tuple[str, slice], ...]
    """name of each field and its numbers"""
    poses: tuple[int, ...]
    """first number of each quaternion"""
    size: int
    """all numbers"""


def width_of(field: str, legs: int) -> int:
    """Return how many numbers a field has on a machine with so many legs."""
    return FIELDS[field] or legs


def mask_of(fields: frozenset[str]) -> int:
    """Return the mask with the bits of some fields."""
    return sum(1 << bit for bit, name in enumerate(FIELDS) if name in fields)


@lru_cache(maxsize=64)
def layout_of(legs: int, mask: int) -> Layout:
    """Return the layout of the fields of a mask for a number of legs.

    Raises:
        ValueError: a bit of the mask has no field.
    """
    if mask >> len(FIELDS):
        raise ValueError("the mask has bits without a field")
    slices, poses, start = [], [], 0
    for bit, name in enumerate(FIELDS):
        if mask >> bit & 1:
            stop = start + width_of(name, legs)
            slices.append((name, slice(start, stop)))
            if name in POSES:
                poses.append(start + 3)
            start = stop
    return Layout(tuple(slices), tuple(poses), start)
