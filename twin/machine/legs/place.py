"""Where one leg is at home: what the leg kinds compute their coordinates from."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray

COINCIDENT = 1e-6
"""Joint points closer than this [m] are one point by any manufacturing standard."""

NEARLY_PARALLEL = 1e-3
"""Sine of the smallest angle [rad] to keep between directions that must not be parallel."""


class LegPlace(NamedTuple):
    """One leg at home; vectors `(3,)` in the base frame."""

    number: int
    """from 1"""
    base: FloatArray
    """base joint [m]"""
    arm: FloatArray
    """reference point to platform joint [m]"""
    vector: FloatArray
    """base joint to platform joint [m]"""
    normal: FloatArray
    """z axis of the platform frame"""


class LegProblem(NamedTuple):
    """Why a leg cannot be at home."""

    field: str
    """of the leg's table, or a path that starts with a dot from the top of the file"""
    message: str
