"""Three pairs of joints on a circle, by the angles or the distances that data sheets give."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from twin.basics.arrays import FloatArray, read_only
from twin.machine.quantity import Angle, Length, Whole
from twin.machine.table import Table

WIDTHS = ("half_spacing", "spacing", "chord", "between_pairs")
"""Fields that say how far apart the points of a pair are; one of them is enough."""

SIDES = ("chord", "between_pairs")
"""The two sides of the hexagon, from which its circle follows."""


class PairedCircle(Table):
    """Three pairs of points on a circle, 120 degrees from pair to pair.

    Pair k lies at `center_angle + 120 k -/+ half_spacing` degrees, the smaller angle first. The
    list is then rotated by `shift` places, so that joint i of the base meets joint i above it.
    A spacing of zero makes a triangle, where two legs share each joint.
    """

    layout: Literal["paired_circle"] = Field("paired_circle", description="Kind of layout")
    radius: Length | None = Field(
        None, gt=0, description="Radius of the circle, unless both sides of the hexagon are given"
    )
    half_spacing: Angle | None = Field(
        None, ge=0, lt=math.pi / 3, description="Half the angle between the points of a pair"
    )
    center_angle: Angle = Field(description="Angle of the middle of the first pair from x")
    height: Length = Field(0.0, description="Height of the circle in its frame")
    shift: Whole | None = Field(
        None, ge=0, le=5, description="Places the list is rotated by; left out: the shortest legs"
    )
    spacing: Angle | None = Field(
        None, ge=0, lt=2 * math.pi / 3, description="Angle between the points of a pair"
    )
    chord: Length | None = Field(
        None, ge=0, description="Distance of the points of a pair: one side of the hexagon"
    )
    between_pairs: Length | None = Field(
        None, gt=0, description="Distance of neighbours in two pairs: the other side"
    )

    @model_validator(mode="after")
    def _one_way(self) -> PairedCircle:
        given = [name for name in WIDTHS if getattr(self, name) is not None]
        if self.radius is None and given != list(SIDES):
            raise ValueError(
                "needs its size: give `radius` (missing), or `chord` and `between_pairs`, the two "
                "sides of the hexagon"
            )
        if self.radius is not None and len(given) != 1:
            raise ValueError(
                f"needs one of {', '.join(WIDTHS)} beside `radius`, got "
                f"{', '.join(given) or 'none'}"
            )
        largest = math.sqrt(3.0) * self.circle_radius
        for name in SIDES:
            side = getattr(self, name)
            if self.radius is not None and side is not None and not side < largest:
                raise ValueError(
                    f"{name} is {side:.6g} m, but must be shorter than {largest:.6g} m, the side "
                    f"of a triangle on a circle of radius {self.radius:.6g} m"
                )
        return self

    @property
    def circle_radius(self) -> float:
        """Radius [m] of the circle; from the sides a, b of the hexagon: 3 r^2 = a^2 + a b + b^2."""
        if self.radius is not None:
            return self.radius
        short, long = self.chord or 0.0, self.between_pairs or 0.0
        return math.sqrt((short**2 + short * long + long**2) / 3.0)

    @property
    def half_angle(self) -> float:
        """Half the angle [rad] between the points of a pair."""
        if self.half_spacing is not None:
            return self.half_spacing
        if self.spacing is not None:
            return self.spacing / 2
        if self.chord is not None:
            return math.asin(self.chord / (2 * self.circle_radius))
        return math.pi / 3 - math.asin((self.between_pairs or 0.0) / (2 * self.circle_radius))

    @property
    def points(self) -> FloatArray:
        """Joint points `(6, 3)` [m] in the frame of the table."""
        return _paired_points(
            self.circle_radius, self.half_angle, self.center_angle, self.height, self.shift or 0
        )


@lru_cache(maxsize=256)
def _paired_points(
    radius: float, half_spacing: float, center_angle: float, height: float, shift: int
) -> FloatArray:
    """Return the points `(6, 3)` of a paired circle; computed dozens of times for a machine."""
    centers = center_angle + 2 * math.pi / 3 * np.arange(3)
    angles = np.roll(np.stack([centers - half_spacing, centers + half_spacing], 1).ravel(), shift)
    heights = np.full(6, height)
    return read_only(np.stack([radius * np.cos(angles), radius * np.sin(angles), heights], 1))
