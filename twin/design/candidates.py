"""Candidates of a design: the machines of vectors of free numbers, many at once.

Joints lie in three pairs on two circles, as `twin new` lays them out, or anywhere with a rotational
symmetry. Cranks are level at home, and their motors are mirrored in pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.design.specification import ANGLE_BOUNDS, JOINT_NUMBERS, Specification
from twin.kernels.legs import rss
from twin.kernels.legs.interface import AXIS, BASE_JOINT, PLATFORM_JOINT
from twin.machine.file.data_sheet import estimates
from twin.machine.file.data_sheet.legs import MIRRORED_PAIRS

SIZE_PER_TRAVEL = 20.0
"""Upper bound of lengths over the longest travel, or clearance of the legs, that is demanded."""

SIZE_PER_HEIGHT = 4.0
"""Upper bound of lengths over the height of the payload, where this is larger."""

SIZE_WITHOUT_TRAVEL = 1.0
"""[m] The upper bound where only rotations are demanded."""

SMALLEST_PER_LARGEST = 0.01
"""Lower bound of all lengths, over their upper bound."""

ANGLE_RESERVE = np.pi / 180.0
"""[rad] Distance of the bounds of a spacing from coinciding joints."""

HEIGHT_PER_RADIUS = 0.5
"""Largest height of a joint over the first, over the largest radius."""


class Candidates(NamedTuple):
    """Machines as their evaluation needs them, m of them."""

    rows: FloatArray
    """`(m, n, k)` constants of the legs"""
    height: FloatArray
    """`(m,)` of the platform's frame above that of the base at home [m]; NaN where there is none"""
    arm: FloatArray
    """`(m,)` mean radius of the platform joints [m]"""
    mass: FloatArray
    """`(m,)` of plate and payload [kg]"""
    center: FloatArray
    """`(m,)` height of their centre above the platform joints [m]"""
    inertia: FloatArray
    """`(m, 3)` their moments about that centre [kg m2]"""


def free_bounds(specification: Specification) -> FloatArray:
    """Return lower and upper ends `(d, 2)` of the free numbers [m, rad]."""
    limits, payload = specification.limits, specification.payload
    travel = float(np.abs(specification.tasks().offsets[:, :3]).max())
    reach = SIZE_PER_TRAVEL * max(travel, limits.clearance or 0.0) or SIZE_WITHOUT_TRAVEL
    if payload is not None:
        reach = max(reach, SIZE_PER_HEIGHT * abs(payload.height))
    longest = 0.5 * limits.footprint if limits.footprint else reach
    tallest = limits.height or reach
    bounds = []
    for name in specification.free_numbers:
        largest = longest if name.endswith("radius") else tallest if name == "height" else reach
        ends = (SMALLEST_PER_LARGEST * largest, largest)
        if name.endswith("_height"):
            ends = (-HEIGHT_PER_RADIUS * longest, HEIGHT_PER_RADIUS * longest)
        elif name.endswith("spacing"):
            ends = (ANGLE_RESERVE, 2.0 * np.pi / 3.0 - ANGLE_RESERVE)
        elif specification.symmetry and name.endswith("angle"):
            ends = (-np.pi / specification.symmetry, np.pi / specification.symmetry)
        elif name == "horn_angle":
            ends = ANGLE_BOUNDS[name]
        bounds.append(specification.bounds.get(name, ends))
    return np.array(bounds)


def has_layouts(specification: Specification) -> bool:
    """Return whether the mirrored pairs of cranks are a further, whole number of a candidate."""
    return specification.legs == "rss"


def candidates(specification: Specification, values: FloatArray) -> Candidates:
    """Return the machines of free numbers `(m, d)`.

    With cranks a further column is 0 or 1, the pairs whose motors are mirrored.
    """
    base, platform = joint_points(specification, values)
    if specification.legs == "ups":
        rows, height = np.zeros((*base.shape[:2], rss.RSS_GEOMETRY_SIZE)), values[:, -1].copy()
    else:
        rows, height = crank_rows(base, platform, values)
    rows[:, :, BASE_JOINT : BASE_JOINT + 3] = base
    rows[:, :, PLATFORM_JOINT : PLATFORM_JOINT + 3] = platform
    arm = np.linalg.norm(platform, axis=2).mean(axis=1)
    outermost = np.hypot(platform[..., 0], platform[..., 1]).max(axis=1)
    return Candidates(rows, height, arm, *load_of(specification, outermost))


def joint_points(specification: Specification, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the joints `(m, n, 3)` [m] of base and platform, leg by leg."""
    named = dict(zip(specification.free_numbers, values.T, strict=False))
    symmetry, zero = specification.symmetry or 3, np.zeros(len(values))
    sides = []
    for side, between in (("base", 0.0), ("platform", np.pi / 3.0)):
        if specification.symmetry is None:
            # The platform's pairs are between those of the base: these are the shortest legs.
            half = np.abs(0.5 * named[f"{side}_spacing"] - between)
            joints = [(named[f"{side}_radius"], sign * half, zero) for sign in (-1.0, 1.0)]
        else:
            joints = [
                tuple(named.get(f"{side}_{number}_{part}", zero) for part in JOINT_NUMBERS)
                for number in range(1, specification.count // symmetry + 1)
            ]
        # Of shape (m, repetition, joint)
        radius, angle, height = np.moveaxis(np.array(joints), 0, 2)[:, :, None]
        angle = angle + 2.0 * np.pi / symmetry * np.arange(symmetry)[:, None]
        points = np.stack(
            np.broadcast_arrays(radius * np.cos(angle), radius * np.sin(angle), height), axis=-1
        )
        sides.append(points.reshape(len(values), -1, 3))
    return sides[0], sides[1]


def load_of(
    specification: Specification, radius: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mass, height of the centre and moments of plates with the payload on them.

    Plates are those that `twin new` estimates for a radius of their joints `(m,)` [m].
    """
    thickness, outside = estimates.PLATE_THICKNESS_RATIO * radius, 1.1 * radius
    plate = estimates.PLATE_DENSITY * np.pi * outside**2 * thickness
    across = plate * (3.0 * outside**2 + thickness**2) / 12.0
    moments = np.stack([across, across, 0.5 * plate * outside**2], axis=1)
    payload = specification.payload
    if payload is None:
        return plate, 0.5 * thickness, moments
    mass = plate + payload.mass
    center = (0.5 * plate * thickness + payload.mass * payload.height) / mass
    distances = (
        plate * (0.5 * thickness - center) ** 2,
        payload.mass * (payload.height - center) ** 2,
    )
    shifted = (distances[0] + distances[1])[:, None] * np.array([1.0, 1.0, 0.0])
    return mass, center, moments + payload.mass * payload.radius**2 + shifted


def crank_rows(
    base: FloatArray, platform: FloatArray, values: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return rows with cranks `(m, 6, k)`, level at angle 0, and the heights of home `(m,)`.

    A crank at angle 0 points along the tangent of the base circle, turned outward by the horn
    angle; its axis is a right angle before it, so that a growing angle lifts it.
    """
    crank, rod, turn = values[:, 4], values[:, 5], values[:, 6]
    mirrored = np.array([[number in legs for number in range(1, 7)] for legs in MIRRORED_PAIRS])
    sides = np.where(mirrored[values[:, 7].round().astype(int)], -1.0, 1.0)
    angles = np.arctan2(base[..., 1], base[..., 0]) + sides * (0.5 * np.pi - turn[:, None])
    level = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=-1)
    axis = np.stack([level[..., 1], -level[..., 0], np.zeros_like(angles)], axis=-1)
    away = platform - base - crank[:, None, None] * level
    square = rod**2 - (away**2).sum(axis=-1)[:, 0]
    with np.errstate(invalid="ignore"):
        height = np.sqrt(np.where(square > 0.0, square, np.nan))
    rows = np.zeros((*base.shape[:2], rss.RSS_GEOMETRY_SIZE))
    rows[:, :, AXIS : AXIS + 3] = axis
    rows[:, :, rss.ZERO : rss.ZERO + 3] = level
    rows[:, :, rss.CRANK_LENGTH] = crank[:, None]
    rows[:, :, rss.ROD_LENGTH] = rod[:, None]
    # The platform is above the base: of both angles of the equation, zero is the smaller one.
    rows[:, :, rss.BRANCH] = -1.0
    return rows, height
