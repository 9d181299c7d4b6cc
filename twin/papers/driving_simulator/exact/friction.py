"""Friction of feet that slide on the floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError


@dataclass(frozen=True)
class SlidingFriction:
    """Force on a foot: -(viscous + coulomb / sqrt(v^2 + transition_speed^2)) v.

    The second part is dry friction, made smooth: below the transition speed it is viscous with
    coulomb / transition_speed. It does not depend on the load of the foot.
    """

    viscous: float
    """[N s/m]"""
    coulomb: float = 0.0
    """[N]"""
    transition_speed: float = 1e-3
    """[m/s]"""

    @classmethod
    def from_legs(cls, legs: Any) -> SlidingFriction | None:
        """Return the friction that legs of kind "pillar" have, None if they have none.

        Raises:
            InputError: not the same friction under all feet.
        """
        tables = [leg.friction for leg in legs]
        if tables.count(tables[0]) != len(tables):
            raise InputError("leg.friction", "must be the same under all feet")
        table = tables[0]
        return table and cls(table.viscous, table.coulomb, table.transition_speed)

    def force(self, velocity: FloatArray) -> FloatArray:
        """Return the force `(..., 2)` [N] on feet that slide with `velocity` `(..., 2)` [m/s]."""
        speed = np.hypot(velocity[..., 0], velocity[..., 1])
        drag = self.viscous + self.coulomb / np.hypot(speed, self.transition_speed)
        return np.asarray(-drag[..., None] * velocity)
