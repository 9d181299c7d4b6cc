"""Limits of one actuator: range, speed and force or torque."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import Field, model_validator

from twin.machine.quantity import Acceleration, Angle, AngularSpeed, Force, Length, Speed, Torque
from twin.machine.table import Table


class _Range(Table):
    """The range of an actuator's coordinate."""

    coordinate_unit: ClassVar[str]
    """SI unit of the actuator's coordinate"""
    effort_unit: ClassVar[str]
    """SI unit of what the actuator gives"""

    minimum: float
    maximum: float

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.minimum >= self.maximum:
            raise ValueError("minimum must be smaller than maximum")
        return self

    @property
    def stroke(self) -> float:
        """Range of the actuator's coordinate [m] or [rad]."""
        return self.maximum - self.minimum


class LinearActuator(_Range):
    """A prismatic actuator; the coordinate is the leg length between the joint centres."""

    coordinate_unit: ClassVar[str] = "m"
    effort_unit: ClassVar[str] = "N"

    minimum: Length = Field(gt=0, description="Length when fully retracted")
    maximum: Length = Field(gt=0, description="Length when fully extended")
    speed: Speed | None = Field(None, gt=0, description="Largest speed; leave out if unknown")
    acceleration: Acceleration | None = Field(
        None, gt=0, description="Largest acceleration; leave out if unknown"
    )
    force: Force | None = Field(None, gt=0, description="Largest force; leave out if unknown")

    @property
    def effort(self) -> float | None:
        """Largest force [N], None if unknown."""
        return self.force


class RotaryActuator(_Range):
    """A motor that turns a crank; the coordinate is the crank angle from the direction `zero`."""

    coordinate_unit: ClassVar[str] = "rad"
    effort_unit: ClassVar[str] = "N m"

    minimum: Angle = Field(description="Smallest crank angle")
    maximum: Angle = Field(description="Largest crank angle")
    speed: AngularSpeed | None = Field(
        None, gt=0, description="Largest speed; leave out if unknown"
    )
    torque: Torque | None = Field(None, gt=0, description="Largest torque; leave out if unknown")

    @property
    def effort(self) -> float | None:
        """Largest torque [N m], None if unknown."""
        return self.torque


Actuator = LinearActuator | RotaryActuator
"""All have minimum, maximum, stroke, speed and effort in the unit of their coordinate."""
