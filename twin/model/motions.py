"""Motions of the platform and of its legs, and the springs along the legs, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.machine.machine import MachineParameters

REST = np.zeros(6)
REST.flags.writeable = False
"""Twist or acceleration of a platform at rest, or no wrench."""


class LegCoordinates(NamedTuple):
    """Joint coordinates of all legs with two time derivatives; zero at home.

    The joints of each kind of leg, in order: UPS and strut: first and second universal angle,
    extension; RSS: crank, first and second angle of the elbow; viscoelastic: first, second, spring,
    actuator; pillar: place of the foot along x and y, extension (fixed foot: roll, pitch,
    extension).
    """

    values: FloatArray
    """`(..., n, joints)` [rad, m]"""
    rates: FloatArray
    """`(..., n, joints)`"""
    accelerations: FloatArray
    """`(..., n, joints)`"""


class LegSprings(NamedTuple):
    """Springs and dampers along the legs: force = stiffness (rest - length) - damping rate."""

    stiffness: FloatArray
    """`(n,)` [N/m], zero where a leg has none"""
    damping: FloatArray
    """`(n,)` [N s/m]"""
    rest: FloatArray
    """`(n,)` lengths [m] without spring force: of the leg, or of a spring in series"""


def leg_springs(parameters: MachineParameters) -> LegSprings:
    """Return the springs along the legs of a machine."""
    pairs = zip(parameters.legs, parameters.home_places, strict=True)
    springs = [leg.spring(place) for leg, place in pairs]
    return LegSprings(*(read_only(values) for values in zip(*springs, strict=True)))


class PlatformMotion(NamedTuple):
    """A motion that meets the constraints of the platform."""

    pose: FloatArray
    """`(..., 7)`"""
    twist: FloatArray
    """`(..., 6)`"""
    acceleration: FloatArray
    """`(..., 6)`"""
