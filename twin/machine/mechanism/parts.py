"""Parts of a mechanism: bodies on joints, points, loops, actuators, and what one leg adds."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.hardware import actuator as hardware
from twin.machine.mechanism.appearance import Drawing
from twin.machine.mechanism.shapes import Cylinder, Shape

BASE = "base"
"""The body that does not move: its frame is the base frame."""

PLATFORM = "platform"
"""The body whose frame is the platform frame."""


class Limits(NamedTuple):
    """Range of a joint coordinate [m] or [rad], largest speed and force; None where unknown."""

    minimum: float
    maximum: float
    speed: float | None
    force: float | None


class Spring(NamedTuple):
    """Spring and damper of a joint: force = stiffness (zero - coordinate) - damping rate."""

    stiffness: float
    """[N/m] or [N m/rad]"""
    damping: float
    """[N s/m] or [N m s/rad]"""
    zero: float = 0.0
    """joint coordinate [m] or [rad] without spring force"""


class Joint(NamedTuple):
    """One degree of freedom of a body against its parent, zero at home."""

    name: str
    kind: Literal["hinge", "slide"]
    axis: FloatArray
    """`(3,)` in the body's frame"""
    link: str = ""
    """name of the massless link behind it, where a format allows one joint a link; the last joint
    of a body moves the body itself"""
    limits: Limits | None = None
    spring: Spring | None = None


class Mass(NamedTuple):
    """Mass properties of a body, in its frame."""

    mass: float
    """[kg]"""
    center: FloatArray
    """`(3,)` [m]"""
    tensor: FloatArray
    """`(3, 3)` [kg m2] about the centre of mass"""


MASSLESS = Mass(0.0, np.zeros(3), np.zeros((3, 3)))


class Body(NamedTuple):
    """A rigid body, placed in its parent as at home."""

    name: str
    parent: str
    position: FloatArray
    """`(3,)` [m] of its origin"""
    rotation: FloatArray | None = None
    """`(3, 3)` body to parent; None for parallel frames"""
    joints: tuple[Joint, ...] = ()
    """from the parent on; none for a body that is fixed to its parent, or free"""
    mass: Mass = MASSLESS
    shapes: tuple[Shape, ...] = ()
    free: bool = False
    """free in all six directions; its parent is the base"""
    extra_weight: float = 0.0
    """[kg] whose weight pulls at the centre of mass without having inertia"""


class Point(NamedTuple):
    """A named point [m] of a body."""

    name: str
    body: str
    position: FloatArray


class Loop(NamedTuple):
    """Two points, by name, that a constraint holds together."""

    name: str
    first: str
    second: str


class Tether(NamedTuple):
    """Two points, by name, that get no farther apart than a length."""

    name: str
    first: str
    second: str
    length: float
    """[m]"""


class Actuator(NamedTuple):
    """An actuator on a joint."""

    name: str
    joint: str
    """on which its force acts"""
    measured: tuple[str, ...]
    """joints whose coordinates add up to the actuator coordinate, counted from home"""


class Friction(NamedTuple):
    """Friction against sliding in the plane of two joints.

    The force on the sliding body is -(viscous + coulomb / sqrt(|v|^2 + transition_speed^2)) v.
    """

    joints: tuple[str, str]
    viscous: float
    """[N s/m]"""
    coulomb: float
    """[N]"""
    transition_speed: float
    """[m/s]"""


X, Z, ORIGIN = np.eye(3)[0], np.eye(3)[2], np.zeros(3)


class LegMechanism(NamedTuple):
    """Bodies and joints of one leg between base and platform."""

    joints: tuple[str, ...]
    """in the order of the platform's leg coordinates"""
    bodies: tuple[Body, ...]
    actuator: Actuator
    points: tuple[Point, ...]
    loops: tuple[Loop, ...]
    deflection: tuple[str, ...] = ()
    frictions: tuple[Friction, ...] = ()
    base_shapes: tuple[Shape, ...] = ()


def limits(actuator: hardware.Actuator, home: float) -> Limits:
    """Return range, speed and force of an actuator, its coordinate counted from home."""
    span = (actuator.minimum - home, actuator.maximum - home)
    return Limits(*span, actuator.speed, actuator.effort)


def point_mass(mass: float, center: FloatArray = ORIGIN) -> Mass:
    """Return a mass [kg] in one point [m]."""
    return Mass(mass, center, np.zeros((3, 3)))


def crossed(first: FloatArray, along: FloatArray) -> FloatArray:
    """Return the frame `(3, 3)` of a body along `along` on two hinges: columns s2, Z x s2, Z.

    The first hinge turns about `first`, the second about s2, perpendicular to it and to the body.
    """
    third = along / np.linalg.norm(along)
    second = np.cross(first, third)
    second /= np.linalg.norm(second)
    return np.column_stack([second, np.cross(third, second), third])


def bracket(number: int, foot: FloatArray, look: Drawing) -> Cylinder:
    """Return the post from the base plate up to the base joint `foot` `(3,)` of a leg."""
    below = np.array([foot[0], foot[1], look.base_top])
    return Cylinder(f"base_bracket_{number}", "joint", 0.8 * look.base_joint_radius, below, foot)
