"""Candidates of a design: the machines of vectors of free numbers, many at once.

Joints lie in three pairs on two circles, as `twin new` lays them out, or anywhere with a rotational
symmetry. Cranks are level at home, and their motors are mirrored in pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.design.specification import ALLOWED_BOUNDS, JOINT_NUMBERS, Specification, by_ending
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
    footprint: FloatArray
    """`(m,)` diameter [m] of the circle in which joints, and elbows of cranks at any angle, are"""
    mass: FloatArray
    """`(m,)` of plate and payload [kg]"""
    center: FloatArray
    """`(m,)` height of their centre above the platform joints [m]"""
    inertia: FloatArray
    """`(m, 3)` their moments about that centre [kg m2]"""


def free_bounds(specification: Specification) -> FloatArray:
    """Return the ends `(d, 2)` of the free numbers [m, rad]; the layout of cranks comes last."""
    limits = specification.limits
    travel = float(np.abs(specification.tasks().offsets[:, :3]).max())
    reach = SIZE_PER_TRAVEL * max(travel, limits.clearance or 0.0) or SIZE_WITHOUT_TRAVEL
    reach = max(reach, SIZE_PER_HEIGHT * abs(specification.payload.height))
    longest = 0.5 * limits.footprint if limits.footprint else reach
    tallest = limits.height or reach
    turn = np.pi / (specification.symmetry or 1)
    ends = {
        "radius": (SMALLEST_PER_LARGEST * longest, longest),
        "_height": (-HEIGHT_PER_RADIUS * longest, HEIGHT_PER_RADIUS * longest),
        "height": (SMALLEST_PER_LARGEST * tallest, tallest),
        "spacing": (ANGLE_RESERVE, 2.0 * np.pi / 3.0 - ANGLE_RESERVE),
        "horn_angle": ALLOWED_BOUNDS["horn_angle"],
        "angle": (-turn, turn),
        "": (SMALLEST_PER_LARGEST * reach, reach),
    }
    names, bounds = specification.free_numbers, specification.bounds
    rows = [bounds.get(name, by_ending(name, ends)) for name in names]
    return np.array(rows if specification.legs == "ups" else [*rows, (0.0, 1.0)])


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
    radii = [np.linalg.norm(joints[..., :2], axis=-1).max(axis=1) for joints in (base, platform)]
    crank_length = 0.0 if specification.legs == "ups" else rows[:, 0, rss.CRANK_LENGTH]
    footprint = 2.0 * np.maximum(radii[0] + crank_length, radii[1])
    return Candidates(rows, height, arm, footprint, *load_of(specification, radii[1]))


def joint_points(specification: Specification, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the joints `(m, n, 3)` [m] of base and platform, leg by leg."""
    named = specification.named(values.T)
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
    """Return mass, height of the centre and moments of inertia of plates with the payload.

    Heights are above the platform joints, moments `(m, 3)` are about the common centre. Plates are
    those that `twin new` estimates for a `radius` of their joints `(m,)` [m].
    """
    plate, payload = estimates.plate(radius, None), specification.payload
    moments = plate.tensor.T
    mass = plate.mass + payload.mass
    center = (plate.mass * plate.center + payload.mass * payload.height) / mass
    shift = plate.mass * (plate.center - center) ** 2
    shift += payload.mass * (payload.height - center) ** 2
    moments += payload.mass * payload.radius**2
    moments[:, :2] += shift[:, None]
    return mass, center, moments


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
    rows[:, :, rss.ZERO_DIRECTION : rss.ZERO_DIRECTION + 3] = level
    rows[:, :, rss.CRANK_LENGTH] = crank[:, None]
    rows[:, :, rss.ROD_LENGTH] = rod[:, None]
    # The platform is above the base: of both angles of the equation, zero is the smaller one.
    rows[:, :, rss.ELBOW_BRANCH] = -1.0
    return rows, height
