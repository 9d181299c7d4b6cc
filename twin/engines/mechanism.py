"""The mechanism of a machine with its payload and tethers, from which all engines are made.

An engine divides by the mass of every part that moves by itself; the reference does not. Parts
lighter than `MIN_MASS_FRACTION` of the machine get that mass, and the moments of a ball of
`GYRATION_FRACTION` of the leg's reach. It changes the platform's accelerations by about that
share, less than the rounding of either engine. Measured on a hexapod of 1.8 kg, with constraints
as in `twin.engines.mujoco`: errors against the reference are those of legs of any other
mass (MuJoCo 6e-11 rad, Bullet 2e-9 rad in 0.12 s).

The bodies form a tree that starts at the base. Every joint acts at the origin of the body it
moves, and all joint coordinates are zero at home. The tree is closed by loops, each of which holds
a point of one body on a point of another.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import pi, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.errors import InputError, TwinWarning, listed
from twin.machine.legs import LEG_KINDS
from twin.machine.legs.leg import JointLimit, Leg, unit
from twin.machine.machine import MachineParameters
from twin.machine.mechanism import (
    BASE_NAME,
    PLATFORM_NAME,
    Actuator,
    Body,
    Box,
    Cylinder,
    Drawing,
    Friction,
    Joint,
    Loop,
    Mass,
    Plate,
    Point,
    Shape,
    Spring,
    Tether,
    drawing,
)
from twin.machine.payload.anthropometry import JOINT_TYPES, Segment, origins
from twin.machine.payload.occupant import Occupant
from twin.model.ball import Ball
from twin.model.machine_base import LegCoordinates

WATER_DENSITY = 1000.0
"""[kg/m3] of the cylinders that segments are drawn as."""

MIN_MASS_FRACTION = 1e-12
"""Mass of a part in an engine, at least, per mass of the whole machine. A platform of less loses
digits in Bullet's constraint solver: errors of 5e-8 rad in place of 2e-10."""

GYRATION_FRACTION = 0.1
"""Radius of gyration of a part that gets the least mass, per reach of the legs."""

ARM_FRACTION = 0.1
"""Distance of both tether points from their joint, relative to the leg's or rod's length at
home."""


def as_segments(payload: Any, gravity: float) -> tuple[Segment, ...]:
    """Return a payload as segments; none for None.

    Args:
        payload: an `Occupant`, segments, or what `plain` made of them.
        gravity: [m/s2] that an occupant's springs carry; 0 is taken for the earth's.

    Raises:
        InputError: something else, or segments that do not form a tree.
    """
    if payload is None:
        return ()
    if isinstance(payload, Occupant):
        return payload.segments(gravity) if gravity > 0.0 else payload.segments()
    try:
        segments = tuple(_segment(part) for part in payload)
    except (TypeError, ValueError) as error:
        raise InputError("payload", f"must be an Occupant or segments ({error})") from None
    origins(segments)
    for segment in segments:
        segment_numbers = np.concatenate([np.ravel(field) for field in segment[3:]])
        if segment.joint not in JOINT_TYPES:
            raise InputError("payload", f"{segment.name}: no joint {segment.joint!r}")
        if not (np.isfinite(segment_numbers).all() and segment.mass > 0.0):
            raise InputError("payload", f"{segment.name}: needs finite numbers and a mass above 0")
    return segments


def plain(segments: Iterable[Segment]) -> list[list[Any]]:
    """Return segments as lists of texts and numbers, for files."""
    return [[np.asarray(field).tolist() for field in segment] for segment in segments]


def _segment(part: Any) -> Segment:
    arrays = ("axis", "position", "center", "inertia", "end")
    fields = dict(zip(Segment._fields, part, strict=True))
    fields |= {name: np.array(fields[name], dtype=float) for name in arrays}
    return Segment(**fields)


def _body(segment: Segment) -> Body:
    """Return the body `payload_<segment>`, on a joint of the same name, or fixed."""
    name = f"payload_{segment.name}"
    joints: tuple[Joint, ...] = ()
    if segment.joint != "fixed":
        joint_kind: Literal["hinge", "slide"] = "hinge" if segment.joint == "hinge" else "slide"
        spring = Spring(segment.stiffness, segment.damping, segment.rest)
        joints = (Joint(name, joint_kind, segment.axis, spring=spring),)
    return Body(
        name,
        PLATFORM_NAME if segment.parent == PLATFORM_NAME else f"payload_{segment.parent}",
        segment.position,
        joints=joints,
        mass=Mass(segment.mass, segment.center, segment.inertia),
        shapes=_shapes(name, segment),
    )


def _shapes(name: str, segment: Segment) -> tuple[Shape, ...]:
    length = float(np.linalg.norm(segment.end))
    if not length > 0.0:
        return ()
    radius = sqrt(segment.mass / (WATER_DENSITY * pi * length))
    return (Cylinder(f"{name}_limb", "occupant", radius, np.zeros(3), segment.end),)


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A machine for the engines."""

    name: str
    gravity: float
    """[m/s2] along -z of the base"""
    home: FloatArray
    """`(7,)` pose of the platform where all joint coordinates are zero"""
    reach: float
    """[m] upper bound of the distance between a leg's tip and its base joint"""
    base_plate: Cylinder
    """base plate on the floor"""
    base_shapes: tuple[Shape, ...]
    """all other shapes fixed to the base"""
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
    """ball that rolls on a plate on the platform; it is no part of the tree"""

    @property
    def floats(self) -> bool:
        """Whether the platform is a free body; otherwise joints carry it."""
        return self.body(PLATFORM_NAME).free

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of all joints: leg by leg, then those of bodies that the platform carries."""
        legs = tuple(name for leg in self.leg_joints for name in leg)
        body_joints = (joint.name for body in self.bodies for joint in body.joints)
        return legs + tuple(name for name in body_joints if name not in legs)

    @property
    def carried(self) -> tuple[str, ...]:
        """Joints of bodies that the platform carries; they come last in `joint_names`."""
        return self.joint_names[sum(map(len, self.leg_joints)) :]

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """All joints in the order of `joint_names`."""
        joint_by_name = {joint.name: joint for body in self.bodies for joint in body.joints}
        return tuple(joint_by_name[name] for name in self.joint_names)

    @cached_property
    def home_frames(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Origin `(3,)` [m] and rotation to base `(3, 3)` of every body at home, by name."""
        frames = {BASE_NAME: (np.zeros(3), np.eye(3))}
        for body in self.bodies:
            origin, parent_rotation = frames[body.parent]
            body_rotation = np.eye(3) if body.rotation is None else body.rotation
            frames[body.name] = (
                origin + parent_rotation @ body.position,
                parent_rotation @ body_rotation,
            )
        return frames

    def home_position(self, point: Point) -> FloatArray:
        """Return the position `(3,)` [m] of a point in the base at home."""
        origin, body_rotation = self.home_frames[point.body]
        return origin + body_rotation @ point.position

    @cached_property
    def colors(self) -> frozenset[str]:
        """Colours of all shapes."""
        body_shapes = (shape for body in self.bodies for shape in body.shapes)
        shapes: Iterator[Shape] = chain((self.base_plate,), self.base_shapes, body_shapes)
        return frozenset(shape.color for shape in shapes)

    def viscosity(self, joint: str) -> float:
        """Return the viscous resistance [N s/m] or [N m s/rad] of a joint, its damper included."""
        joint_spring = self.joints[self.joint_names.index(joint)].spring
        viscous_friction = sum(
            friction.viscous for friction in self.frictions if joint in friction.joints
        )
        return (joint_spring.damping if joint_spring else 0.0) + viscous_friction

    def body(self, name: str) -> Body:
        """Return a body by its name."""
        return next(body for body in self.bodies if body.name == name)

    def moved_by(self, joint: str) -> str:
        """Return the name of the body that a joint moves."""
        return next(
            b.name for b in self.bodies if joint in [body_joint.name for body_joint in b.joints]
        )

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
        """`(m, n)` joints that add up to the n actuator coordinates, each times its gain."""
        joints = [
            (*actuator.measured, *([actuator.twist.joint] if actuator.twist else []))
            for actuator in self.actuators
        ]
        return np.array([self.indices(names) for names in joints]).T

    @cached_property
    def measured_gains(self) -> FloatArray:
        """`(m, n)` gains of the joints `measured`."""
        gains = [
            [*(1.0 for _ in actuator.measured), *([actuator.twist.gain] if actuator.twist else [])]
            for actuator in self.actuators
        ]
        return np.array(gains).T

    @cached_property
    def force_map(self) -> FloatArray:
        """`(n, joints)` forces at the joints per force of each actuator."""
        joint_forces = np.zeros((len(self.actuators), len(self.joint_names)))
        for i, actuator in enumerate(self.actuators):
            joint_forces[i, self.joint_names.index(actuator.joint)] = 1.0
            if actuator.twist is not None:
                joint_forces[i, self.joint_names.index(actuator.twist.joint)] = actuator.twist.gain
        return joint_forces

    def carriers(self) -> tuple[str, ...]:
        """Return the joints between base and platform; none if the platform is free."""
        names: tuple[str, ...] = ()
        body = self.body(PLATFORM_NAME)
        while True:
            names = tuple(joint.name for joint in body.joints) + names
            if body.parent == BASE_NAME:
                return names
            body = self.body(body.parent)

    def root(self, body: Body) -> str:
        """Return the body on the base from which a body's joints start: itself, or one below."""
        while body.parent != BASE_NAME:
            body = self.body(body.parent)
        return body.name

    def moves_platform(self, body: Body) -> bool:
        """Return whether a body is in the same tree as the platform."""
        return self.root(body) == self.root(self.body(PLATFORM_NAME))


def machine_mass(parameters: MachineParameters) -> float:
    """Return the mass [kg] of platform and legs."""
    legs = sum(leg.mass for leg in parameters.legs)
    return float(parameters.platform.body.mass + legs)


def least_mass(parameters: MachineParameters) -> float:
    """Return the smallest mass [kg] that an engine gives to a moving part of a leg."""
    return MIN_MASS_FRACTION * machine_mass(parameters)


def with_least_masses(bodies: Sequence[Body], parameters: MachineParameters) -> list[Body]:
    """Return the bodies of platform and legs with masses raised to `least_mass` where needed.

    A body that carries a heavier one on its joints moves that mass and stays as it is.
    """
    floor_mass = least_mass(parameters)
    moment = floor_mass * (GYRATION_FRACTION * max(leg.reach for leg in parameters.legs)) ** 2
    light = light_bodies(bodies, floor_mass)
    return [
        body._replace(mass=Mass(floor_mass, body.mass.center, moment * np.eye(3)))
        if body.name in light
        else body
        for body in bodies
    ]


def light_bodies(bodies: Sequence[Body], mass_limit: float) -> tuple[str, ...]:
    """Return the names of bodies on joints that move less than `mass_limit` [kg].

    A body moves its own mass and those of all bodies that it carries.
    """

    def moved_mass(body: Body) -> float:
        carried_masses = (moved_mass(child) for child in bodies if child.parent == body.name)
        return body.mass.mass + sum(carried_masses)

    return tuple(body.name for body in bodies if body.joints and moved_mass(body) < mass_limit)


def least_mass_note(machine: Mechanism, parameters: MachineParameters) -> str:
    """Return a note on leg parts whose mass was raised to `least_mass`; empty if none."""
    limit = least_mass(parameters)
    light_names = [body.name for body in machine.bodies if body.joints and body.mass.mass == limit]
    if not light_names:
        return ""
    return (
        f"{machine.name}: in MuJoCo and Bullet {listed(light_names)} have {limit:.2g} kg each, "
        f"{MIN_MASS_FRACTION:g} of the machine's mass, because an engine divides by the mass of "
        "every part that moves. The file gives them less; the analytic engine takes them as they "
        "are."
    )


def check_masses(machine: Mechanism, parameters: MachineParameters, engine: str) -> None:
    """Refuse a platform that is too light for an engine, and warn of massless parts of legs.

    Raises:
        InputError: the platform's mass is below `MIN_MASS_FRACTION` of the machine's.
    """
    limit, mass = least_mass(parameters), parameters.platform.body.mass
    if mass < limit:
        raise InputError(
            "platform.body.mass",
            f"{mass:.3g} kg is {mass / machine_mass(parameters):.2g} of the mass of "
            f"{parameters.name}, {machine_mass(parameters):.3g} kg; the {engine} engine is exact "
            f"from {MIN_MASS_FRACTION:g} on. Give at least {limit:.2g} kg, lighter legs, or use "
            "the analytic engine",
        )
    note = least_mass_note(machine, parameters)
    if note:
        warnings.warn(note, TwinWarning, stacklevel=2)


class JointForces:
    """Passive joint forces: springs, dampers and friction, without actuators.

    Attributes:
        joints: `(k,)` places in `Mechanism.joint_names` of the joints that do something.
    """

    def __init__(self, machine: Mechanism, *, springs: bool = True, viscous: bool = True) -> None:
        """Collect the joints; leave out springs and dampers, or viscous friction, if need be."""
        spring_indices = [k for k, joint in enumerate(machine.joints) if springs and joint.spring]
        joint_pairs = [
            (machine.indices(friction.joints), friction)
            for friction in machine.frictions
            if viscous or friction.coulomb
        ]
        self.joints = np.unique(
            [*spring_indices, *(k for pair, _ in joint_pairs for k in pair)]
        ).astype(np.int64)
        joint_springs = [machine.joints[k].spring if springs else None for k in self.joints]
        no_spring = Spring(0.0, 0.0)
        self._stiffness, self._damping, self._zero = (
            np.array([spring or no_spring for spring in joint_springs], dtype=float)
            .reshape(-1, 3)
            .T
        )
        viscous_scale = 1.0 if viscous else 0.0
        self._frictions = [
            (
                np.searchsorted(self.joints, pair),
                friction._replace(viscous=viscous_scale * friction.viscous),
            )
            for pair, friction in joint_pairs
        ]

    def __call__(self, values: FloatArray, rates: FloatArray) -> FloatArray:
        """Return the forces `(k,)` [N] or [N m] at `joints`, from their values and rates."""
        forces = self._stiffness * (self._zero - values) - self._damping * rates
        for (x, y), friction in self._frictions:
            squared_speed = rates[x] ** 2 + rates[y] ** 2
            transition_speed = friction.transition_speed
            resistance = friction.viscous + friction.coulomb / sqrt(
                squared_speed + transition_speed**2
            )
            forces[x] -= resistance * rates[x]
            forces[y] -= resistance * rates[y]
        return np.asarray(forces)


class JointMotion(NamedTuple):
    """Coordinates of all joints, in the order of `Mechanism.joint_names`."""

    values: FloatArray
    """`(joints,)` [m] or [rad], zero at home"""
    rates: FloatArray
    """`(joints,)` [m/s] or [rad/s]"""
    accelerations: FloatArray
    """`(joints,)` [m/s2] or [rad/s2]"""


def joint_motion(
    machine: Mechanism, legs: LegCoordinates, carried: FloatArray | None = None
) -> JointMotion:
    """Return the motion of all joints.

    `carried` `(2c,)` are the coordinates of the joints of bodies that the platform carries, then
    their rates; by default they rest on it.
    """
    carried_motion = np.zeros((3, len(machine.carried)))
    if carried is not None:
        carried_motion[:2] = carried.reshape(2, -1)
    parts = zip(legs, carried_motion, strict=True)
    return JointMotion(
        *(
            np.concatenate([leg_values.ravel(), carried_values])
            for leg_values, carried_values in parts
        )
    )


def joint_tethers(
    machine: Mechanism, legs: Sequence[Leg]
) -> tuple[tuple[Point, ...], tuple[Tether, ...]]:
    """Return points and tethers for the `maximum_angle` of base, elbow and platform joints.

    One point lies in the direction of the leg or rod, the other in the neutral direction, on the
    body that carries the joint. Both are at a distance r from the joint, so that they are
    2 r sin(angle / 2) apart.
    """
    points: list[Point] = []
    tethers: list[Tether] = []
    for leg_number, leg in enumerate(legs, start=1):
        for field in ("base_joint", "elbow_joint", "platform_joint"):
            limit = getattr(leg, field, None)
            if limit is not None:
                leg_start = "elbow" if leg.has_crank else "base_joint"
                ends, tether = _tether(machine, leg_number, leg_start, field, limit)
                points += ends
                tethers.append(tether)
    return tuple(points), tuple(tethers)


def _tether(
    machine: Mechanism, number: int, start: str, field: str, limit: JointLimit
) -> tuple[list[Point], Tether]:
    """Return the points and the tether of one joint; the leg or rod begins at point `start`."""
    leg = f"leg_{number}"
    first_point, tip = machine.point(f"{leg}_{start}"), machine.point(f"{leg}_tip")
    leg_vector = machine.home_position(tip) - machine.home_position(first_point)
    if field == "platform_joint":
        joint, carrier, body, leg_direction = tip, PLATFORM_NAME, tip.body, -leg_vector
    else:
        joint, carrier, body, leg_direction = (
            first_point,
            first_point.body,
            machine.moved_by(f"{leg}_first"),
            leg_vector,
        )
    neutral = leg_direction
    if limit.neutral is not None:
        neutral = machine.home_frames[carrier][1] @ np.array(limit.neutral)
    tether_arm = ARM_FRACTION * float(np.linalg.norm(leg_vector))
    points = []
    for end_name, owner, direction in (
        ("direction", body, leg_direction),
        ("neutral", carrier, neutral),
    ):
        origin, owner_rotation = machine.home_frames[owner]
        end_position = machine.home_position(joint) + tether_arm * unit(direction)
        points.append(
            Point(f"{leg}_{field}_{end_name}", owner, owner_rotation.T @ (end_position - origin))
        )
    tether_length = 2.0 * tether_arm * math.sin(0.5 * limit.maximum_angle)
    return points, Tether(f"{leg}_{field}_limit", points[0].name, points[1].name, tether_length)


def make_mechanism(
    parameters: MachineParameters, payload: Sequence[Segment] = (), ball: Ball | None = None
) -> Mechanism:
    """Return the mechanism of a machine, with a payload and a ball on its platform if given."""
    kind = LEG_KINDS[parameters.leg.kind]
    machine_sizes = machine_drawing(parameters)
    legs_with_geometry = list(zip(parameters.legs, parameters.home_leg_geometry, strict=True))
    legs = [
        kind.make_leg(leg, leg_geometry, machine_sizes) for leg, leg_geometry in legs_with_geometry
    ]
    body = parameters.platform.body
    platform = Body(
        PLATFORM_NAME,
        BASE_NAME,
        np.array(parameters.home.position),
        parameters.home_rotation,
        mass=Mass(body.mass, body.center_of_mass_vector, body.inertia_tensor),
        shapes=_platform_shapes(machine_sizes),
        free=True,
    )
    if kind.carry is not None:
        for leg, leg_geometry in legs_with_geometry:
            platform = kind.carry(leg, leg_geometry, platform)
    machine_bodies = [platform, *(body for leg in legs for body in leg.bodies)]
    bodies = [*with_least_masses(machine_bodies, parameters), *map(_body, payload)]
    machine = Mechanism(
        name=parameters.name,
        gravity=parameters.gravity,
        home=np.array([*parameters.home.position, *parameters.home.orientation]),
        reach=max(leg.reach for leg in parameters.legs),
        base_plate=_base_plate(machine_sizes),
        base_shapes=tuple(shape for leg in legs for shape in leg.base_shapes),
        bodies=_parents_first(bodies),
        points=(
            *_platform_points(parameters.platform.joints.points),
            *chain.from_iterable(
                (
                    Point(f"leg_{leg_geometry.number}_base_joint", BASE_NAME, leg_geometry.base),
                    *leg.points,
                )
                for leg, (_, leg_geometry) in zip(legs, legs_with_geometry, strict=True)
            ),
        ),
        loops=tuple(loop for leg in legs for loop in leg.loops),
        actuators=tuple(leg.actuator for leg in legs),
        leg_joints=tuple(leg.joints for leg in legs),
        deflection=tuple(name for leg in legs for name in leg.deflection),
        frictions=tuple(friction for leg in legs for friction in leg.frictions),
        ball=ball,
    )
    points, tethers = joint_tethers(machine, parameters.legs)
    return replace(machine, points=(*machine.points, *points), tethers=tethers)


def machine_drawing(parameters: MachineParameters) -> Drawing:
    """Return the dimensions of a machine as drawn."""
    base, platform = parameters.base, parameters.platform
    ends = LEG_KINDS[parameters.leg.kind].ends(parameters.leg)
    return drawing(base.joints.points, platform.joints.points, platform.thickness, ends)


def _parents_first(bodies: list[Body]) -> tuple[Body, ...]:
    """Return the bodies reordered so that every parent comes before its children."""
    ordered_bodies: list[Body] = []
    placed_names = {BASE_NAME}
    while bodies:
        next_body = next(body for body in bodies if body.parent in placed_names)
        bodies.remove(next_body)
        ordered_bodies.append(next_body)
        placed_names.add(next_body.name)
    return tuple(ordered_bodies)


def _platform_points(joints: FloatArray) -> tuple[Point, ...]:
    middle_points = (Point(name, PLATFORM_NAME, np.zeros(3)) for name in ("reference", "imu"))
    corners = (
        Point(f"leg_{joint_number}_platform_joint", PLATFORM_NAME, joint)
        for joint_number, joint in enumerate(joints, start=1)
    )
    return (*middle_points, *corners)


def _base_plate(drawing: Drawing) -> Cylinder:
    bottom, top = np.array([0.0, 0.0, drawing.floor]), np.array([0.0, 0.0, drawing.base_top])
    return Cylinder("base_plate", "base", drawing.base_radius, bottom, top)


def _platform_shapes(drawing: Drawing) -> tuple[Shape, ...]:
    bottom, top = drawing.platform_bottom, drawing.platform_bottom + drawing.platform_thickness
    inner_radius, width = 0.4 * drawing.platform_radius, 0.04 * drawing.platform_radius
    plate = Plate(
        "platform_plate", "platform", drawing.platform_outline, drawing.platform_radius, bottom, top
    )
    size = np.array([inner_radius, 2.0 * width, 0.004])
    return plate, Box("platform_heading", "heading", np.array([inner_radius, 0.0, top]), size)
