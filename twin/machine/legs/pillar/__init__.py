"""Pillars: actuators square to the platform, on feet on the floor."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.legs.leg import Constants, LegKind, LegPlace
from twin.machine.legs.pillar.mechanism import carry, ends, make_leg
from twin.machine.legs.pillar.parameters import PillarLeg


def constants(leg: PillarLeg, place: LegPlace) -> Constants:
    """Return whether the foot is fixed, its mass and its friction."""
    own = leg.friction
    return {
        "fixed": float(place.number == leg.fixed_foot),
        "foot_mass": leg.foot_mass,
        "viscous": own.viscous if own else 0.0,
        "coulomb": own.coulomb if own else 0.0,
        "transition_speed": own.transition_speed if own else 1.0,
    }


def home_frame(leg: PillarLeg, place: LegPlace) -> FloatArray:
    """Return roll and pitch [rad] of the platform at home, and seven zeros."""
    x, y, z = place.normal
    return np.array([np.arctan2(-y, z), np.arctan2(x, np.hypot(y, z)), *np.zeros(7)])


PILLAR = LegKind(PillarLeg, constants, home_frame, ends, make_leg, carry)
