"""Struts: parameters of UPS legs with a spring and a damper in parallel with the actuator."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from twin.machine.legs.leg import Constants, LegGeometry, LegKind, LegSpring
from twin.machine.legs.ups import UpsLeg, ends, home_frame, make_leg
from twin.machine.legs.ups import constants as ups_constants
from twin.machine.quantity import Damping, Length, Stiffness, Table


class Axial(Table):
    """Spring and damper along a leg."""

    stiffness: Stiffness = Field(gt=0, description="Axial stiffness of the leg")
    damping: Damping = Field(ge=0, description="Axial damping of the leg")
    rest_length: Length | None = Field(
        None, gt=0, description="Length without spring force; leave out for the length at home"
    )


class StrutLeg(UpsLeg):
    """A UPS leg with a spring and a damper along it, in parallel with the actuator.

    At the length l the rod is pushed with the actuator's force + stiffness (rest_length - l) -
    damping dl/dt. To command a rest length r, command the force stiffness (r - rest_length).
    """

    equations: ClassVar[str] = "strut"
    has_axial_spring: ClassVar[bool] = True

    kind: Literal["strut"] = Field("strut", description="Kind of leg")  # type: ignore[assignment]
    axial: Axial = Field(description="Spring and damper along the leg")

    def spring(self, leg_geometry: LegGeometry) -> LegSpring:
        """Return the spring in parallel with the actuator."""
        given_length = self.axial.rest_length
        rest_length = self.home_coordinate(leg_geometry) if given_length is None else given_length
        return LegSpring(self.axial.stiffness, self.axial.damping, rest_length)


def constants(leg: StrutLeg, leg_geometry: LegGeometry) -> Constants:
    """Return the constants of a UPS leg and those of the spring in parallel with its actuator."""
    spring = leg.spring(leg_geometry)
    return ups_constants(leg, leg_geometry) | {
        "stiffness": spring.stiffness,
        "damping": spring.damping,
        "rest_length": spring.rest,
    }


STRUT_KIND = LegKind(StrutLeg, constants, home_frame, ends, make_leg)
