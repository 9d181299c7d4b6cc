"""What one actuator can do: range, speed and force."""

from __future__ import annotations

from pydantic import Field, model_validator

from twin.parameters.quantity import Force, Length, Speed
from twin.parameters.table import Table


class LinearActuator(Table):
    """A prismatic actuator; the coordinate is the leg length between the joint centres."""

    minimum: Length = Field(gt=0, description="Length when fully retracted")
    maximum: Length = Field(gt=0, description="Length when fully extended")
    speed: Speed | None = Field(None, gt=0, description="Largest speed; leave out if unknown")
    force: Force | None = Field(None, gt=0, description="Largest force; leave out if unknown")

    @model_validator(mode="after")
    def _ordered(self) -> LinearActuator:
        if self.minimum >= self.maximum:
            raise ValueError("minimum must be smaller than maximum")
        return self

    @property
    def stroke(self) -> float:
        """Range of the actuator [m]."""
        return self.maximum - self.minimum
