"""Constants of viscoelastic legs for the equations of `twin.kernels.legs.viscoelastic`."""

from __future__ import annotations

from twin.machine.legs.kind import Constants
from twin.machine.legs.leg import LegPlace
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
