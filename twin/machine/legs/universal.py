"""Legs that are one straight line from a universal joint below to a spherical joint on top."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from twin.basics.arrays import FloatArray
from twin.machine.legs.joint_limit import JointLimit
from twin.machine.legs.leg import (
    COINCIDENT,
    NEARLY_PARALLEL,
    LegPlace,
    LegProblem,
    LinearLeg,
    check_size,
    unit,
)
from twin.machine.quantity import Direction


def check_direction(axis: Any, name: str) -> Any:
    """Return `axis` if it is the word `name` or three numbers; raises ValueError otherwise."""
    if axis != name and (not isinstance(axis, (list, tuple)) or len(axis) != 3):
        raise ValueError(f"must be '{name}' or three numbers, a direction in the base")
    return axis


class UniversalLeg(LinearLeg):
    """A leg along one line, on a universal joint whose first axis is fixed in the base.

    The second axis is perpendicular to the first and to the leg. The leg frame is
    (s2, Z x s2, Z): Z along the leg from base to tip and s2 = normalise(s1 x Z). The actuator
    coordinate is the leg's length.
    """

    is_straight: ClassVar[bool] = True

    kind: str
    first_axis: Literal["horizontal"] | Direction = Field(
        description="First axis of the universal joint in the base frame: a direction, or "
        "'horizontal' for the horizontal one perpendicular to each leg at home"
    )
    base_joint: JointLimit | None = Field(
        None, description="Limit of the universal joint; leave out if unknown"
    )
    platform_joint: JointLimit | None = Field(
        None, description="Limit of the ball joint on the platform; leave out if unknown"
    )

    @field_validator("first_axis", mode="before")
    @classmethod
    def _horizontal_or_direction(cls, axis: Any) -> Any:
        return check_direction(axis, "horizontal")

    @field_validator("first_axis")
    @classmethod
    def _direction(cls, axis: Any) -> Any:
        return check_size(axis)

    def home_axis(self, place: LegPlace) -> FloatArray:
        """Return the universal joint's first axis `(3,)`, a unit vector fixed in the base frame.

        'horizontal' is normalise(leg x z) at home (Stewart thesis, appendix A.1: rev1). A leg
        that is vertical at home has none; `home_problem` refuses it.
        """
        if isinstance(self.first_axis, str):
            axis = np.cross(place.vector, [0.0, 0.0, 1.0])
        else:
            axis = np.array(self.first_axis)
        return np.asarray(axis / np.linalg.norm(axis))

    def home_frame(self, place: LegPlace) -> FloatArray:
        """Return the rotation `(3, 3)` leg to base at home: columns s2, Z x s2, Z."""
        along = unit(place.vector)
        second = unit(np.cross(self.home_axis(place), along))
        return np.stack([second, np.cross(along, second), along], axis=1)

    def home_coordinate(self, place: LegPlace) -> float:
        """Return the actuator coordinate at home: the leg's length [m]."""
        return float(np.linalg.norm(place.vector))

    def home_row(self, place: LegPlace) -> FloatArray:
        """Return the row `(6,)` of the Jacobian at home: length rate = row @ twist."""
        along = place.vector / np.linalg.norm(place.vector)
        return np.concatenate([along, np.cross(place.arm, along)])

    def home_problem(self, place: LegPlace) -> LegProblem | None:
        """Return why the leg cannot be at home, None if it can."""
        length = float(np.linalg.norm(place.vector))
        if length < COINCIDENT:
            return LegProblem(".home.position", "its base and platform joint coincide at home")
        if self.first_axis == "horizontal" and np.hypot(*place.vector[:2]) < COINCIDENT:
            return LegProblem("first_axis", "it is vertical at home: give the axis as a direction")
        across = np.linalg.norm(np.cross(self.home_axis(place), place.vector / length))
        if not across > NEARLY_PARALLEL:
            return LegProblem("first_axis", "it lies along its universal joint's first axis")
        return None
