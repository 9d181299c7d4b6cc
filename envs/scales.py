"""Typical sizes of the quantities of a machine's actuators."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import read_only
from twin.kernels.tasks.arrays import Scales
from twin.model.motions import REST
from twin.model.static_deflection import static_deflection
from twin.simulation.platform import Platform

SHARE_OF_WEIGHT = 2.0
"""Times the largest force that holds the machine at home: that of an actuator without limit."""


def machine_scales(platform: Platform) -> Scales:
    """Return the scales of a machine's actuators, read-only."""
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
