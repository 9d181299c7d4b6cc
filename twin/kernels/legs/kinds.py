"""Constants of the legs of a machine: one type per kind, so that kernels compile for one kind.

A kernel that receives `UpsLegs` contains no code of other kinds: functions such as `drive` look up
the implementation by this type when they are compiled. Rows start with the same entries for all
kinds.
"""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray

BASE_JOINT = 0
PLATFORM_JOINT = 3
AXIS = 6
"""Joint axis fixed in the base: first of a universal joint, or of a crank."""
GEOMETRY_SIZE = 9

HOME_FRAME, HOME_COORDINATE, HOME_SIZE = 0, 9, 10
"""Entries of the home rows: leg frame (rows of the rotation leg to base), actuator coordinate."""


class UpsLegs(NamedTuple):
    """Universal joint, prismatic actuator, spherical joint."""

    rows: FloatArray
    """`(n, LEG_SIZE)` of `twin.kernels.legs.ups.dynamics`"""


class StrutLegs(NamedTuple):
    """UPS legs with a spring and a damper beside the actuator."""

    rows: FloatArray
    """`(n, LEG_SIZE)` of `twin.kernels.legs.strut.dynamics`"""


class RssLegs(NamedTuple):
    """Crank, elbow and slender rod."""

    rows: FloatArray
    """`(n, LEG_SIZE)` of `twin.kernels.legs.rss.dynamics`"""


class ViscoelasticLegs(NamedTuple):
    """UPS legs with a viscoelastic element in series with the actuator."""

    rows: FloatArray
    """`(n, LEG_SIZE)` of `twin.kernels.legs.viscoelastic.dynamics`"""


class PillarLegs(NamedTuple):
    """Prismatic actuators square to the platform, their feet on the floor."""

    rows: FloatArray
    """`(n, LEG_SIZE)` of `twin.kernels.legs.pillar.dynamics`"""


Legs = UpsLegs | StrutLegs | RssLegs | ViscoelasticLegs | PillarLegs
