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
    leg_points,
    polygon_distance,
    reached,
)
from twin.basics.arrays import BoolArray, FloatArray, segment_distance
from twin.machine.legs.leg import COINCIDENCE_DISTANCE
from twin.model.machine_base import nearest_allowed
from twin.model.machine_model import MachineModel

JOINT_LENGTH = 2.0
"""Length of a leg that is left out at a shared joint, relative to the sum of both radii."""

MEETING_DISTANCE = 1e-6
"""Distance of the axes of two legs, relative to their mean length, below which they meet
(engineering choice).
"""

CROSSING_DISTANCE = 0.05
"""Distance of the axes at a change of sides, relative to the travel of the step, that is a crossing
(engineering choice).
"""

CAPSULE_PAIRS = ((0, 0), (0, 1), (1, 0), (1, 1))
"""Capsule of a leg and capsule of another one: housing and rod, or crank and rod."""

PATH_STEPS = 20
"""Number of steps on the path from home to a pose at rest (engineering choice)."""


class Capsules(NamedTuple):
    """Axes of capsules over a course and their radii."""

    start: FloatArray
    """start points of the axes `(k, m, 3)` [m], base frame"""
    end: FloatArray
    """end points of the axes `(k, m, 3)` [m], base frame"""
    radius: FloatArray
    """radii `(m,)` [m]"""

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
    sizes = [leg.thickness for leg in platform.parameters.legs]
    lower, upper = np.array([(0.0, 0.0) if size is None else size[:2] for size in sizes]).T
    legs = [Capsules(points.base, points.middle, lower), Capsules(points.middle, points.tip, upper)]
    yield _between_legs(platform, course, legs)
    if platform.leg.has_foot or None in sizes:
        return  # pillars are fixed to their plate, and their feet slide on the floor
    thickness = _thickness(platform)
    tops = ("platform", points.tip, platform.platform_joints)
    for name, joints, layout in (tops, ("base", points.base, platform.base_joints)):
        order = ring(layout)
        radius = np.full(len(order), 0.5 * thickness)
        plate = Capsules(joints[:, order], joints[:, np.roll(order, -1)], radius)
        yield from _from_plate(course, legs, plate, name)


def plate_quantities(
    platform: MachineModel, course: Course, points: LegPoints
) -> Iterator[Quantity]:
    """Yield the distance [m] of the plates from each other; nothing where they have none."""
    if platform.leg.has_foot:
        return
    rings = [ring(joints) for joints in (platform.base_joints, platform.platform_joints)]

    def plate_distance(points: LegPoints) -> FloatArray:
        return polygon_distance(points.base[:, rings[0]], points.tip[:, rings[1]])

    if not plate_distance(leg_points(platform, platform.home[None]))[0] > 0.0:
        return
    distance = plate_distance(points)[:, None]
    min_distance = np.full_like(distance, _thickness(platform))
    fraction = np.where(distance > 0.0, min_distance / np.maximum(distance, 1e-12), np.inf)

    yield Quantity(
        "plates to each other", "m", distance, min_distance, fraction, [()], "plates", at_least=True
    )


def closest_legs(platform: MachineModel, pose: FloatArray) -> tuple[float, int, int]:
    """Return the smallest distance [m] between axes of two legs over poses `(k, 7)`, their numbers.

    Two legs that share a joint meet there by design and are left out; infinite where all do.
    """
    points = leg_points(platform, pose)
    first_leg, second_leg = np.triu_indices(platform.n_actuators, 1)
    axis_points = (points.base, points.middle, points.tip)
    distances = np.full((len(pose), len(first_leg)), np.inf)
    for a, b in CAPSULE_PAIRS:
        first_segment = (axis_points[a][:, first_leg], axis_points[a + 1][:, first_leg])
        second_segment = (axis_points[b][:, second_leg], axis_points[b + 1][:, second_leg])
        distances = np.minimum(distances, segment_distance(*first_segment, *second_segment))
    distances[:, _share_joint(platform)] = np.inf
    column = int(distances.min(axis=0).argmin())
    return float(distances.min()), int(first_leg[column]) + 1, int(second_leg[column]) + 1


def _between_legs(platform: MachineModel, course: Course, legs: list[Capsules]) -> Quantity:
    first_leg, second_leg = np.triu_indices(platform.n_actuators, 1)
    joints = (platform.base_joints, platform.platform_joints)
    floor = MEETING_DISTANCE * _mean_length(legs[0].start, legs[1].end)
    distances = []
    for a, b in CAPSULE_PAIRS:
        first_capsules, second_capsules = legs[a].column(first_leg), legs[b].column(second_leg)
        min_distance = first_capsules.radius + second_capsules.radius
        if a == b:
            joint_distance = np.linalg.norm(joints[a][first_leg] - joints[a][second_leg], axis=1)
            length_cut = np.where(joint_distance < min_distance, JOINT_LENGTH * min_distance, 0.0)
            first_capsules, second_capsules = (
                _shortened(capsules, length_cut, at_start=a == 0)
                for capsules in (first_capsules, second_capsules)
            )
        distance = _distance(first_capsules, second_capsules)
        distances.append(
            (distance, np.broadcast_to(np.maximum(min_distance, floor), distance.shape))
        )
    pairs = [(int(i) + 1, int(j) + 1) for i, j in zip(first_leg, second_leg, strict=True)]
    quantity = _closest(course, distances, pairs, "legs to each other")
    return quantity._replace(share=np.where(_meetings(platform, course), np.inf, quantity.share))


def _meetings(platform: MachineModel, course: Course) -> BoolArray:
    """Return `(k, m)` whether the axes of each pair of legs meet, or cross on the way to a row.

    The path is that from the previous row, or from home to a pose at rest.
    """
    poses = course.motion.pose
    start_poses = np.vstack([poses[:1], poses[:-1]])
    steps = 1
    if course.pose_names:
        start_poses, steps = np.broadcast_to(platform.home, poses.shape), PATH_STEPS
    sign = np.sign(np.einsum("ki,ki->k", start_poses[:, 3:], poses[:, 3:]))[:, None]
    end_poses = np.hstack([poses[:, :3], np.where(sign < 0.0, -1.0, 1.0) * poses[:, 3:]])
    is_met = np.zeros((len(poses), platform.n_actuators * (platform.n_actuators - 1) // 2), bool)
    if platform.leg.has_foot:
        return is_met  # pillars are parallel
    previous = None
    for fraction in np.linspace(0.0, 1.0, steps + 1):
        poses_between = (1.0 - fraction) * start_poses + fraction * end_poses
        poses_between[:, 3:] /= np.linalg.norm(poses_between[:, 3:], axis=1, keepdims=True)
        if platform.dof < 6:
            poses_between = nearest_allowed(platform.constants.legs, poses_between)
        is_reached = np.asarray(reached(platform, poses_between).all(axis=1))
        points = leg_points(platform, np.where(is_reached[:, None], poses_between, end_poses))
        corners = np.stack([points.base, points.middle, points.tip], axis=2)
        is_met |= _crossed(platform, corners if previous is None else previous, corners)
        previous = corners
    return is_met


def _mean_length(base: FloatArray, tip: FloatArray) -> float:
    return float(np.linalg.norm(tip - base, axis=-1).mean())


def _crossed(
    platform: MachineModel, corners_before: FloatArray, corners_after: FloatArray
) -> BoolArray:
    """Return `(k, m)` whether axes meet after a small step or cross within it.

    Args:
        platform: the machine.
        corners_before: base joints, middles and platform joints `(k, n, 3, 3)` [m] before the step.
        corners_after: the same after it.
    """
    first_leg, second_leg = np.triu_indices(platform.n_actuators, 1)
    travel = np.abs(corners_after - corners_before).max(axis=(1, 2, 3))[:, None]
    meeting_distance = MEETING_DISTANCE * _mean_length(
        corners_after[:, :, 0], corners_after[:, :, 2]
    )
    is_met = np.zeros((len(corners_after), len(first_leg)), dtype=bool)
    for a, b in CAPSULE_PAIRS:
        axis_ends = [
            (
                axes[:, first_leg, a],
                axes[:, first_leg, a + 1],
                axes[:, second_leg, b],
                axes[:, second_leg, b + 1],
            )
            for axes in (corners_before, corners_after)
        ]
        volumes = [
            np.einsum("kmi,kmi->km", np.cross(q - p, s - r), r - p) for p, q, r, s in axis_ends
        ]
        changes_side = volumes[0] * volumes[1] < 0.0
        size = np.where(changes_side, volumes[0] - volumes[1], 1.0)
        fraction = np.where(changes_side, volumes[0] / size, 1.0)[..., None]
        axes_at_crossing = [
            (1.0 - fraction) * before_step + fraction * after_step
            for before_step, after_step in zip(*axis_ends, strict=True)
        ]
        distance = segment_distance(*axes_at_crossing)
        is_met |= (distance < meeting_distance) | (
            changes_side & (distance < CROSSING_DISTANCE * travel)
        )
    is_met[:, _share_joint(platform)] = False
    return is_met


def _share_joint(platform: MachineModel) -> BoolArray:
    """Return `(m,)` whether the legs of each pair share a base or a platform joint."""
    joints = np.stack([platform.base_joints, platform.platform_joints])
    first_leg, second_leg = np.triu_indices(platform.n_actuators, 1)
    distance = np.linalg.norm(joints[:, first_leg] - joints[:, second_leg], axis=-1)
    return np.asarray((distance < COINCIDENCE_DISTANCE).any(axis=0))


def _from_plate(
    course: Course, legs: list[Capsules], plate: Capsules, name: str
) -> Iterator[Quantity]:
    """Yield the distances of legs from the edges of a plate that do not touch their own joint."""
    leg_ends = legs[1].end if name == "platform" else legs[0].start
    count, edges = leg_ends.shape[1], plate.start.shape[1]
    leg, edge = (index.ravel() for index in np.indices((count, edges)))
    edge_capsules = plate.column(edge)
    joint_points = Capsules(leg_ends[:1, leg], leg_ends[:1, leg], np.zeros(len(leg)))
    edge_starts = Capsules(edge_capsules.start[:1], edge_capsules.end[:1], edge_capsules.radius)
    radius = np.maximum(legs[0].radius, legs[1].radius)[leg] + edge_capsules.radius
    is_separate = _distance(joint_points, edge_starts)[0] > radius
    if not is_separate.any():
        return
    leg, edge_capsules = leg[is_separate], plate.column(edge[is_separate])
    distances = []
    for capsules in legs:
        leg_capsules = capsules.column(leg)
        min_distance = np.broadcast_to(
            leg_capsules.radius + edge_capsules.radius, leg_capsules.start.shape[:2]
        )
        distances.append((_distance(leg_capsules, edge_capsules), min_distance))
    yield _closest(course, distances, [(int(i) + 1,) for i in leg], f"legs to the {name}")


def _closest(
    course: Course,
    parts: list[tuple[FloatArray, FloatArray]],
    legs: Sequence[tuple[int, ...]],
    name: str,
) -> Quantity:
    """Return the clearance of each pair: of its parts, the one with the largest limit fraction."""
    distances, min_distances = (np.stack(arrays) for arrays in zip(*parts, strict=True))
    fractions = min_distances / np.maximum(distances, 1e-12)
    worst_part = fractions.argmax(axis=0)[None]
    distance, limit, fraction = (
        np.take_along_axis(values, worst_part, axis=0)[0]
        for values in (distances, min_distances, fractions)
    )
    return Quantity(name, "m", distance, limit, fraction, legs, "collision", at_least=True)


def _distance(first: Capsules, second: Capsules) -> FloatArray:
    return segment_distance(first.start, first.end, second.start, second.end)


def _shortened(capsules: Capsules, removed_length: FloatArray, *, at_start: bool) -> Capsules:
    """Return capsules without `removed_length` `(m,)` [m] at one end; a minimum length remains."""
    axis = capsules.end - capsules.start
    length = np.linalg.norm(axis, axis=-1)
    step = np.minimum(removed_length / length, 0.9)[..., None] * axis
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
