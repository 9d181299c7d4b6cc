"""Leg kinds. A UPS leg: universal joint, prismatic actuator, spherical joint."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from twin.parameters.actuator import LinearActuator
from twin.parameters.body import LegBody
from twin.parameters.quantity import Angle, Direction, Length, Whole
from twin.parameters.table import Table


class LegAppearance(Table):
    """Dimensions for drawing only; they carry no mass."""

    housing_radius: Length = Field(gt=0, description="Radius of the housing")
    housing_length: Length = Field(gt=0, description="Length of the housing from the base joint")
    rod_radius: Length = Field(gt=0, description="Radius of the rod")
    rod_length: Length = Field(gt=0, description="Length of the rod down from the tip")


class UpsLeg(Table):
    """All legs of a machine: universal joint below, prismatic actuator, spherical joint on top.

    The universal joint's first axis is fixed in the base, the second is perpendicular to it and
    to the leg. The leg frame is (s2, Z x s2, Z): Z along the leg from base to tip and
    s2 = normalise(s1 x Z). Bodies are given in a frame turned about Z by `frame_angle`.
    """

    kind: Literal["ups"] = Field("ups", description="Kind of leg")
    first_axis: Literal["horizontal"] | Direction = Field(
        description="First axis of the universal joint in the base frame: a direction, or "
        "'horizontal' for the horizontal one perpendicular to each leg at home"
    )
    frame_angle: Angle = Field(
        0.0, description="Angle about the leg from the leg frame to the frame of the body data"
    )
    mirrored: tuple[Whole, ...] = Field(
        (), description="Legs (from 1) whose bodies are mirrored in x of the body data's frame"
    )
    housing: LegBody = Field(description="Part on the base joint; origin at the base joint")
    rod: LegBody = Field(description="Part on the platform joint; origin at the tip")
    actuator: LinearActuator = Field(description="The actuator between housing and rod")
    appearance: LegAppearance | None = Field(None, description="Dimensions for drawing")

    @field_validator("first_axis", mode="before")
    @classmethod
    def _horizontal_or_direction(cls, axis: Any) -> Any:
        if axis != "horizontal" and (not isinstance(axis, (list, tuple)) or len(axis) != 3):
            raise ValueError("must be 'horizontal' or three numbers, a direction in the base")
        return axis

    @field_validator("first_axis")
    @classmethod
    def _direction(cls, axis: str | Direction) -> str | Direction:
        if not isinstance(axis, str) and sum(value * value for value in axis) < 1e-12:
            raise ValueError("must be a direction, not the zero vector")
        return axis
