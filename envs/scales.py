"""What is much and what is little for the actuators of a machine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.model.motions import REST
from twin.model.static_deflection import static_deflection
from twin.simulation.platform import Platform

SHARE_OF_WEIGHT = 2.0
"""Times the largest force that holds the machine at home: that of an actuator without limit."""


class Scales(NamedTuple):
    """Sizes of an actuator's quantities, one per actuator, read-only."""

    lower: FloatArray
    """`(n,)` least coordinate [m, rad]"""
    upper: FloatArray
    """`(n,)` greatest"""
    middle: FloatArray
    """`(n,)` between both"""
    half: FloatArray
    """`(n,)` half the way from one to the other"""
    speed: FloatArray
    """`(n,)` the actuator's limit; without one, half the way in 1 / (2 pi) s [m/s, rad/s]"""
    effort: FloatArray
    """`(n,)` the actuator's limit; without one, twice the force that holds the machine [N, N m]"""
    holding: FloatArray
    """`(n,)` forces that hold the machine at home"""


def machine_scales(platform: Platform) -> Scales:
    """Return the scales of a machine's actuators."""
    lower, upper = platform.minimum_coordinates, platform.maximum_coordinates
    half = 0.5 * (upper - lower)
    inside = (
        static_deflection(platform, platform.home, REST, REST) if platform.n_deflections else None
    )
    holding = platform.inverse_dynamics(platform.home, REST, REST, deflection=inside)
    weight = SHARE_OF_WEIGHT * max(float(np.abs(holding).max()), 1.0)
    actuators = [leg.actuator for leg in platform.parameters.legs]
    speeds = [
        2.0 * np.pi * way if actuator.speed is None else actuator.speed
        for actuator, way in zip(actuators, half, strict=True)
    ]
    efforts = [weight if actuator.effort is None else actuator.effort for actuator in actuators]
    parts = (lower, upper, 0.5 * (lower + upper), half, speeds, efforts, holding)
    return Scales(*(read_only(np.asarray(part, dtype=float)) for part in parts))
