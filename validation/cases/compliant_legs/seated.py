"""A seated person and a wheelchair as point masses, from published segment data typed anew.

Every body is six point masses on its principal axes that have its second moments, so that the sum
over all points needs neither tensors nor the parallel-axis theorem. Nothing of `twin.machine` takes
part. The posture's angles, the seat and the chair's box are adopted, as there.
"""

from __future__ import annotations

from math import cos, radians, sin
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.validation.published.people import SEGMENTS

UP, LEFT = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])

CHAIR_MASS, CHAIR_SEAT, CHAIR_BEHIND = 17.0, 0.49, 0.05
"""[kg], [m], [m]: 36 lb and 19 in of Medicare's class K0001 rounded up; place adopted."""
CHAIR_SIZE = np.array([1.05, 0.62, 0.90])
"""[m] to the front, to the side, up; adopted."""

SEAT, HEEL = 0.45, 0.25
"""[m] height of a seat without a chair; ankle from the heel, share of the foot; adopted."""


class PointSum(NamedTuple):
    """Mass properties of a sum of point masses."""

    mass: float
    """[kg]"""
    center: FloatArray
    """`(3,)` [m]"""
    inertia: FloatArray
    """`(3, 3)` [kg m2] about the centre"""


def leaning(degrees: float) -> FloatArray:
    """Return the direction `(3,)` straight down, turned forwards by an angle."""
    return np.array([sin(radians(degrees)), 0.0, -cos(radians(degrees))])


def seated_sum(sex: str, stature: float, mass: float, in_chair: bool = False) -> PointSum:
    """Return the sum over a seated person [m], [kg], x from the hips, in a wheelchair or not."""
    points, masses = _person(SEGMENTS["shares"], SEGMENTS[sex], stature, mass, in_chair)
    if in_chair:
        middle = np.array([-CHAIR_BEHIND, 0.0, CHAIR_SIZE[2] / 2.0])
        _add(points, masses, CHAIR_MASS, middle, np.eye(3), CHAIR_SIZE**2 / 12.0)
    place, weight = np.concatenate(points), np.array(masses)
    center = weight @ place / weight.sum()
    away = place - center
    inertia = np.einsum("k,kij->ij", weight, (away**2).sum(1)[:, None, None] * np.eye(3))
    inertia -= np.einsum("k,ki,kj->ij", weight, away, away)
    return PointSum(float(weight.sum()), center, inertia)


def _person(
    shares: dict[str, float], own: dict[str, Any], stature: float, mass: float, in_chair: bool
) -> tuple[list[FloatArray], list[float]]:
    scale = stature / own["stature"]
    parts = {key: value for key, value in own.items() if isinstance(value, list)}
    trunk = ("lower_trunk", "middle_trunk", "upper_trunk", "head")
    percent = sum(part[0] * (1 if name in trunk else 2) for name, part in parts.items())
    length = {name: scale * part[1] for name, part in parts.items()}
    points: list[FloatArray] = []
    masses: list[float] = []

    def add(name: str, first: FloatArray, along: FloatArray) -> FloatArray:
        """Add a segment from its first end; return its second."""
        share, _, center, *radii = parts[name]
        axes = np.column_stack([np.cross(LEFT, along), LEFT, along])
        squares = (np.array(radii) / 100.0 * length[name]) ** 2
        spread = squares.sum() / 2.0 - squares
        middle = first + center / 100.0 * length[name] * along
        _add(points, masses, mass * share / percent, middle, axes, spread)
        return np.asarray(first + length[name] * along)

    seat = CHAIR_SEAT if in_chair else SEAT
    upright = sum(length[name] for name in trunk)
    hips = (seat + shares["sitting_height"] * stature - upright) * UP
    down, end = leaning(10.0), hips
    for name in trunk[:3]:
        end = end - length[name] * down
        add(name, end, down)
    add("head", end - length["head"] * leaning(0.0), leaning(0.0))
    for side in (LEFT, -LEFT):
        shoulder = hips + shares["shoulders"] / 2.0 * stature * side
        shoulder = shoulder - scale * own["shoulders_above_hips"] * down
        elbow = add("upper_arm", shoulder, leaning(20.0))
        wrist = add("forearm", elbow, leaning(85.0))
        add("hand", wrist, leaning(85.0))
        knee = add("thigh", hips + shares["hips"] / 2.0 * stature * side, leaning(90.0))
        ankle = add("shank", knee, leaning(15.0))
        toe = np.array([1.0, 0.0, 0.0])
        heel = ankle - HEEL * length["foot"] * toe - shares["ankle"] * stature / 2.0 * UP
        add("foot", heel, toe)
    return points, masses


def _add(
    points: list[FloatArray],
    masses: list[float],
    mass: float,
    middle: FloatArray,
    axes: FloatArray,
    spread: FloatArray,
) -> None:
    """Add six points with the second moments `mass * spread` `(3,)` [kg m2] along the axes."""
    arms = axes * np.sqrt(3.0 * spread)
    points.append(np.concatenate([middle + arms.T, middle - arms.T]))
    masses.extend([mass / 6.0] * 6)
