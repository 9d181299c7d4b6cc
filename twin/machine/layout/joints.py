"""Layouts of joint points: in pairs around a circle, by angles, or by coordinates."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator

from twin.basics.arrays import FloatArray, IndexArray, read_only
from twin.machine.layout.paired_circle import PairedCircle
from twin.machine.quantity import Angle, Length, Point, Whole
from twin.machine.table import Table

NEAREST = "nearest"
"""Order in which every leg gets a joint near its own one of the other side."""


def one_or_more(value: Any) -> Any:
    """Return a list of entries; one entry alone as a list of one."""
    return value if isinstance(value, (list, tuple)) else (value,)


Lengths = Annotated[tuple[Length, ...], BeforeValidator(one_or_more)]
"""One length for all legs, or one per leg."""

Angles = Annotated[tuple[Angle, ...], BeforeValidator(one_or_more)]
"""One angle for all legs, or one per leg."""


class _Listed(Table):
    """Joint points that are listed one by one."""

    order: Literal["nearest"] | tuple[Whole, ...] | None = Field(
        None,
        description="Number (from 1) of the listed joint of each leg, leg 1 first; 'nearest': in "
        "the order around the z axis that gives the shortest legs",
    )

    @field_validator("order", mode="before")
    @classmethod
    def _numbers(cls, order: Any) -> Any:
        if order is None or order == NEAREST or isinstance(order, (list, tuple)):
            return order
        raise ValueError(f"must be '{NEAREST}' or the numbers of the listed joints, leg by leg")

    def _check_order(self, count: int) -> None:
        if not isinstance(self.order, tuple):
            return
        unknown = [number for number in self.order if not 1 <= number <= count]
        if unknown:
            raise ValueError(f"order names joint {unknown[0]}, but {count} are listed")
        unused = sorted({*range(1, count + 1)} - {*self.order})
        if unused:
            names = ", ".join(map(str, unused))
            raise ValueError(f"order leaves out joint {names}; each needs a leg, or remove it")

    @property
    def _picked(self) -> IndexArray | slice:
        """Index of the listed joint of each leg."""
        return np.array(self.order) - 1 if isinstance(self.order, tuple) else slice(None)


class Polar(_Listed):
    """Joint points by their angle about z, each with its own radius and height where they differ.

    One radius or height is that of all joints.
    """

    layout: Literal["polar"] = Field("polar", description="Kind of layout")
    angles: tuple[Angle, ...] = Field(min_length=1, description="Angles from x about z")
    radius: Lengths = Field(description="Distance from the z axis: one, or one per joint")
    height: Lengths = Field(
        (0.0,), description="Height in the table's frame: one, or one per joint"
    )

    @model_validator(mode="after")
    def _as_many(self) -> Polar:
        count = len(self.angles)
        for name, values in (("radius", self.radius), ("height", self.height)):
            if len(values) not in (1, count):
                raise ValueError(
                    f"{name} has {len(values)} entries; give 1, or {count} as `angles`"
                )
        if min(self.radius) <= 0:
            raise ValueError("radius must be greater than 0")
        self._check_order(count)
        return self

    @property
    def points(self) -> FloatArray:
        """Joint points `(n, 3)` [m] in the frame of the table."""
        angles, radius, height = np.array(self.angles), np.array(self.radius), np.array(self.height)
        heights = np.broadcast_to(height, angles.shape)
        points = np.stack([radius * np.cos(angles), radius * np.sin(angles), heights], axis=1)
        return read_only(points[self._picked])


class PointList(_Listed):
    """Joint points by their coordinates; leg 1 first unless `order` says otherwise."""

    layout: Literal["points"] = Field("points", description="Kind of layout")
    coordinates: tuple[Point, ...] = Field(min_length=1, description="Points in the table's frame")

    @model_validator(mode="after")
    def _ordered(self) -> PointList:
        self._check_order(len(self.coordinates))
        return self

    @property
    def points(self) -> FloatArray:
        """Joint points `(n, 3)` [m] in the frame of the table."""
        return read_only(np.array(self.coordinates)[self._picked])


CIRCLE_FIELDS = PairedCircle.model_fields.keys() - PointList.model_fields.keys()


def _layout(value: Any) -> Any:
    if not isinstance(value, dict):
        return getattr(value, "layout", None)
    found = "paired_circle" if not value or CIRCLE_FIELDS & value.keys() else "points"
    found = "polar" if "angles" in value else found
    return value.get("layout", "points" if "coordinates" in value else found)


JointLayout = Annotated[
    Annotated[PairedCircle, Tag("paired_circle")]
    | Annotated[Polar, Tag("polar")]
    | Annotated[PointList, Tag("points")],
    Discriminator(_layout),
]
