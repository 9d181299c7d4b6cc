"""Horizon, weights and limits of predictive cueing."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, bounded, read_only
from twin.errors import InputError


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictiveSettings:
    """Weights of predictive cueing; adopted. Errors are counted in thresholds of perception."""

    blocks: tuple[int, ...] = (1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 7)
    """periods over which the jerk is constant; their sum is the horizon"""
    force_weight: FloatArray = (1.0, 1.0, 1.0)  # type: ignore[assignment]
    """`(3,)` of squared errors of sensed specific force"""
    rate_weight: FloatArray = (2.0, 2.0, 2.0)  # type: ignore[assignment]
    """`(3,)` of squared errors of sensed angular rate"""
    memory: float = 0.5
    """[s] time constant with which the present input is expected to fade, critically damped"""
    place_weight: float = 8.0
    """of the squared displacement over the machine's travel along the axis"""
    speed_weight: float = 0.2
    """of the squared rate over the travel a second"""
    acceleration_weight: float = 0.01
    """of the squared acceleration over the travel a second squared"""
    jerk_weight: float = 1e-5
    """of the squared jerk over the travel a second cubed"""
    force_scale: float = 1.0
    """of specific force, less gravity"""
    rate_scale: float = 1.0
    """of angular rate"""
    force_limit: float = 10.0
    """[m/s2] after scaling"""
    rate_limit: float = 1.5
    """[rad/s] after scaling"""
    margin: float = 0.02
    """share of the limits that the program leaves to the kinematics' curvature"""
    tolerance: float = 1e-4
    """of the solver"""
    iterations: int = 300
    """of the solver, at most"""

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError."""
        blocks = as_floats(self.blocks, "blocks")
        whole = blocks.ndim == 1 and (blocks == np.round(blocks)).all() and (blocks >= 1).all()
        if not whole or len(blocks) < 4 or blocks.sum() > 200 or blocks[0] != 1:
            raise InputError("blocks", "must be four or more whole numbers from 1, sum up to 200")
        object.__setattr__(self, "blocks", tuple(int(block) for block in blocks))
        for each in fields(self):
            value: Any = getattr(self, each.name)
            if each.name in ("force_weight", "rate_weight"):
                weights = as_floats(value, each.name, 3)
                if weights.ndim != 1 or weights.min() < 0.0 or weights.max() > 1e6:
                    raise InputError(each.name, "must be three weights from 0 to 1e6")
                object.__setattr__(self, each.name, read_only(weights))
            elif each.name == "iterations":
                object.__setattr__(self, each.name, int(bounded(value, each.name, 1, 1e5)))
            elif each.name != "blocks":
                low, high = LIMITS.get(each.name, (0.0, 1e6))
                object.__setattr__(self, each.name, bounded(value, each.name, low, high))


LIMITS = {
    "jerk_weight": (1e-12, 1e3),
    "memory": (1e-2, 1e6),
    "margin": (0.0, 0.5),
    "tolerance": (1e-9, 1e-2),
}
"""Of settings that may not be any number from 0 on."""
