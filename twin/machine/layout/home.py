"""Home: the pose a machine starts from, given or solved from its actuators."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from twin.machine.layout.joints import Angles, Lengths
from twin.machine.quantity import Number, Point
from twin.machine.table import Table

SOLVED = ("at", "lengths", "angles")
"""Fields that say where the actuators are at home; the pose follows from one of them."""

MIDDLES = ("mid_stroke", "mid_range")

SOURCE = "All actuators in the middle of their range"


class Home(Table):
    """The pose the machine starts from.

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
        if value not in MIDDLES:
            raise ValueError(f"must be a table, or {' or '.join(map(repr, MIDDLES))}")
        return {"source": f"{SOURCE}; upright, above the base", "at": value}

    @model_validator(mode="after")
    def _one_way(self) -> Home:
        given = [name for name in SOLVED if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} exclude each other; keep one")
        if not given and not self.has_start:
            raise ValueError(f"position is missing; add it, or at = '{MIDDLES[0]}', or `lengths`")
        return self

    @field_validator("orientation")
    @classmethod
    def _unit(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        norm = math.sqrt(sum(entry * entry for entry in value))
        if abs(norm - 1.0) > 1e-6:
            raise ValueError(f"must be a unit quaternion, its norm is {norm:.9g}")
        return tuple(entry / norm for entry in value)

    @property
    def has_start(self) -> bool:
        """Whether a position is given."""
        return "position" in self.model_fields_set

    @property
    def derived(self) -> frozenset[str]:
        """Fields that follow from the actuators."""
        solved = any(getattr(self, name) is not None for name in SOLVED)
        return frozenset({"position", "orientation"}) if solved else frozenset()
