"""Samples of a motion, margins to limits, and points of the legs, for all checks of feasibility."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import (
    BoolArray,
    FloatArray,
    as_floats,
    dot,
    quaternion_product,
    read_only,
    rotated,
    segment_distance,
    whole_number,
)
from twin.errors import InputError, brief
from twin.kernels.kinematics import inverse_kinematics_batch
from twin.machine.legs.rss import crank_vectors
from twin.model.machine_base import PlatformMotion, run
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.motion.motion import as_center, axis_names, known_axis
from twin.motion.recording import constrained_motion
from twin.rotations import quaternion_from_angles

DEFAULT_SAMPLES = 1001
"""Times along a motion. A peak between two of them is higher than both by less than a millionth of
its curvature times the square of the duration."""

MAX_SAMPLES = 1_000_000
"""Largest number of times along a motion that may be asked for."""

LIMIT_TOLERANCE = 1e-9
"""Excess over a limit, relative to it, that counts as rounding: poses at the end of a range lie on
a limit."""

TIGHT_FRACTION = 0.8
"""Fraction of a limit above which a margin is called tight."""

FLATNESS_TOLERANCE = 1e-12
"""Square of the sine below which a triangle is degenerate or a segment parallel to it."""


class PoseBox(NamedTuple):
    """A box of poses: every axis takes any value in its range, independently of the others.

    Axes are those of `twin.motion`: displacements along the base axes from the centre, and the
    angles of a convention, applied in base axes on top of the centre's attitude.
    """

    center: FloatArray
    """pose `(7,)` at which all axes are zero"""
    low: FloatArray
    """lower ends of the ranges `(k,)` [m], [rad]"""
    high: FloatArray
    """upper ends of the ranges `(k,)` [m], [rad]"""
    convention: str

    @classmethod
    def about(
        cls,
        center: Any,
        ranges: Mapping[str, tuple[float, float]],
        convention: str = "yaw_pitch_roll",
    ) -> PoseBox:
        """Return the box of poses that ranges by axis name describe.

        Args:
            center: pose `(7,)` or position `(3,)` [m].
            ranges: axis name -> (lowest, highest) [m], [rad], such as `{"z": (-0.01, 0.02)}`; axes
                left out stay at zero. Names are those of `twin.motion.axis_names(convention)`.
            convention: of the angles.

        Raises:
            InputError: unknown axis or convention, ranges that are no ordered pairs.
        """
        center_pose = as_center(center)
        if not isinstance(ranges, Mapping) or not ranges:
            raise InputError("ranges", "must map axis names to (lowest, highest)")
        low, high = np.zeros((2, len(axis_names(convention))))
        for axis, axis_range in ranges.items():
            column = known_axis(axis, "ranges", convention)
            range_ends = as_floats(axis_range, f"ranges[{axis!r}]")
            if range_ends.shape != (2,) or range_ends[0] > range_ends[1]:
                raise InputError(
                    f"ranges[{axis!r}]", f"must be (lowest, highest), got {brief(axis_range)}"
                )
            low[column], high[column] = range_ends
        return cls(center_pose, read_only(low), read_only(high), convention)

    def poses(self, axes: FloatArray) -> FloatArray:
        """Return poses `(m, 7)` of axis values `(m, k)`."""
        rotation = quaternion_from_angles(axes[:, 3:], self.convention)
        attitude = np.broadcast_to(self.center[3:], (len(axes), 4))
        return np.hstack([self.center[:3] + axes[:, :3], quaternion_product(rotation, attitude)])

    def corners(self) -> FloatArray:
        """Return the distinct corners `(m, k)` of the box."""
        axis_ends = [sorted({low, high}) for low, high in zip(self.low, self.high, strict=True)]
        return np.array(list(itertools.product(*axis_ends)))

    def inner(self, count: int) -> FloatArray:
        """Return `count` points `(count, k)` that fill the box evenly, always the same ones."""
        from scipy.stats import qmc

        # Sobol points are balanced in numbers that are powers of two.
        power = int(np.ceil(np.log2(count)))
        points = qmc.Sobol(len(self.low), scramble=False).random_base2(power)[:count]
        return np.asarray(self.low + points * (self.high - self.low))


def check_convention(platform: MachineModel, convention: str) -> None:
    """Raise InputError for angles that a machine on pillars cannot have.

    Such a machine turns in roll and pitch only, in that order; x and y follow from both.
    """
    if platform.dof < 6 and convention != "roll_pitch":
        raise InputError(
            "convention",
            f"{platform.name} moves in height, roll and pitch only: give these in the convention "
            f"roll_pitch, not {convention}",
        )


class Course(NamedTuple):
    """Samples of a task, one row per time or pose at rest."""

    time: FloatArray
    """`(k,)` [s]; all zero for poses at rest"""
    motion: PlatformMotion
    """the motion in arrays of k rows"""
    pose_names: tuple[str, ...]
    """names of the poses at rest; empty for a motion"""

    def row_label(self, row: int) -> str:
        """Return the name of the pose of a row, or its time where the course is a motion."""
        return self.pose_names[row] if self.pose_names else f"{self.time[row]:.4g} s"

    def rows(self, selection: Any) -> Course:
        """Return the rows selected by a mask or a slice."""
        indices = np.arange(len(self.time))[selection]
        pose_names = tuple(self.pose_names[i] for i in indices) if self.pose_names else ()
        motion = PlatformMotion(*(array[indices] for array in self.motion))
        return Course(self.time[indices], motion, pose_names)


def rest_course(platform: MachineModel, poses: FloatArray, pose_names: tuple[str, ...]) -> Course:
    """Return the course of poses `(k, 7)`, at rest in each."""
    count = len(poses)
    motion = platform.constrain(poses, np.zeros((count, 6)), np.zeros((count, 6)))
    return Course(np.zeros(count), motion, pose_names)


def motion_course(platform: MachineModel, motion: Any, samples: Any = DEFAULT_SAMPLES) -> Course:
    """Return a motion at `samples` times from start to end.

    Raises:
        InputError: not a motion, fewer than two samples, or a convention whose angles the machine
            cannot have.
    """
    if not isinstance(motion, Motion):
        raise InputError("motion", f"must be one of twin.motion, not {brief(motion)}")
    whole_number(samples, "samples", 2, MAX_SAMPLES)
    check_convention(platform, motion.convention)
    time = np.linspace(0.0, motion.duration, samples)
    return Course(time, constrained_motion(platform, motion, time), ())


def reached(platform: MachineModel, poses: FloatArray) -> BoolArray:
    """Return `(k, n)` whether each leg reaches each pose, its actuator's range left out."""
    coordinates = np.empty((len(poses), platform.n_actuators))
    run(inverse_kinematics_batch, (platform.constants.legs,), (poses, coordinates))
    return np.isfinite(coordinates)


RECOMMENDATIONS = {
    "stroke": (
        "{legs} would be at {required} ({place}), its actuator ends at {limit}. Make the motion"
        " smaller, move its middle, or take actuators that reach {required}."
    ),
    "speed": (
        "{legs} needs {required} ({place}), {share} times the {limit} that its actuator gives. "
        "Make the motion {share} times longer in time or {share} times smaller."
    ),
    "acceleration": (
        "{legs} needs {required} ({place}), {share} times the {limit} that its actuator gives. "
        "Make the motion {root} times longer in time or {share} times smaller."
    ),
    "power": (
        "{legs} needs {required} ({place}), {share} times the {limit} that its actuator gives. "
        "Make the motion {share} times longer in time, or lighten the load."
    ),
    "force at rest": (
        "{legs} needs {required} at rest ({place}), {share} times the {limit} that its actuator "
        "gives. Take actuators of at least {required}, or make platform, payload and legs "
        "together {share} times lighter."
    ),
    "force": (
        "{legs} needs {required} ({place}), {share} times the {limit} that its actuator gives. "
        "If it holds the pose at rest, make the motion longer in time; otherwise take "
        "actuators of at least {required}, or lighten the load."
    ),
    "continuous force": (
        "{legs} needs {required} in root mean square ({place}), {share} times the {limit} that "
        "its actuator gives without overheating. Pause between motions, lighten "
        "the load, or take actuators of at least {required} continuously."
    ),
    "joint angle": (
        "A joint of {legs} turns {required} from its neutral direction ({place}), it allows "
        "{limit}. Turn its neutral direction, tilt and move less, or take joints of {required}."
    ),
    "singular": (
        "The machine is near a singular pose ({place}): the smallest singular value of its "
        "Jacobian is {required}, {limit} is the least. Stay closer to home, or place the joints"
        " differently."
    ),
    "beyond singular": (
        "The determinant of the Jacobian has another sign ({place}) than at home: the machine "
        "passes a singular pose on the way, where the legs do not hold it. Stay closer to home,"
        " or place the joints differently."
    ),
    "condition": (
        "The condition number of the Jacobian is {required} ({place}): errors and forces of the"
        " legs grow that much in the worst direction. Stay closer to home, or place the joints "
        "differently."
    ),
    "collision": (
        "{legs}: the distance to each other or to a plate is {required} ({place}), axis to "
        "axis; with their thickness {limit} are needed: they collide. Check the order of the "
        "joints, move them apart, take thinner legs, or tilt less."
    ),
    "meeting legs": (
        "{legs} pass through each other ({place}): their axes meet, so they collide however "
        "thin they are. Check the order of the joints and the direction of cranks, or move them"
        " apart."
    ),
    "plates": (
        "The plates come as close as {required} ({place}), between the polygons of their "
        "joints; their thickness needs {limit}: they collide. Move or tilt less, or take longer "
        "legs."
    ),
}
"""What is violated, by how much, and what would mend it.

Fields are the legs, the required value and the limit with their units, the place, and the share
of the limit with its square root.
"""

BEYOND_ANY_LIMIT = {"singular": "beyond singular", "collision": "meeting legs"}
"""Key of `RECOMMENDATIONS` -> key used in its place where the share of the limit is infinite."""


class Quantity(NamedTuple):
    """A quantity over a task, `(k, m)`: one row per time, one column per leg or pair of legs."""

    name: str
    unit: str
    required: FloatArray
    """`(k, m)`, signed"""
    limit: FloatArray
    """`(k, m)`, infinite where there is none"""
    share: FloatArray
    """`(k, m)` fraction of the limit that is used; above 1 it is violated"""
    legs: Sequence[tuple[int, ...]]
    """numbers from 1 of the legs of each column; none for the whole machine"""
    recommendation: str
    """key of `RECOMMENDATIONS`"""
    at_least: bool = False
    """whether the limit is the smallest value instead of the largest"""
    over_motion: bool = False
    """whether the value belongs to the whole motion rather than to a time"""


class Margin(NamedTuple):
    """Entry of a quantity that comes closest to its limit."""

    quantity: str
    unit: str
    required: float
    """required value with its sign, in the quantity's unit"""
    limit: float
    share: float
    """fraction of the limit that is used: required value per limit, or limit per required value
    where the limit is a minimum; for a stroke, the distance from its middle per half of it. Above 1
    the limit is violated"""
    at_least: bool
    """whether the limit is the smallest allowed value"""
    legs: tuple[int, ...]
    """numbers from 1; none where it concerns the whole machine"""
    time: float | None
    """[s]; None at rest and for the whole motion"""
    place: str
    """the time or the name of the pose"""
    pose: FloatArray
    """pose of the platform `(7,)` at this entry"""
    remedy: str
    """sentence on the violation, its size and its remedy; empty where the limit holds"""

    @property
    def holds(self) -> bool:
        """Whether the value is within its limit."""
        return self.share <= 1.0 + LIMIT_TOLERANCE

    @property
    def margin(self) -> float:
        """Distance to the limit in the quantity's unit; negative where it is violated."""
        size = self.required if self.quantity.startswith("stroke") else abs(self.required)
        return size - self.limit if self.at_least else self.limit - size


def margin_of(quantity: Quantity, course: Course) -> Margin:
    """Return the margin of the entry of a quantity that comes closest to its limit.

    Of entries that differ by rounding, as those of symmetrical legs do, the first one.
    """
    shares = np.where(np.isnan(quantity.share), np.inf, quantity.share)
    max_share = float(shares.max())
    tie_threshold = (
        max_share - LIMIT_TOLERANCE * max(1.0, max_share) if max_share < np.inf else np.inf
    )
    row, column = divmod(int((shares >= tie_threshold).argmax()), shares.shape[1])
    share = float(shares[row, column])
    is_at_rest = bool(course.pose_names)
    has_time = not (is_at_rest or quantity.over_motion)
    return Margin(
        quantity.name,
        quantity.unit,
        float(quantity.required[row, column]),
        float(quantity.limit[row, column]),
        share,
        quantity.at_least,
        quantity.legs[column],
        float(course.time[row]) if has_time else None,
        "whole motion" if quantity.over_motion and not is_at_rest else course.row_label(row),
        course.motion.pose[row].copy(),
        "" if share <= 1.0 + LIMIT_TOLERANCE else _recommended(quantity, course, row, column),
    )


def _recommended(quantity: Quantity, course: Course, row: int, column: int) -> str:
    """Return the recommendation for the violation at a row and column."""
    required, limit = float(quantity.required[row, column]), float(quantity.limit[row, column])
    if not quantity.name.startswith("stroke"):
        required = abs(required)
    key, share = quantity.recommendation, float(quantity.share[row, column])
    if not np.isfinite(share):
        key = BEYOND_ANY_LIMIT.get(key, key)
    return RECOMMENDATIONS[key].format(
        legs=legs_text(quantity.legs[column]).capitalize(),
        required=amount(required, quantity.unit),
        limit=amount(limit, quantity.unit),
        place=course.row_label(row),
        share=factor(share),
        root=factor(np.sqrt(share)),
    )


def legs_text(legs: Sequence[int]) -> str:
    """Return "leg 2" or "legs 1 and 2"; "the machine" for none."""
    if not legs:
        return "the machine"
    numbers = [str(number) for number in legs]
    if len(numbers) == 1:
        return f"leg {numbers[0]}"
    return f"legs {', '.join(numbers[:-1])} and {numbers[-1]}"


def share_text(share: float) -> str:
    """Return a share of a limit as a percentage, from ten on as a factor, or "beyond"."""
    if not np.isfinite(share):
        return "beyond"
    return f"{100.0 * share:.3g} %" if share < 9.995 else f"{share:,.4g} times"


def factor(value: float) -> str:
    """Return a factor above one with three digits, four where it is close to one."""
    return f"{value:.4g}" if value < 1.1 else f"{value:,.3g}" if value < 1e3 else f"{value:,.0f}"


def amount(value: float, unit: str = "") -> str:
    """Return a number with four digits, thousands separators and its unit."""
    text = f"{value:,.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.4g}"
    return f"{text} {unit}".strip()


class LegPoints(NamedTuple):
    """Points `(k, n, 3)` [m] of the legs, base frame."""

    base: FloatArray
    """base joints; of pillars the feet"""
    middle: FloatArray
    """elbows of cranks, else where the thicker lower part ends"""
    tip: FloatArray
    """platform joints"""
    rotation: FloatArray
    """`(k, 3, 3)` platform to base"""

    @property
    def lower(self) -> FloatArray:
        """Unit vectors `(k, n, 3)` along the lower part, up."""
        return _unit(self.middle - self.base)

    @property
    def upper(self) -> FloatArray:
        """Unit vectors `(k, n, 3)` along the upper part, up."""
        return _unit(self.tip - self.middle)


def leg_points(platform: MachineModel, pose: FloatArray) -> LegPoints:
    """Return the points of all legs at reachable poses `(k, 7)`, base frame."""
    matrix = np.stack([rotated(pose[:, 3:], axis[None]) for axis in np.eye(3)], axis=-1)
    joint_position = pose[:, None, :3] + np.einsum("kij,nj->kni", matrix, platform.platform_joints)
    base = np.broadcast_to(platform.base_joints, joint_position.shape)
    coordinates = platform.inverse_kinematics(pose)
    if platform.leg.has_foot:
        base = joint_position - coordinates[:, :, None] * matrix[:, None, :, 2]
    if platform.leg.has_crank:
        return LegPoints(
            base, base + crank_vectors(platform.parameters, coordinates), joint_position, matrix
        )
    leg_vector = joint_position - base
    length = np.linalg.norm(leg_vector, axis=-1)
    sizes = [leg.thickness for leg in platform.parameters.legs]
    lower_lengths = np.array(
        [0.5 * length.min() if size is None else size.lower_length for size in sizes]
    )
    # A part of the leg is left for its upper part, whose direction is that of the leg.
    fraction = np.clip(lower_lengths / length, 0.01, 0.99)
    return LegPoints(base, base + fraction[:, :, None] * leg_vector, joint_position, matrix)


def crank_frames(platform: MachineModel, points: LegPoints) -> FloatArray:
    """Return rotations `(k, n, 3, 3)` crank to base: x is its axis of rotation, z the crank."""
    crank_axis = points.lower
    axis = np.broadcast_to(platform.first_axes, crank_axis.shape)
    return np.stack([axis, np.cross(crank_axis, axis), crank_axis], axis=-1)


def _unit(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def polygon_distance(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the smallest distances `(k,)` [m] between filled polygons; zero where they cross.

    Either two edges are nearest to each other, or a corner and an inner point of the other
    polygon, or an edge passes through the other polygon. Two corners are a segment.

    Args:
        first: corners `(k, m, 3)` [m] in order around a flat, convex polygon. Corners that are
            not quite in one plane span triangles with the corners' middle.
        second: the same, `(k, l, 3)`.
    """
    first_next, second_next = np.roll(first, -1, axis=1), np.roll(second, -1, axis=1)
    edge_distance = segment_distance(
        first[:, :, None], first_next[:, :, None], second[:, None], second_next[:, None]
    ).min(axis=(1, 2))
    faces = np.minimum(_to_face(first, first_next, second), _to_face(second, second_next, first))
    return np.asarray(np.minimum(edge_distance, faces))


def _to_face(corners: FloatArray, ends: FloatArray, polygon: FloatArray) -> FloatArray:
    """Return the smallest distances `(k,)` of corners from a face; zero where an edge crosses it.

    Infinite where no corner is above or below the face and none crosses it.
    """
    centroid = polygon.mean(axis=1)[:, None, None]
    spokes = polygon[:, None] - centroid
    edge_vectors = np.roll(polygon, -1, axis=1)[:, None] - centroid
    normals = np.cross(spokes, edge_vectors)
    size = dot(normals, normals)
    solid = size > FLATNESS_TOLERANCE * dot(spokes, spokes) * dot(edge_vectors, edge_vectors)
    safe_size = np.where(solid, size, 1.0)

    def inside(offsets: FloatArray) -> FloatArray:
        """Return whether points at `offsets` `(k, c, l, 3)` from the middle are over a triangle."""
        s = dot(np.cross(offsets, edge_vectors), normals) / safe_size
        t = dot(np.cross(spokes, offsets), normals) / safe_size
        return np.asarray(solid & (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0))

    start, end = corners[:, :, None] - centroid, ends[:, :, None] - centroid
    height, height_end = dot(start, normals), dot(end, normals)
    distance = np.where(inside(start), np.abs(height) / np.sqrt(safe_size), np.inf)
    height_change = height - height_end
    crossing_fraction = height / np.where(height_change == 0.0, 1.0, height_change)
    crosses = (height_change != 0.0) & (crossing_fraction >= 0.0) & (crossing_fraction <= 1.0)
    crossing = crosses & inside(start + crossing_fraction[..., None] * (end - start))
    return np.asarray(np.where(crossing, 0.0, distance).min(axis=(1, 2)))
