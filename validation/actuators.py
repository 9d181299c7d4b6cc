"""Actuators in words and curves: what their coordinates and forces are called."""

from __future__ import annotations

from twin.arrays import FloatArray
from twin.platform import Platform
from twin.validation.results import Curve


def force_name(platform: Platform) -> str:
    """Return what the actuators' forces are called."""
    return "thrust" if platform.force_unit == "N" else "torque"


def coordinate_name(platform: Platform) -> str:
    """Return what the actuators' coordinates are called."""
    return platform.parameters.leg.coordinate


def leg_curves(time: FloatArray, values: FloatArray) -> tuple[Curve, ...]:
    """Return one curve per leg of values `(k, n)`."""
    return tuple(Curve(f"leg {i + 1}", time, column) for i, column in enumerate(values.T))
