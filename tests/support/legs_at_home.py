"""Quantities of all legs at home: leg frames, bodies, cranks; arrays with one row per leg."""

from twin.basics.arrays import read_only
from twin.machine.legs.leg import UniversalLeg
from twin.machine.legs.rss import Crank, RssLeg
from twin.machine.legs.ups import LegBodies, UpsLeg


def home_leg_frames(parameters):
    """Return `(n, 3, 3)` rotations leg to base at home of straight legs: columns s2, Z x s2, Z.

    Raises:
        TypeError: legs of another kind.
    """
    return read_only(_each(parameters, UniversalLeg, UniversalLeg.home_frame))


def leg_bodies(parameters):
    """Return masses `(n,)`, centres `(n, 3)` and tensors `(n, 3, 3)` of UPS legs or struts.

    Raises:
        TypeError: legs of another kind.
    """
    rows = _each(parameters, UpsLeg, UpsLeg.bodies)
    return LegBodies(*(read_only(values) for values in zip(*rows, strict=True)))


def cranks(parameters):
    """Return the geometry of all RSS legs at home, each field with one row per leg.

    Raises:
        TypeError: legs of another kind.
    """
    rows = _each(parameters, RssLeg, RssLeg.home_geometry)
    return Crank(*(read_only(values) for values in zip(*rows, strict=True)))


def _each(parameters, kind, function):
    if not isinstance(parameters.leg, kind):
        raise TypeError(f"legs of kind {parameters.leg.kind!r} are no {kind.__name__}")
    pairs = zip(parameters.legs, parameters.home_leg_geometry, strict=True)
    return [function(leg, place) for leg, place in pairs]
