"""Limits of one actuator: range, speed, force or torque, and power."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

from pydantic import Field, model_validator

from twin.machine.quantity import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularSpeed,
    Force,
    Length,
    Power,
    Speed,
    Torque,
)
from twin.machine.table import Table


class _Limits(Table, ABC):
    """Range of an actuator's coordinate, and what all actuators are limited by."""

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
        peak, lasting = self.effort, self.continuous_effort
        if peak is not None and lasting is not None and lasting > peak:
            name = "force" if self.effort_unit == "N" else "torque"
            raise ValueError(f"continuous_{name} must not be larger than {name}")
        return self

    @property
    @abstractmethod
    def effort(self) -> float | None:
        """Largest force [N] or torque [N m], None if unknown."""

    @property
    @abstractmethod
    def continuous_effort(self) -> float | None:
        """Largest root mean square of the force or torque; that of the peak unless given."""

    @property
    def stroke(self) -> float:
        """Range of the actuator's coordinate [m] or [rad]."""
        return self.maximum - self.minimum


class LinearActuator(_Limits):
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
    continuous_force: Force | None = Field(
        None, gt=0, description="Largest root mean square of the force; default: force"
    )
    power: Power | None = Field(
        None, gt=0, description="Largest mechanical power; leave out if unknown"
    )

    @property
    def effort(self) -> float | None:
        """Largest force [N], None if unknown."""
        return self.force

    @property
    def continuous_effort(self) -> float | None:
        """Largest root mean square of the force [N]; that of the peak unless given."""
        return self.force if self.continuous_force is None else self.continuous_force


class RotaryActuator(_Limits):
    """A motor that turns a crank; the coordinate is the crank angle from the direction `zero`."""

    coordinate_unit: ClassVar[str] = "rad"
    effort_unit: ClassVar[str] = "N m"

    minimum: Angle = Field(description="Smallest crank angle")
    maximum: Angle = Field(description="Largest crank angle")
    speed: AngularSpeed | None = Field(
        None, gt=0, description="Largest speed; leave out if unknown"
    )
    acceleration: AngularAcceleration | None = Field(
        None, gt=0, description="Largest acceleration; leave out if unknown"
    )
    torque: Torque | None = Field(None, gt=0, description="Largest torque; leave out if unknown")
    continuous_torque: Torque | None = Field(
        None, gt=0, description="Largest root mean square of the torque; default: torque"
    )
    power: Power | None = Field(
        None, gt=0, description="Largest mechanical power; leave out if unknown"
    )

    @property
    def effort(self) -> float | None:
        """Largest torque [N m], None if unknown."""
        return self.torque

    @property
    def continuous_effort(self) -> float | None:
        """Largest root mean square of the torque [N m]; that of the peak unless given."""
        return self.torque if self.continuous_torque is None else self.continuous_torque


Actuator = LinearActuator | RotaryActuator
"""All have minimum, maximum, stroke, speed, acceleration, effort, continuous_effort and power."""
