"""RSS legs: a crank, and a rod between two spherical joints."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.body import parallel_axis
from twin.machine.legs.leg import Constants, LegGeometry, LegKind, unit
from twin.machine.legs.rss.mechanism import ends, make_leg
from twin.machine.legs.rss.parameters import BRANCH_SIGNS, RssLeg


def constants(leg: RssLeg, leg_geometry: LegGeometry) -> Constants:
    """Return the constants for the equations: geometry, masses and inertia of crank and rod."""
    mass, center, tensor = leg.crank_mass(leg_geometry)
    return {
        "axis": leg.home_axis(leg_geometry),
        "zero_direction": leg.home_zero(leg_geometry),
        "middle_angle": 0.5 * (leg.actuator.minimum + leg.actuator.maximum),
        "crank_length": leg.crank_length,
        "rod_length": leg.rod_length,
        "elbow_branch": BRANCH_SIGNS[leg.branch],
        "rod_mass": leg.rod_mass,
        "crank_inertia": (tensor + parallel_axis(mass, center))[0, 0],
        "crank_mass": mass,
        # The crank's own axes are u, -c' and c; those of the equations are u, c' and c.
        "crank_moment": mass * center * [1.0, -1.0, 1.0],
    }


def home_frame(leg: RssLeg, leg_geometry: LegGeometry) -> FloatArray:
    """Return the rotation `(9,)` rod to base at home, row after row."""
    geometry = leg.home_geometry(leg_geometry)
    rod_direction = unit(geometry.rod)
    second_axis = unit(np.cross(geometry.axis, rod_direction))
    return np.stack(
        [second_axis, np.cross(rod_direction, second_axis), rod_direction], axis=1
    ).ravel()


RSS_KIND = LegKind(RssLeg, constants, home_frame, ends, make_leg)
