"""Positions of joints on circles, in pairs or as points, and the fields that give the home pose."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator

from twin.basics.arrays import FloatArray, IndexArray, read_only
from twin.machine.quantity import Angle, Length, Number, Point, Table, Whole

TIE_TOLERANCE = 1e-6
"""Relative difference below which two sums of squared distances count as equal."""

PAIR_WIDTH_FIELDS = ("half_spacing", "spacing", "chord", "between_pairs")
"""Fields that give the distance between the two points of a pair; a table has exactly one."""

HEXAGON_SIDE_FIELDS = ("chord", "between_pairs")
"""The two sides of the hexagon, from which its circle follows."""

NEAREST_ORDER = "nearest"
"""Value of `order` with which each leg joins the nearest joints of base and platform."""

ACTUATOR_FIELDS = ("at", "lengths", "angles")
"""Fields that say where the actuators are at home; the pose follows from one of them."""

MIDDLE_NAMES = ("mid_stroke", "mid_range")

MIDDLE_SOURCE = "All actuators in the middle of their range"


def coincident_indices(points: FloatArray, tolerance: float) -> list[int]:
    """Return the index of the first point within `tolerance` [m] of each point of `(n, 3)`."""
    is_near = np.linalg.norm(points[:, None] - points, axis=2) < tolerance
    return [int(i) for i in is_near.argmax(axis=1)]


def nearest_shift(base: FloatArray, top: FloatArray, tolerance: float) -> int | None:
    """Return by how many places to rotate the list `top` `(n, 3)` for the shortest legs.

    Rotations that join two legs to the same two points are excluded. None where two rotations are
    equally good, or all are excluded.

    Args:
        base: `(n, 3)` base joints [m].
        top: `(n, 3)` platform joints [m], turned into the base frame.
        tolerance: distance [m] below which two points coincide.
    """
    base_indices, costs = coincident_indices(base, tolerance), []
    for shift in range(len(top)):
        rotated = np.roll(top, shift, axis=0)
        is_doubled = len(
            {*zip(base_indices, coincident_indices(rotated, tolerance), strict=True)}
        ) < len(top)
        costs.append(np.inf if is_doubled else float(((base - rotated) ** 2).sum()))
    lowest_cost, second_cost = sorted(costs)[:2]
    return (
        None if not lowest_cost < (1.0 - TIE_TOLERANCE) * second_cost else costs.index(lowest_cost)
    )


def nearest_order(base: FloatArray, top: FloatArray, tolerance: float) -> IndexArray | None:
    """Return the indices of the platform joints leg by leg that give the shortest legs.

    Both lists are taken in their order around the z axis, so that no two legs cross there. None
    where two orders are equally good. Arguments as for `nearest_shift`.
    """
    around_base, around_top = _around(base), _around(top)
    shift = nearest_shift(base[around_base], top[around_top], tolerance)
    if shift is None:
        return None
    order = np.empty(len(base), dtype=np.int64)
    order[around_base] = np.roll(around_top, shift)
    return order


def _around(points: FloatArray) -> IndexArray:
    x, y = (points - points.mean(axis=0))[:, :2].T
    return np.argsort(np.arctan2(y, x), kind="stable")


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
        """Check that the circle and the width of its pairs are given in one way."""
        given_fields = [name for name in PAIR_WIDTH_FIELDS if getattr(self, name) is not None]
        if self.radius is None and given_fields != list(HEXAGON_SIDE_FIELDS):
            raise ValueError(
                "needs its size: give `radius` (missing), or `chord` and `between_pairs`, the two "
                "sides of the hexagon"
            )
        if self.radius is not None and len(given_fields) != 1:
            raise ValueError(
                f"needs one of {', '.join(PAIR_WIDTH_FIELDS)} beside `radius`, got "
                f"{', '.join(given_fields) or 'none'}"
            )
        largest = math.sqrt(3.0) * self.circle_radius
        for name in HEXAGON_SIDE_FIELDS:
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
        chord, between_pairs = self.chord or 0.0, self.between_pairs or 0.0
        return math.sqrt((chord**2 + chord * between_pairs + between_pairs**2) / 3.0)

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


def one_or_more(value: Any) -> Any:
    """Return a list of entries as it is, and a single entry as a list of one."""
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
        if order is None or order == NEAREST_ORDER or isinstance(order, (list, tuple)):
            return order
        raise ValueError(
            f"must be '{NEAREST_ORDER}' or the numbers of the listed joints, leg by leg"
        )

    def _check_order(self, count: int) -> None:
        """Check that an order names each of `count` joints once."""
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

    A single radius or height holds for all joints.
    """

    layout: Literal["polar"] = Field("polar", description="Kind of layout")
    angles: tuple[Angle, ...] = Field(min_length=1, description="Angles from x about z")
    radius: Lengths = Field(description="Distance from the z axis: one, or one per joint")
    height: Lengths = Field(
        (0.0,), description="Height in the table's frame: one, or one per joint"
    )

    @model_validator(mode="after")
    def _as_many(self) -> Polar:
        """Check that radii and heights are one, or as many as the angles."""
        count = len(self.angles)
        for name, values in (("radius", self.radius), ("height", self.height)):
            if len(values) not in (1, count):
                raise ValueError(
                    f"{name} has {len(values)} entries; give 1, or {count}: one per angle"
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
    layout = "paired_circle" if not value or CIRCLE_FIELDS & value.keys() else "points"
    layout = "polar" if "angles" in value else layout
    return value.get("layout", "points" if "coordinates" in value else layout)


JointLayout = Annotated[
    Annotated[PairedCircle, Tag("paired_circle")]
    | Annotated[Polar, Tag("polar")]
    | Annotated[PointList, Tag("points")],
    Discriminator(_layout),
]


class Home(Table):
    """Home: the pose that the machine starts from.

    `home = "mid_stroke"` in a file is short for a table with `at`. Of several poses with the same
    actuator coordinates, home is the one that is upright and above the base; a `position` beside
    them is where the search starts.
    """

    position: Point = Field((0.0, 0.0, 0.0), description="Reference point in the base frame")
    orientation: tuple[Number, Number, Number, Number] = Field(
        (1.0, 0.0, 0.0, 0.0), description="Unit quaternion platform to base, scalar first"
    )
    at: Literal["mid_stroke", "mid_range"] | None = Field(
        None, description="The pose follows: all actuators are in the middle of their range"
    )
    lengths: Lengths | None = Field(
        None, description="The pose follows from these leg lengths: one, or one per leg"
    )
    angles: Angles | None = Field(
        None, description="The pose follows from these crank angles: one, or one per leg"
    )

    @model_validator(mode="before")
    @classmethod
    def _in_a_word(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if value not in MIDDLE_NAMES:
            raise ValueError(f"must be a table, or {' or '.join(map(repr, MIDDLE_NAMES))}")
        return {"source": f"{MIDDLE_SOURCE}; upright, above the base", "at": value}

    @model_validator(mode="after")
    def _one_way(self) -> Home:
        """Check that home is given in one way: by its pose or by its actuators."""
        given_fields = [name for name in ACTUATOR_FIELDS if getattr(self, name) is not None]
        if len(given_fields) > 1:
            raise ValueError(f"{' and '.join(given_fields)} exclude each other; keep one")
        if not given_fields and not self.has_start:
            raise ValueError(
                f"position is missing; add it, or at = '{MIDDLE_NAMES[0]}', or `lengths`"
            )
        return self

    @field_validator("orientation")
    @classmethod
    def _unit(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        norm = math.sqrt(sum(component * component for component in value))
        if abs(norm - 1.0) > 1e-6:
            raise ValueError(f"must be a unit quaternion, its norm is {norm:.9g}")
        return tuple(component / norm for component in value)

    @property
    def has_start(self) -> bool:
        """Whether the file gives a position."""
        return "position" in self.model_fields_set

    @property
    def derived(self) -> frozenset[str]:
        """Fields that follow from the actuators."""
        solved = any(getattr(self, name) is not None for name in ACTUATOR_FIELDS)
        return frozenset({"position", "orientation"}) if solved else frozenset()
