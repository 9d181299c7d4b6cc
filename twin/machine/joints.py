"""Layouts of joint points: listed one by one, or in pairs around a circle."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Field, Tag

from twin.basics.arrays import FloatArray, read_only
from twin.machine.quantity import Angle, Length, Point, Whole
from twin.machine.table import Table


class PairedCircle(Table):
    """Three pairs of points on a circle, 120 degrees from pair to pair.

    Pair k lies at `center_angle + 120 k -/+ half_spacing` degrees, the smaller angle first. The
    list is then rotated by `shift` places, so that joint i of the base meets joint i above it.
    """

    layout: Literal["paired_circle"] = Field("paired_circle", description="Kind of layout")
    radius: Length = Field(gt=0, description="Radius of the circle")
    half_spacing: Angle = Field(
        gt=0, lt=math.pi / 3, description="Half the angle between the points of a pair"
    )
    center_angle: Angle = Field(description="Angle of the middle of the first pair from x")
    height: Length = Field(0.0, description="Height of the circle in its frame")
    shift: Whole = Field(0, ge=0, le=5, description="Places the list is rotated by")

    @property
    def points(self) -> FloatArray:
        """Joint points `(6, 3)` [m] in the frame of the table."""
        return _paired_points(
            self.radius, self.half_spacing, self.center_angle, self.height, self.shift
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


class PointList(Table):
    """Joint points listed one by one, leg 1 first."""

    layout: Literal["points"] = Field("points", description="Kind of layout")
    coordinates: tuple[Point, ...] = Field(min_length=1, description="Points in the table's frame")

    @property
    def points(self) -> FloatArray:
        """Joint points `(n, 3)` [m] in the frame of the table."""
        return read_only(self.coordinates)


CIRCLE_FIELDS = PairedCircle.model_fields.keys() - PointList.model_fields.keys()


def _layout(value: Any) -> Any:
    if not isinstance(value, dict):
        return getattr(value, "layout", None)
    circle = "coordinates" not in value and not CIRCLE_FIELDS.isdisjoint(value)
    return value.get("layout", "paired_circle" if circle or not value else "points")


JointLayout = Annotated[
    Annotated[PairedCircle, Tag("paired_circle")] | Annotated[PointList, Tag("points")],
    Discriminator(
        _layout,
        custom_error_type="layout",
        custom_error_message="must be a table with the layout 'paired_circle' or 'points'",
    ),
]
