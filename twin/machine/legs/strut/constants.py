"""Constants of struts for the equations of `twin.kernels.legs.strut`."""

from __future__ import annotations

from twin.machine.legs.kind import Constants
from twin.machine.legs.leg import LegPlace
from twin.machine.legs.strut.parameters import StrutLeg
from twin.machine.legs.ups.constants import constants as ups_constants


def constants(leg: StrutLeg, place: LegPlace) -> Constants:
    """Return the constants of a UPS leg and those of the spring beside its actuator."""
    spring = leg.spring(place)
    return ups_constants(leg, place) | {
        "stiffness": spring.stiffness,
        "damping": spring.damping,
        "rest_length": spring.rest,
    }
