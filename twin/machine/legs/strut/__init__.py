"""Struts: UPS legs with a spring and a damper beside the actuator."""

from __future__ import annotations

from twin.machine.legs.leg import Constants, LegKind, LegPlace
from twin.machine.legs.strut.parameters import StrutLeg
from twin.machine.legs.ups import constants as ups_constants
from twin.machine.legs.ups import home_frame
from twin.machine.legs.ups.mechanism import ends, make_leg


def constants(leg: StrutLeg, place: LegPlace) -> Constants:
    """Return the constants of a UPS leg and those of the spring beside its actuator."""
    spring = leg.spring(place)
    return ups_constants(leg, place) | {
        "stiffness": spring.stiffness,
        "damping": spring.damping,
        "rest_length": spring.rest,
    }


STRUT = LegKind(StrutLeg, constants, home_frame, ends, make_leg)
