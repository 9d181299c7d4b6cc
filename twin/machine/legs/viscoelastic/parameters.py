"""A viscoelastic leg: spring and damper in series with a prismatic actuator, point masses."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from twin.machine.hardware.actuator import LinearActuator
from twin.machine.legs.leg import LegPlace, LegSizes, LegSpring
from twin.machine.legs.universal import UniversalLeg
from twin.machine.quantity import Damping, Length, Mass, Stiffness
from twin.machine.table import Table

ROUNDING = 1e-9
"""Share by which the parts may exceed the shortest length: their sum is rounded."""


class SpringAppearance(Table):
    """A spring, the actuator's housing on it and the follower that leaves the housing."""

    spring_radius: Length = Field(gt=0, description="Radius of the spring and its guide")
    housing_radius: Length = Field(gt=0, description="Radius of the actuator's housing")
    follower_radius: Length = Field(gt=0, description="Radius of the follower")


class ViscoelasticLeg(UniversalLeg):
    """A leg that yields: spring, actuator housing, follower, in this order from the base joint.

    With the spring's extension delta1 and the actuator's delta2, three point masses lie on the
    leg's axis: the spring's at (spring_length + delta1) / 2, the housing's at spring_length +
    delta1 + housing_length, the follower's at follower_start + delta2 beyond the housing's; the
    tip is follower_length further (compliant-legs paper, figure 1: 2 l1, l2, l3, l4). At home
    delta1 = 0.
    """

    definition: ClassVar[str] = (
        "the distance from base joint to platform joint, which spring and actuator share; "
        "extension is positive"
    )
    equations: ClassVar[str] = "viscoelastic"
    has_series_spring: ClassVar[bool] = True

    kind: Literal["viscoelastic"] = Field("viscoelastic", description="Kind of leg")
    spring_length: Length = Field(gt=0, description="Length of the relaxed spring's housing, 2 l1")
    housing_length: Length = Field(gt=0, description="From the spring to the housing's mass, l2")
    follower_start: Length = Field(
        ge=0, description="From the housing's mass to the follower's when retracted, l3"
    )
    follower_length: Length = Field(ge=0, description="From the follower's mass to the tip, l4")
    spring_mass: Mass = Field(ge=0, description="Mass of the spring, halfway along it")
    housing_mass: Mass = Field(ge=0, description="Mass of the actuator's housing")
    follower_mass: Mass = Field(ge=0, description="Mass of the follower")
    stiffness: Stiffness = Field(gt=0, description="Stiffness of the spring")
    damping: Damping = Field(ge=0, description="Damping beside the spring")
    actuator: LinearActuator = Field(
        description="The actuator; lengths of the leg with the spring relaxed"
    )
    appearance: SpringAppearance | None = Field(None, description="Dimensions for drawing")

    @model_validator(mode="after")
    def _fits(self) -> ViscoelasticLeg:
        if not 0.25 * self.spring_mass + self.housing_mass > 0.0:
            raise ValueError(
                "spring_mass and housing_mass are both zero: between spring and actuator something "
                "must have mass, or the spring's deflection has no acceleration; give one of them"
            )
        if self.retracted_length > self.actuator.minimum * (1 + ROUNDING):
            raise ValueError(
                f"spring_length, housing_length, follower_start and follower_length add up to "
                f"{self.retracted_length:.9g} m, more than actuator.minimum "
                f"{self.actuator.minimum:.9g} m, the shortest leg with its spring relaxed"
            )
        return self

    @property
    def retracted_length(self) -> float:
        """Length [m] between the joints at delta1 = delta2 = 0."""
        below = self.spring_length + self.housing_length
        return below + self.follower_start + self.follower_length

    def home_extension(self, place: LegPlace) -> float:
        """Return the actuator's extension delta2 [m] at home, where delta1 = 0."""
        return self.home_coordinate(place) - self.retracted_length

    @property
    def mass(self) -> float:
        """Mass [kg] of the whole leg."""
        return self.spring_mass + self.housing_mass + self.follower_mass

    @property
    def sizes(self) -> LegSizes | None:
        """Thickness of spring and housing, which end about the follower, and of the follower."""
        drawn = self.appearance
        if drawn is None:
            return None
        end = self.spring_length + self.housing_length + self.follower_start
        wider = max(drawn.spring_radius, drawn.housing_radius)
        return LegSizes(wider, drawn.follower_radius, end)

    def spring(self, place: LegPlace) -> LegSpring:
        """Return the spring in series with the actuator."""
        return LegSpring(self.stiffness, self.damping, self.spring_length)
