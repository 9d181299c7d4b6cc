"""What every kind of leg adds to a mechanism, and what several kinds share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.mechanism.appearance import Drawing
from twin.engines.mechanism.mechanism import Actuator, Body, Friction, Limits, Loop, Mass, Point
from twin.engines.mechanism.shapes import Cylinder, Shape
from twin.machine.legs import AnyLeg

X, Z, ORIGIN = np.eye(3)[0], np.eye(3)[2], np.zeros(3)


class Leg(NamedTuple):
    """One leg between base and platform."""

    joints: tuple[str, ...]
    """in the order of the platform's leg coordinates"""
    bodies: tuple[Body, ...]
    actuator: Actuator
    points: tuple[Point, ...]
    loops: tuple[Loop, ...]
    deflection: tuple[str, ...] = ()
    frictions: tuple[Friction, ...] = ()
    base_shapes: tuple[Shape, ...] = ()


def limits(leg: AnyLeg, home: float) -> Limits:
    """Return what a leg's actuator can do, its coordinate counted from home [m] or [rad]."""
    actuator = leg.actuator
    span = (actuator.minimum - home, actuator.maximum - home)
    return Limits(*span, actuator.speed, actuator.effort)


def point_mass(mass: float, center: FloatArray = ORIGIN) -> Mass:
    """Return a mass [kg] in one point [m]."""
    return Mass(mass, center, np.zeros((3, 3)))


def crossed(first: FloatArray, along: FloatArray) -> FloatArray:
    """Return the frame `(3, 3)` of a body along `along` on two hinges: columns s2, Z x s2, Z.

    The first hinge turns about `first`, the second about s2, perpendicular to it and to the body.
    """
    unit = along / np.linalg.norm(along)
    second = np.cross(first, unit)
    second /= np.linalg.norm(second)
    return np.column_stack([second, np.cross(unit, second), unit])


def bracket(i: int, foot: FloatArray, look: Drawing) -> Cylinder:
    """Return the post from the base plate up to base joint i (from 0)."""
    below = np.array([foot[0], foot[1], look.base_top])
    return Cylinder(f"base_bracket_{i + 1}", "joint", 0.8 * look.base_joint_radius, below, foot)
