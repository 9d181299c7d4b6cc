"""Margins of collisions: legs as capsules against each other, plates' edges, plates themselves.

A leg is two capsules, housing and rod or crank and rod. A plate is the ring of capsules between
neighbouring joints, half as thick as the plate where the file says so. A pair collides where its
axes are closer than its radii together. The plates collide where the polygons of their joints are
closer than they are thick. Rings that lie inside each other at home have no plates.

Legs whose joints are closer than the legs are thick meet in one joint: there they are left out over
twice their radii together, so that they collide below an angle of 29 degrees between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.feasibility.course import (
    Course,
    LegPoints,
    Quantity,
    amount,
    leg_points,
    legs_text,
    polygon_distance,
    reached,
)
from twin.basics.arrays import BoolArray, FloatArray, segment_distance
from twin.machine.legs.leg import COINCIDENCE_DISTANCE
from twin.model.machine_model import MachineModel

JOINT_LENGTH = 2.0
"""Part of a leg left out at a joint that two legs share, in radii of both together."""

MEETING_DISTANCE = 1e-6
"""Distance of the axes of two legs, relative to their mean length, below which they meet.
Adopted."""

CROSSING_DISTANCE = 0.05
"""Distance of the axes at a change of sides, relative to the travel of the step, that is a
crossing. Adopted."""

PATH_STEPS = 20
"""Steps on the way from home to a pose at rest. Adopted."""


class Capsules(NamedTuple):
    """Axes of capsules over a course and their radii."""

    start: FloatArray
    """`(k, m, 3)` [m]"""
    end: FloatArray
    """`(k, m, 3)` [m]"""
    radius: FloatArray
    """`(m,)` [m]"""

    def column(self, indices: Any) -> Capsules:
        """Return the capsules with these indices."""
        return Capsules(self.start[:, indices], self.end[:, indices], self.radius[indices])


def collision_quantities(
    platform: MachineModel, course: Course, points: LegPoints
) -> Iterator[Quantity]:
    """Yield the distances [m] of legs from each other and from both plates.

    Where the thickness of a leg is not given, its axes still must not meet those of other legs.
    Distances from the plates are for machines that give it for all legs.
    """
    sizes = [leg.sizes for leg in platform.parameters.legs]
    radii = np.array([(0.0, 0.0) if size is None else size[:2] for size in sizes])
    legs = [Capsules(points.base, points.middle, radii[:, 0])]
    legs.append(Capsules(points.middle, points.tip, radii[:, 1]))
    yield _between_legs(platform, course, legs)
    if platform.leg.has_foot or None in sizes:
        return  # pillars are fixed to their plate, and their feet slide on the floor
    thickness = _thickness(platform)
    tops = ("platform", points.tip, platform.platform_joints)
    for name, joints, layout in (tops, ("base", points.base, platform.base_joints)):
        order = ring(layout)
        plate = Capsules(joints[:, order], joints[:, np.roll(order, -1)], np.full(len(order), 0.5))
        plate.radius[:] *= thickness
        quantity = _from_plate(course, legs, plate, name)
        if quantity is not None:
            yield quantity


def plate_quantities(
    platform: MachineModel, course: Course, points: LegPoints
) -> Iterator[Quantity]:
    """Yield the distance [m] of the plates from each other; nothing where they have none."""
    if platform.leg.has_foot:
        return
    rings = [ring(joints) for joints in (platform.base_joints, platform.platform_joints)]

    def apart(found: LegPoints) -> FloatArray:
        return polygon_distance(found.base[:, rings[0]], found.tip[:, rings[1]])

    if not apart(leg_points(platform, platform.home[None]))[0] > 0.0:
        return
    distance = apart(points)[:, None]
    least = np.full_like(distance, _thickness(platform))
    share = np.where(distance > 0.0, least / np.maximum(distance, 1e-12), np.inf)

    def remedy(row: int, column: int) -> str:
        return (
            f"The plates come as close as {amount(distance[row, column], 'm')} "
            f"({course.place(row)}), joints to joints; with their thickness "
            f"{amount(least[row, column], 'm')} are needed: they collide. Move or tilt less, or "
            "take longer legs."
        )

    yield Quantity("plates to each other", "m", distance, least, share, [()], remedy, at_least=True)


def closest_legs(platform: MachineModel, pose: FloatArray) -> tuple[float, int, int]:
    """Return the smallest distance [m] between axes of two legs over poses `(k, 7)`, their numbers.

    Two legs that share a joint meet there by design and are left out; infinite where all do.
    """
    points = leg_points(platform, pose)
    first, second = np.triu_indices(platform.n_actuators, 1)
    ends = (points.base, points.middle, points.tip)
    distances = np.full((len(pose), len(first)), np.inf)
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        one = (ends[a][:, first], ends[a + 1][:, first])
        other = (ends[b][:, second], ends[b + 1][:, second])
        distances = np.minimum(distances, segment_distance(*one, *other))
    for joints in (platform.base_joints, platform.platform_joints):
        apart = np.linalg.norm(joints[first] - joints[second], axis=1)
        distances[:, apart < COINCIDENCE_DISTANCE] = np.inf
    column = int(distances.min(axis=0).argmin())
    return float(distances.min()), int(first[column]) + 1, int(second[column]) + 1


def _between_legs(platform: MachineModel, course: Course, legs: list[Capsules]) -> Quantity:
    first, second = np.triu_indices(platform.n_actuators, 1)
    joints = (platform.base_joints, platform.platform_joints)
    floor = MEETING_DISTANCE * _mean_length(legs[0].start, legs[1].end)
    parts = []
    for a in range(2):
        for b in range(2):
            one, other = legs[a].column(first), legs[b].column(second)
            least = one.radius + other.radius
            if a == b:
                apart = np.linalg.norm(joints[a][first] - joints[a][second], axis=1)
                cut = np.where(apart < least, JOINT_LENGTH * least, 0.0)
                one, other = (_shortened(part, cut, at_start=a == 0) for part in (one, other))
            distance = _distance(one, other)
            parts.append((distance, np.broadcast_to(np.maximum(least, floor), distance.shape)))
    pairs = [(int(i) + 1, int(j) + 1) for i, j in zip(first, second, strict=True)]
    found = _closest(course, parts, pairs, "legs to each other", "each other")
    meeting = _meetings(platform, course)
    remedy = found.remedy
    turning = "Turn cranks the other way, check" if platform.leg.has_crank else "Check"

    def meeting_remedy(row: int, column: int) -> str:
        if not meeting[row, column]:
            return remedy(row, column)
        return (
            f"{legs_text(pairs[column]).capitalize()} pass through each other "
            f"({course.place(row)}): their axes meet, so they collide however thin they are. "
            f"{turning} the order of the joints, or move them apart."
        )

    share = np.where(meeting, np.inf, found.share)
    return found._replace(share=share, remedy=meeting_remedy)


def _meetings(platform: MachineModel, course: Course) -> BoolArray:
    """Return `(k, m)` whether the axes of each pair of legs meet, or cross on the way to a row.

    The way is from the row before, or from home to a pose at rest.
    """
    poses = course.motion.pose
    starts = np.vstack([poses[:1], poses[:-1]])
    steps = 1
    if course.places:
        starts, steps = np.broadcast_to(platform.home, poses.shape), PATH_STEPS
    same = np.sign(np.einsum("ki,ki->k", starts[:, 3:], poses[:, 3:]))[:, None]
    ends = np.hstack([poses[:, :3], np.where(same < 0.0, -1.0, 1.0) * poses[:, 3:]])
    found = np.zeros((len(poses), platform.n_actuators * (platform.n_actuators - 1) // 2), bool)
    if platform.leg.has_foot:
        return found  # pillars are parallel
    previous = None
    for share in np.linspace(0.0, 1.0, steps + 1):
        way = (1.0 - share) * starts + share * ends
        way[:, 3:] /= np.linalg.norm(way[:, 3:], axis=1, keepdims=True)
        reach = np.asarray(reached(platform, way).all(axis=1))
        points = leg_points(platform, np.where(reach[:, None], way, ends))
        corners = np.stack([points.base, points.middle, points.tip], axis=2)
        found |= _crossed(platform, corners if previous is None else previous, corners)
        previous = corners
    return found


def _mean_length(base: FloatArray, tip: FloatArray) -> float:
    return float(np.linalg.norm(tip - base, axis=-1).mean())


def _crossed(platform: MachineModel, before: FloatArray, after: FloatArray) -> BoolArray:
    """Return `(k, m)` whether axes meet after a small step or cross within it.

    Args:
        platform: the machine.
        before: base joints, middles and platform joints `(k, n, 3, 3)` [m] before the step.
        after: the same after it.
    """
    first, second = np.triu_indices(platform.n_actuators, 1)
    moved = np.abs(after - before).max(axis=(1, 2, 3))[:, None]
    least = MEETING_DISTANCE * _mean_length(after[:, :, 0], after[:, :, 2])
    found = np.zeros((len(after), len(first)), dtype=bool)
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        ends = [
            (part[:, first, a], part[:, first, a + 1], part[:, second, b], part[:, second, b + 1])
            for part in (before, after)
        ]
        volumes = [np.einsum("kmi,kmi->km", np.cross(q - p, s - r), r - p) for p, q, r, s in ends]
        turned = volumes[0] * volumes[1] < 0.0
        size = np.where(turned, volumes[0] - volumes[1], 1.0)
        part = np.where(turned, volumes[0] / size, 1.0)[..., None]
        middle = [(1.0 - part) * one + part * other for one, other in zip(*ends, strict=True)]
        distance = segment_distance(*middle)
        found |= (distance < least) | (turned & (distance < CROSSING_DISTANCE * moved))
    for joints in (platform.base_joints, platform.platform_joints):
        found[:, np.linalg.norm(joints[first] - joints[second], axis=1) < COINCIDENCE_DISTANCE] = (
            False
        )
    return found


def _from_plate(
    course: Course, legs: list[Capsules], plate: Capsules, name: str
) -> Quantity | None:
    """Return the distances of legs from the edges of a plate that do not touch their own joint."""
    own = legs[1].end if name == "platform" else legs[0].start
    count, edges = own.shape[1], plate.start.shape[1]
    leg, edge = (index.ravel() for index in np.indices((count, edges)))
    part = plate.column(edge)
    first = Capsules(own[:1, leg], own[:1, leg], np.zeros(len(leg)))
    start = Capsules(part.start[:1], part.end[:1], part.radius)
    radius = np.maximum(legs[0].radius, legs[1].radius)[leg] + part.radius
    free = _distance(first, start)[0] > radius
    if not free.any():
        return None
    leg, part = leg[free], plate.column(edge[free])
    parts = []
    for capsules in legs:
        chosen = capsules.column(leg)
        least = np.broadcast_to(chosen.radius + part.radius, chosen.start.shape[:2])
        parts.append((_distance(chosen, part), least))
    numbers = [(int(i) + 1,) for i in leg]
    return _closest(course, parts, numbers, f"legs to the {name}", f"the {name}")


def _closest(
    course: Course,
    parts: list[tuple[FloatArray, FloatArray]],
    legs: Sequence[tuple[int, ...]],
    name: str,
    other: str,
) -> Quantity:
    """Return, of several parts of pairs, the one that uses most of its least distance."""
    distances, least = (np.stack(group) for group in zip(*parts, strict=True))
    shares = least / np.maximum(distances, 1e-12)
    worst = shares.argmax(axis=0)[None]
    distance, limit, share = (
        np.take_along_axis(values, worst, axis=0)[0] for values in (distances, least, shares)
    )

    def remedy(row: int, column: int) -> str:
        text = legs_text(legs[column])
        verb = "come" if len(legs[column]) > 1 else "comes"
        return (
            f"{text.capitalize()} {verb} as close as {amount(distance[row, column], 'm')} to "
            f"{other} ({course.place(row)}), axis to axis; with their thickness "
            f"{amount(limit[row, column], 'm')} are needed: they collide. Check the order of the "
            "joints, move them apart, take thinner legs, or tilt less."
        )

    return Quantity(name, "m", distance, limit, share, legs, remedy, at_least=True)


def _distance(one: Capsules, other: Capsules) -> FloatArray:
    return segment_distance(one.start, one.end, other.start, other.end)


def _shortened(capsules: Capsules, cut: FloatArray, *, at_start: bool) -> Capsules:
    """Return capsules that begin or end by `cut` `(m,)` [m] later or earlier; a part stays."""
    along = capsules.end - capsules.start
    length = np.linalg.norm(along, axis=-1)
    step = np.minimum(cut / length, 0.9)[..., None] * along
    if at_start:
        return capsules._replace(start=capsules.start + step)
    return capsules._replace(end=capsules.end - step)


def _thickness(platform: MachineModel) -> float:
    """Return the thickness [m] of the plates; zero where the file gives none."""
    plate = platform.parameters.platform
    return plate.thickness if "thickness" in plate.model_fields_set else 0.0


def ring(joints: FloatArray) -> Any:
    """Return the order of joints `(n, 3)` around their middle."""
    x, y, _ = (joints - joints.mean(axis=0)).T
    return np.argsort(np.arctan2(y, x), kind="stable")
