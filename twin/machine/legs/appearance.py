"""Dimensions of legs for drawing only; they carry no mass."""

from __future__ import annotations

from pydantic import Field

from twin.machine.quantity import Length
from twin.machine.table import Table


class LegAppearance(Table):
    """A housing on the base joint and a rod on the platform joint."""

    housing_radius: Length = Field(gt=0, description="Radius of the housing")
    housing_length: Length = Field(gt=0, description="Length of the housing from the base joint")
    rod_radius: Length = Field(gt=0, description="Radius of the rod")
    rod_length: Length = Field(gt=0, description="Length of the rod down from the tip")


class CrankAppearance(Table):
    """A crank and the rod on its end."""

    crank_radius: Length = Field(gt=0, description="Radius of the crank")
    rod_radius: Length = Field(gt=0, description="Radius of the rod")


class SpringAppearance(Table):
    """A spring, the actuator's housing on it and the follower that leaves the housing."""

    spring_radius: Length = Field(gt=0, description="Radius of the spring and its guide")
    housing_radius: Length = Field(gt=0, description="Radius of the actuator's housing")
    follower_radius: Length = Field(gt=0, description="Radius of the follower")


class PillarAppearance(Table):
    """A strut below the plate and the foot it stands on."""

    strut_radius: Length = Field(gt=0, description="Radius of the strut")
    foot_radius: Length = Field(gt=0, description="Radius of the foot's disc")
