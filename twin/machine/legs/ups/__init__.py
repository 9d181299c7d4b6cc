"""UPS legs: universal joint, prismatic actuator, spherical joint."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.body import parallel_axis, six
from twin.machine.legs.leg import Constants, LegGeometry, LegKind, UniversalLeg
from twin.machine.legs.ups.mechanism import ends, make_leg
from twin.machine.legs.ups.parameters import LegBodies, UpsLeg

ROUNDING_TOLERANCE = 1e-15
"""Relative size below which an off-axis entry is rounding error of the frame's rotation."""


def constants(leg: UpsLeg, leg_geometry: LegGeometry) -> Constants:
    """Return the axis of the first joint, and masses, centres and tensor of housing and rod."""
    bodies = leg.bodies(leg_geometry)
    tensor = (
        bodies.housing_inertia
        + parallel_axis(float(bodies.housing_mass), bodies.housing_center)
        + bodies.rod_inertia
    )
    return {
        "axis": leg.home_axis(leg_geometry),
        "housing_mass": bodies.housing_mass,
        "housing_center": bodies.housing_center,
        "rod_mass": bodies.rod_mass,
        "rod_center": bodies.rod_center,
        "leg_tensor": six(tensor),
        "axisymmetric": float(_axisymmetric(tensor, bodies)),
    }


def home_frame(leg: UniversalLeg, leg_geometry: LegGeometry) -> FloatArray:
    """Return the rotation `(9,)` leg to base at home, row after row."""
    return leg.home_frame(leg_geometry).ravel()


def _axisymmetric(tensor: FloatArray, bodies: LegBodies) -> bool:
    size = np.abs(tensor).max() * ROUNDING_TOLERANCE
    asymmetries = [tensor[0, 1], tensor[0, 2], tensor[1, 2], tensor[0, 0] - tensor[1, 1]]
    centers = [*bodies.housing_center[:2], *bodies.rod_center[:2]]
    return bool(np.abs(asymmetries).max() <= size and np.abs(centers).max() == 0.0)


UPS_KIND = LegKind(UpsLeg, constants, home_frame, ends, make_leg)
