"""Viscoelastic legs: a spring and a damper in series with the actuator."""

from __future__ import annotations

from twin.machine.legs.leg import Constants, LegKind, LegPlace
from twin.machine.legs.ups import home_frame
from twin.machine.legs.viscoelastic.mechanism import ends, make_leg
from twin.machine.legs.viscoelastic.parameters import ViscoelasticLeg

FIELDS = (
    "spring_length",
    "housing_length",
    "follower_length",
    "spring_mass",
    "housing_mass",
    "follower_mass",
    "stiffness",
    "damping",
)


def constants(leg: ViscoelasticLeg, place: LegPlace) -> Constants:
    """Return the axis of the first joint, the lengths, the masses and the spring."""
    return {"axis": leg.home_axis(place)} | {name: getattr(leg, name) for name in FIELDS}


VISCOELASTIC = LegKind(ViscoelasticLeg, constants, home_frame, ends, make_leg)
