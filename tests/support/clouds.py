"""Machines as clouds of point masses: an independent model, from the file's numbers alone.

Every rigid body is six point masses that have its mass, centre and tensor; a slender rod is two.
Where they are follows from the pose by plain geometry. Their motion obeys Newton's law, and what
holds them together does no work, so that for every motion the machine can have

    sum over masses of m (dx / dq) . (x'' - g) = power of the actuators, springs and wrench.

All functions are analytic and take complex arguments with one leading axis.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Leg(NamedTuple):
    """One leg at some poses; m masses."""

    masses: Array
    """`(m,)`"""
    points: Array
    """`(k, m, 3)`"""
    actuator: Array
    """`(k,)` coordinate of the actuator"""
    spring: Array
    """`(k,)` coordinate of the spring; zero if it has none"""
    foot: Array
    """`(k, 3)` point that friction brakes"""


class Cloud(NamedTuple):
    """All masses of a machine at some poses."""

    masses: Array
    """`(m,)`"""
    points: Array
    """`(k, m, 3)`"""
    actuators: Array
    """`(k, n)`"""
    springs: Array
    """`(k, n)`"""
    feet: Array
    """`(k, n, 3)`"""


def cloud(machine, position, turn, deflection):
    """Return the masses at positions `(k, 3)`, rotations `(k, 3, 3)` and springs `(k, n)`."""
    masses, body = as_points(machine.platform.body)
    points = position[:, None] + body @ np.swapaxes(turn, 1, 2)
    tops = position[:, None] + machine.platform.joints.points @ np.swapaxes(turn, 1, 2)
    legs = [
        LEGS[machine.leg.kind](machine, i, tops[:, i], turn, deflection[:, i])
        for i in range(len(machine.legs))
    ]
    return Cloud(
        np.concatenate([masses, *(leg.masses for leg in legs)]),
        np.concatenate([points, *(leg.points for leg in legs)], axis=1),
        np.stack([leg.actuator for leg in legs], axis=1),
        np.stack([leg.spring for leg in legs], axis=1),
        np.stack([leg.foot for leg in legs], axis=1),
    )


def as_points(body):
    """Return six masses and their places `(6, 3)` with mass, centre and tensor of a rigid body."""
    tensor = np.asarray(body.inertia_tensor)
    spread, axes = np.linalg.eigh(0.5 * np.trace(tensor) * np.eye(3) - tensor)
    assert spread.min() > -1e-12 * spread.max(), "no body has this tensor"
    arms = np.sqrt(3.0 * np.maximum(spread, 0.0) / body.mass) * axes
    places = np.asarray(body.center_of_mass_vector) + np.concatenate([arms.T, -arms.T])
    return np.full(6, body.mass / 6.0), places


def length_of(vector):
    """Return lengths `(...)` of vectors `(..., 3)` as analytic functions of their entries."""
    return np.asarray(np.sqrt((vector * vector).sum(axis=-1)))


def unit(vector):
    """Return vectors `(..., 3)` scaled to length one."""
    return vector / length_of(vector)[..., None]


def leg_frames(machine, i, vector):
    """Return rotations `(k, 3, 3)` leg to base: columns s2, Z x s2, Z."""
    along = unit(vector)
    second = unit(np.cross(machine.first_axes[i], along))
    return np.stack([second, np.cross(along, second), along], axis=2)


def straight_leg(machine, i, tops, turn, deflection):
    """Return a leg of kind ups or strut: housing at the base joint, rod at the tip."""
    leg = machine.legs[i]
    base = machine.base.joints.points[i]
    frames = leg_frames(machine, i, tops - base)
    cosine, sine = np.cos(leg.frame_angle), np.sin(leg.frame_angle)
    to_leg = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    if i + 1 in leg.mirrored:
        to_leg = to_leg @ np.diag([-1.0, 1.0, 1.0])
    parts = [as_points(leg.housing), as_points(leg.rod)]
    housing, rod = (places @ to_leg.T @ np.swapaxes(frames, 1, 2) for _, places in parts)
    points = np.concatenate([base + housing, tops[:, None] + rod], axis=1)
    length = length_of(tops - base)
    return Leg(np.concatenate([masses for masses, _ in parts]), points, length, length, tops)


def screw_leg(machine, i, tops, turn, deflection):
    """Return a leg of kind upu: its rod has the second axis of the joint on the platform."""
    leg = machine.legs[i]
    start = machine.home_rotation[None]
    home = np.array(machine.home.position) + start[0] @ machine.platform.joints.points[i]
    base = machine.base.joints.points[i]

    def second_axes(tops, turn):
        """Return the housing's frame, and the rod's."""
        housing = leg_frames(machine, i, tops - base)
        along = housing[:, :, 2]
        second = unit(np.cross(turn @ np.array(leg.platform_axis), along))
        return housing, np.stack([second, np.cross(along, second), along], axis=2)

    frames, rods = second_axes(tops, turn)
    at_home = second_axes(home[None], start)
    (cosine, sine), (home_cosine, home_sine) = (
        [(one[:, :, axis] * other[:, :, 0]).sum(axis=1) for axis in (0, 1)]
        for one, other in ((frames, rods), at_home)
    )
    twist = np.arctan(
        (sine * home_cosine - cosine * home_sine) / (cosine * home_cosine + sine * home_sine)
    )
    straight = straight_leg(machine, i, tops, turn, deflection)
    masses, places = as_points(leg.rod)
    points = straight.points.copy()
    points[:, -len(masses) :] = tops[:, None] + places @ np.swapaxes(rods, 1, 2)
    advance = {"right": 1.0, "left": -1.0}[leg.screw.hand] * leg.screw.lead / (2.0 * np.pi)
    return straight._replace(points=points, actuator=straight.actuator - advance * twist)


def viscoelastic_leg(machine, i, tops, turn, deflection):
    """Return a leg of three point masses on its axis; `deflection` is the spring's extension."""
    leg = machine.legs[i]
    base = machine.base.joints.points[i]
    along = unit(tops - base)
    middle = 0.5 * (leg.spring_length + deflection)
    housing = leg.spring_length + deflection + leg.housing_length
    points = [base + middle[:, None] * along, base + housing[:, None] * along]
    points.append(tops - leg.follower_length * along)
    masses = np.array([leg.spring_mass, leg.housing_mass, leg.follower_mass])
    actuator = length_of(tops - base) - deflection
    return Leg(masses, np.stack(points, axis=1), actuator, deflection, tops)


def crank_leg(machine, i, tops, turn, deflection):
    """Return a leg of crank and rod: the elbow is where circle and sphere meet."""
    leg = machine.legs[i]
    base, axis = machine.base.joints.points[i], machine.first_axes[i]
    zero = unit(np.array(leg.zero) - (np.array(leg.zero) @ axis) * axis)
    side = np.cross(axis, zero)
    along, across = (tops - base) @ zero, (tops - base) @ side
    square = along**2 + across**2
    wanted = (length_of(tops - base) ** 2 + leg.crank_length**2 - leg.rod_length**2) / (
        2 * leg.crank_length
    )
    rest = {"outward": 1.0, "inward": -1.0}[leg.branch] * np.sqrt(square - wanted**2)
    cosine, sine = (
        (along * wanted - across * rest) / square,
        (across * wanted + along * rest) / square,
    )
    direction = cosine[:, None] * zero + sine[:, None] * side
    elbow = base + leg.crank_length * direction
    frames = np.stack([np.broadcast_to(axis, elbow.shape), np.cross(direction, axis), direction], 2)
    masses, places = as_points(leg.crank)
    # Two masses at a distance of 1 / sqrt(12) of its length from the middle are a slender rod.
    shares = 0.5 + np.array([-1.0, 1.0]) / np.sqrt(12.0)
    rod = elbow[:, None] + shares[:, None] * (tops - elbow)[:, None]
    points = np.concatenate([base + places @ np.swapaxes(frames, 1, 2), rod], axis=1)
    angle = -1j * np.log(cosine + 1j * sine)
    masses = np.concatenate([masses, np.full(2, leg.rod_mass / 2.0)])
    return Leg(masses, points, angle, 0.0 * angle, elbow)


def pillar_leg(machine, i, tops, turn, deflection):
    """Return a pillar: a mass at the plate's corner, another where its axis meets the floor."""
    leg = machine.legs[i]
    normal = turn[:, :, 2]
    length = (tops[:, 2] - machine.base.joints.points[i, 2]) / normal[:, 2]
    foot = tops - length[:, None] * normal
    masses = np.array([leg.upper_mass, leg.foot_mass])
    return Leg(masses, np.stack([tops, foot], axis=1), length, 0.0 * length, foot)


LEGS = {
    "ups": straight_leg,
    "strut": straight_leg,
    "viscoelastic": viscoelastic_leg,
    "rss": crank_leg,
    "pillar": pillar_leg,
    "upu": screw_leg,
}
