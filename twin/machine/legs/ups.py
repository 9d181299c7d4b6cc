"""A UPS leg: universal joint below, prismatic actuator, spherical joint on top."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from twin.machine.actuator import LinearActuator
from twin.machine.body import LegBody
from twin.machine.legs.appearance import LegAppearance
from twin.machine.legs.universal import UniversalLeg
from twin.machine.quantity import Angle, Whole


class UpsLeg(UniversalLeg):
    """Universal joint below, prismatic actuator, spherical joint on top.

    Bodies are given in a frame turned about the leg from the leg frame by `frame_angle`.
    """

    kind: Literal["ups"] = Field("ups", description="Kind of leg")
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

    @property
    def mass(self) -> float:
        """Mass [kg] of the whole leg."""
        return self.housing.mass + self.rod.mass
