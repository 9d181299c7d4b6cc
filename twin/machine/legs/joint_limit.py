"""Limit of a universal or ball joint: the largest angle of the leg from a neutral direction."""

from __future__ import annotations

import math
from typing import Any

from pydantic import Field, field_validator

from twin.machine.legs.leg import check_size
from twin.machine.quantity import Angle, Direction
from twin.machine.table import Table


class JointLimit(Table):
    """Cone of directions that a joint allows the leg.

    Directions are those of the leg away from the joint, in the frame of the body that carries it:
    the base at base joints, the platform at platform joints, the crank at elbows (x along the
    crank's axis, z along the crank).
    """

    maximum_angle: Angle = Field(
        gt=0, le=math.pi, description="Largest angle of the leg from the neutral direction"
    )
    neutral: Direction | None = Field(
        None,
        description="Neutral direction of the leg from this joint, in the frame of the base, "
        "platform or crank that carries it; leave out for the direction at home",
    )

    @field_validator("neutral")
    @classmethod
    def _direction(cls, direction: Any) -> Any:
        return None if direction is None else check_size(direction)
