"""A machine as bodies on joints, closed into loops: the one description all engines are made from.

The bodies form a tree that starts at the base. Every joint acts at the origin of the body it
moves, and all joint coordinates are zero at home. The tree is closed by loops, each of which holds
a point of one body on a point of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.machine.mechanism.parts import (
    BASE,
    PLATFORM,
    Actuator,
    Body,
    Friction,
    Joint,
    Loop,
    Point,
    Tether,
)
from twin.machine.mechanism.shapes import Cylinder, Shape
from twin.model.ball.ball import Ball


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A machine for the engines."""

    name: str
    gravity: float
    """[m/s2] along -z of the base"""
    home: FloatArray
    """`(7,)` pose of the platform where all joint coordinates are zero"""
    reach: float
    """[m] that no tip of a leg gets away from its base joint"""
    base_plate: Cylinder
    """on the floor"""
    base_shapes: tuple[Shape, ...]
    """what else is fixed"""
    bodies: tuple[Body, ...]
    """parents before children"""
    points: tuple[Point, ...]
    loops: tuple[Loop, ...]
    actuators: tuple[Actuator, ...]
    leg_joints: tuple[tuple[str, ...], ...]
    """joints of each leg, in the order of the platform's leg coordinates"""
    deflection: tuple[str, ...] = ()
    """joints whose coordinates do not follow from the platform's pose"""
    frictions: tuple[Friction, ...] = ()
    tethers: tuple[Tether, ...] = ()
    """largest angles of passive joints"""
    ball: Ball | None = None
    """that rolls on a plate on the platform; beside the tree"""

    @property
    def floats(self) -> bool:
        """Whether the platform is a free body; otherwise joints carry it."""
        return self.body(PLATFORM).free

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of all joints: leg by leg, then those of bodies that the platform carries."""
        legs = tuple(name for leg in self.leg_joints for name in leg)
        others = (joint.name for body in self.bodies for joint in body.joints)
        return legs + tuple(name for name in others if name not in legs)

    @property
    def carried(self) -> tuple[str, ...]:
        """Joints of bodies that the platform carries; they come last in `joint_names`."""
        return self.joint_names[sum(map(len, self.leg_joints)) :]

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """All joints in the order of `joint_names`."""
        found = {joint.name: joint for body in self.bodies for joint in body.joints}
        return tuple(found[name] for name in self.joint_names)

    @cached_property
    def home_frames(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Origin `(3,)` [m] and rotation to base `(3, 3)` of every body at home, by name."""
        frames = {BASE: (np.zeros(3), np.eye(3))}
        for body in self.bodies:
            origin, turn = frames[body.parent]
            own = np.eye(3) if body.rotation is None else body.rotation
            frames[body.name] = (origin + turn @ body.position, turn @ own)
        return frames

    def home_place(self, point: Point) -> FloatArray:
        """Return the place `(3,)` [m] of a point in the base at home."""
        origin, turn = self.home_frames[point.body]
        return origin + turn @ point.position

    @cached_property
    def colors(self) -> frozenset[str]:
        """Colours of all shapes."""
        moving = (shape for body in self.bodies for shape in body.shapes)
        shapes: Iterator[Shape] = chain((self.base_plate,), self.base_shapes, moving)
        return frozenset(shape.color for shape in shapes)

    def viscosity(self, joint: str) -> float:
        """Return the viscous resistance [N s/m] or [N m s/rad] of a joint, its damper included."""
        own = self.joints[self.joint_names.index(joint)].spring
        rubbing = sum(friction.viscous for friction in self.frictions if joint in friction.joints)
        return (own.damping if own else 0.0) + rubbing

    def body(self, name: str) -> Body:
        """Return a body by its name."""
        return next(body for body in self.bodies if body.name == name)

    def moved_by(self, joint: str) -> str:
        """Return the name of the body that a joint moves."""
        return next(b.name for b in self.bodies if joint in [own.name for own in b.joints])

    def point(self, name: str) -> Point:
        """Return a point by its name."""
        return next(point for point in self.points if point.name == name)

    def points_on(self, body: str) -> Iterator[Point]:
        """Yield the points of a body, or of the base."""
        return (point for point in self.points if point.body == body)

    def loop_points(self) -> Iterator[tuple[Point, Point]]:
        """Yield the two points of every loop."""
        return ((self.point(loop.first), self.point(loop.second)) for loop in self.loops)

    def indices(self, names: tuple[str, ...]) -> IndexArray:
        """Return the places of joints in `joint_names`."""
        return np.array([self.joint_names.index(name) for name in names], dtype=np.int64)

    @cached_property
    def measured(self) -> IndexArray:
        """`(m, n)` joints that add up to the n actuator coordinates."""
        rows = [self.indices(actuator.measured) for actuator in self.actuators]
        return np.stack(rows, axis=1)

    def carriers(self) -> tuple[str, ...]:
        """Return the joints between base and platform; none if the platform is free."""
        names: tuple[str, ...] = ()
        body = self.body(PLATFORM)
        while True:
            names = tuple(joint.name for joint in body.joints) + names
            if body.parent == BASE:
                return names
            body = self.body(body.parent)

    def root(self, body: Body) -> str:
        """Return the body on the base from which a body's joints start: itself, or one below."""
        while body.parent != BASE:
            body = self.body(body.parent)
        return body.name

    def moves_platform(self, body: Body) -> bool:
        """Return whether a body is in the same tree as the platform."""
        return self.root(body) == self.root(self.body(PLATFORM))
