"""Actuators in words, rates and curves."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.simulation.platform import Platform
from twin.validation.results import Curve


def force_name(platform: Platform) -> str:
    """Return what the actuators' forces are called."""
    return "thrust" if platform.force_unit == "N" else "torque"


def coordinate_name(platform: Platform) -> str:
    """Return what the actuators' coordinates are called."""
    return platform.parameters.leg.coordinate


def actuator_rates(
    platform: Platform, pose: FloatArray, twist: FloatArray, deflection: FloatArray
) -> FloatArray:
    """Return rates `(m, n)` of what the actuators' forces move, of `m` states."""
    rates = np.asarray(np.einsum("kij,kj->ki", platform.jacobian(pose), twist))
    # A spring in series with the actuator takes its part of the leg's motion.
    return rates - deflection[:, platform.n_deflections :] if platform.n_deflections else rates


def leg_curves(time: FloatArray, values: FloatArray) -> tuple[Curve, ...]:
    """Return one curve per leg of values `(k, n)`."""
    return tuple(Curve(f"leg {i + 1}", time, column) for i, column in enumerate(values.T))
