"""A mechanism as a tree of bodies and joints, from which the engines' models are made."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.machine.hardware import drive

BASE_NAME = "base"
"""Name of the body that does not move: its frame is the base frame."""

PLATFORM_NAME = "platform"
"""Name of the body whose frame is the platform frame."""


class Cylinder(NamedTuple):
    """A solid cylinder between two points [m]."""

    name: str
    color: str
    """one of `PART_COLORS`"""
    radius: float
    start: FloatArray
    end: FloatArray


class Sphere(NamedTuple):
    """A sphere of a radius [m]."""

    name: str
    color: str
    radius: float
    center: FloatArray


class Box(NamedTuple):
    """A box along the axes of its body; `size` are its edges [m]."""

    name: str
    color: str
    center: FloatArray
    size: FloatArray


class Plate(NamedTuple):
    """A flat plate across the z axis between two heights [m]."""

    name: str
    color: str
    outline: FloatArray
    """`(m, 2)` corners [m], x and y"""
    radius: float
    """radius of the round plate that formats without outlines draw"""
    bottom: float
    top: float


Shape = Cylinder | Sphere | Box | Plate


Color = tuple[float, float, float, float]

PART_COLORS: dict[str, Color] = {
    "base": (0.50, 0.53, 0.57, 1.0),
    "housing": (0.16, 0.34, 0.55, 1.0),
    "rod": (0.80, 0.82, 0.85, 1.0),
    "joint": (0.16, 0.17, 0.19, 1.0),
    "platform": (0.93, 0.94, 0.95, 1.0),
    "heading": (0.93, 0.42, 0.13, 1.0),
    "spring": (0.85, 0.65, 0.20, 1.0),
    "occupant": (0.55, 0.63, 0.58, 1.0),
    "ball": (0.80, 0.16, 0.13, 1.0),
    "ball_plate": (0.93, 0.94, 0.95, 0.45),
}
"""Red, green, blue, opacity of each kind of part; `heading` marks the platform's x axis."""


class Ends(NamedTuple):
    """Dimensions [m] of the parts drawn at the ends of a machine's legs."""

    base_radius: float
    """radius of the balls at the base joints"""
    platform_radius: float
    """radius of the balls at the platform joints"""
    margin: float
    """distance from the platform joints out to the edge of the plate"""
    rise: float
    """height from the platform joints up to the plate"""


class Drawing(NamedTuple):
    """Dimensions [m] of the parts that all legs share, as drawn."""

    base_joint_radius: float
    """radius of the balls drawn at the base joints"""
    platform_joint_radius: float
    base_radius: float
    """radius of the round base plate about the base frame's z axis"""
    base_top: float
    """height of the base plate's upper face in the base frame"""
    base_thickness: float
    platform_radius: float
    """radius of a round platform plate about the platform frame's z axis"""
    platform_outline: FloatArray
    """`(m, 2)` corners of a platform plate in the platform frame, one per joint where possible"""
    platform_bottom: float
    """height of the platform plate's lower face in the platform frame"""
    platform_thickness: float

    @property
    def floor(self) -> float:
        """Height [m] of the floor in the base frame: the base plate stands on it."""
        return self.base_top - self.base_thickness


def ball_ends(base: float, platform: float) -> Ends:
    """Return ends with balls of these radii [m], the plate standing on those of the platform."""
    return Ends(base, platform, margin=1.8 * platform, rise=0.8 * platform)


def drawing(base: FloatArray, top: FloatArray, thickness: float, ends: Ends) -> Drawing:
    """Return the dimensions of a machine as drawn.

    Args:
        base: `(n, 3)` base joints [m], base frame.
        top: `(n, 3)` platform joints [m], platform frame.
        thickness: of the platform's plate [m].
        ends: of the legs.
    """
    base_ball, platform_radius = ends.base_radius, ends.margin
    platform_radius += float(np.linalg.norm(top[:, :2], axis=1).max())
    return Drawing(
        base_joint_radius=base_ball,
        platform_joint_radius=ends.platform_radius,
        base_radius=float(np.linalg.norm(base[:, :2], axis=1).max()) + 2.0 * base_ball,
        base_top=float(base[:, 2].min()) - 1.3 * base_ball,
        base_thickness=1.5 * thickness,
        platform_radius=platform_radius,
        platform_outline=_outline(top[:, :2], platform_radius, ends.margin),
        platform_bottom=float(top[:, 2].max()) + ends.rise,
        platform_thickness=thickness,
    )


def unit_circle(count: int) -> FloatArray:
    """Return points `(count, 2)` at even steps on a circle of radius 1."""
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _outline(points: FloatArray, radius: float, margin: float) -> FloatArray:
    """Return the joints' x and y moved outwards by a margin [m]; a circle if they are collinear."""
    principal_sizes = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if principal_sizes[1] < 1e-2 * radius:
        return read_only(radius * unit_circle(24))
    distances = np.maximum(np.linalg.norm(points, axis=1), max(margin, 1e-2 * radius))
    return read_only(points * (1.0 + margin / distances)[:, None])


class Limits(NamedTuple):
    """Range of a joint coordinate [m] or [rad], largest speed and force; None where unknown."""

    minimum: float
    maximum: float
    speed: float | None
    force: float | None


class Spring(NamedTuple):
    """Spring and damper of a joint: force = stiffness * (zero - coordinate) - damping * rate."""

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
    """axis of the joint `(3,)`, in the body's frame"""
    link: str = ""
    """name of the massless link that the joint moves, for formats with one joint per link; the last
    joint of a body moves the body itself
    """
    limits: Limits | None = None
    spring: Spring | None = None


class Mass(NamedTuple):
    """Mass properties of a body, in its frame."""

    mass: float
    """mass [kg]"""
    center: FloatArray
    """centre of mass `(3,)` [m] in the body's frame"""
    tensor: FloatArray
    """inertia `(3, 3)` [kg m2] about the centre of mass"""


ZERO_MASS = Mass(0.0, np.zeros(3), np.zeros((3, 3)))


class Body(NamedTuple):
    """A rigid body, with its position and rotation in its parent at home."""

    name: str
    parent: str
    position: FloatArray
    """position `(3,)` [m] of its origin"""
    rotation: FloatArray | None = None
    """`(3, 3)` body to parent; None for parallel frames"""
    joints: tuple[Joint, ...] = ()
    """joints that connect the body, from its parent on; none if it is fixed to its parent, or free
    """
    mass: Mass = ZERO_MASS
    shapes: tuple[Shape, ...] = ()
    free: bool = False
    """free in all six directions; its parent is the base"""
    extra_weight: float = 0.0
    """mass [kg] that has a weight at the centre of mass, but no inertia"""


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
    """largest distance [m] of the two points"""


class ScrewHinge(NamedTuple):
    """A hinge whose turn moves a nut: it adds to an actuator's coordinate and takes its force."""

    joint: str
    """name of the hinge"""
    gain: float
    """change of the actuator's coordinate per turn [m/rad], and moment per actuator force [m]"""


class Actuator(NamedTuple):
    """An actuator on a joint."""

    name: str
    joint: str
    """joint on which its force acts"""
    measured: tuple[str, ...]
    """joints whose coordinates add up to the actuator coordinate, counted from home"""
    twist: ScrewHinge | None = None
    """hinge that turns the actuator's screw"""


class Friction(NamedTuple):
    """Friction against sliding in the plane of two joints.

    The force on the sliding body is -(viscous + coulomb / sqrt(|v|^2 + transition_speed^2)) v.
    """

    joints: tuple[str, str]
    viscous: float
    """viscous coefficient [N s/m]"""
    coulomb: float
    """Coulomb friction force [N]"""
    transition_speed: float
    """speed [m/s] below which Coulomb friction is smoothed"""


X_AXIS = np.eye(3)[0]
"""Unit vector along x."""

Z_AXIS = np.eye(3)[2]
"""Unit vector along z."""

ORIGIN = np.zeros(3)
"""Origin of a frame."""


class LegMechanism(NamedTuple):
    """Bodies and joints of one leg between base and platform."""

    joints: tuple[str, ...]
    """names of the joints, in the order of the platform's leg coordinates"""
    bodies: tuple[Body, ...]
    actuator: Actuator
    points: tuple[Point, ...]
    """points on it, beside its base joint and its joint on the platform"""
    loops: tuple[Loop, ...]
    deflection: tuple[str, ...] = ()
    frictions: tuple[Friction, ...] = ()
    base_shapes: tuple[Shape, ...] = ()


def limits(actuator: drive.Actuator, home: float) -> Limits:
    """Return range, speed and force of an actuator, its coordinate counted from home."""
    limit_range = (actuator.minimum - home, actuator.maximum - home)
    return Limits(*limit_range, actuator.speed, actuator.effort)


def point_mass(mass: float, center: FloatArray = ORIGIN) -> Mass:
    """Return the mass properties of a point mass [kg] at its `center` [m]."""
    return Mass(mass, center, np.zeros((3, 3)))


def two_hinge_frame(first_axis: FloatArray, direction: FloatArray) -> FloatArray:
    """Return the frame `(3, 3)` of a body along `direction` on two hinges: columns s2, Z x s2, Z.

    The first hinge turns about `first_axis`, the second about s2, perpendicular to it and to the
    body.
    """
    third_axis = direction / np.linalg.norm(direction)
    second_axis = np.cross(first_axis, third_axis)
    second_axis /= np.linalg.norm(second_axis)
    return np.column_stack([second_axis, np.cross(third_axis, second_axis), third_axis])


def bracket(number: int, foot: FloatArray, drawing: Drawing) -> Cylinder:
    """Return the post from the base plate up to the base joint `foot` `(3,)` of a leg."""
    top_of_plate = np.array([foot[0], foot[1], drawing.base_top])
    return Cylinder(
        f"base_bracket_{number}", "joint", 0.8 * drawing.base_joint_radius, top_of_plate, foot
    )


def tube_shapes(name: str, radius: float, length: float) -> tuple[Shape, ...]:
    """Return the tube of a leg's housing from the body's origin along z, and its collar."""
    end = length * Z_AXIS
    return (
        Cylinder(f"{name}_tube", "housing", radius, ORIGIN, end),
        Cylinder(f"{name}_collar", "joint", 1.12 * radius, 0.94 * end, 1.005 * end),
    )


def rod_shapes(name: str, radius: float, length: float, drawing: Drawing) -> tuple[Shape, ...]:
    """Return the rod of a leg, down from its tip at the body's origin, and the ball there."""
    return (
        Cylinder(f"{name}_shaft", "rod", radius, -length * Z_AXIS, ORIGIN),
        Sphere(f"{name}_platform_ball", "joint", drawing.platform_joint_radius, ORIGIN),
    )
