"""Margins of universal and ball joints: angles of the legs from the joints' neutral directions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from twin.analysis.feasibility.course import (
    Course,
    LegPoints,
    PoseBox,
    Quantity,
    check_convention,
    crank_frames,
)
from twin.analysis.workspace.dexterity import singular_values
from twin.analysis.workspace.search import actuator_coordinates
from twin.basics import canonical
from twin.basics.arrays import FloatArray, as_instance
from twin.errors import InputError
from twin.machine.legs.leg import JointLimit
from twin.model.machine_base import nearest_allowed
from twin.model.machine_model import MachineModel, as_model

JOINT_NAMES = {
    "base_joint": "base joint",
    "elbow_joint": "elbow joint",
    "platform_joint": "platform joint",
}
"""Field of a leg's table -> name of the joint."""

MIN_SINGULAR_RATIO = 0.05
"""Smallest singular value of the Jacobian, relative to that at home: the legs act on the weakest
motion with a twentieth of their effect at home (engineering choice).
"""

MAX_CONDITION_NUMBER = 200.0
"""Largest condition number of the Jacobian: an error of a leg grows two hundred times in the worst
direction (engineering choice).
"""

BOX_SAMPLES = 512
"""Number of points inside the box: starts of the search, and samples for unreachable poses."""

MAX_STARTS = 6
"""Maximum number of searches per actuator and end, from its best points that are not close
together.
"""

START_DISTANCE = 0.25
"""Smallest distance between two starts, relative to the box's sides."""

GRADIENT_STEP = 1e-6
"""Step of the differences of the gradient, relative to the box's sides: an extreme is flat, so its
value is exact to the square of the gradient's error."""


class Directions(NamedTuple):
    """Directions `(k, n, 3)` of the legs away from their joints, each in its joint's frame.

    None where a kind of leg has no such joint.
    """

    base_joint: FloatArray | None
    elbow_joint: FloatArray | None
    platform_joint: FloatArray | None


def directions(platform: MachineModel, points: LegPoints) -> Directions:
    """Return the directions of the legs at their joints; pillars have none that turn freely."""
    upper = points.upper
    downward = -np.einsum("kji,knj->kni", points.rotation, upper)
    if platform.leg.has_foot:
        return Directions(None, None, None)
    if platform.leg.has_crank:
        frames = crank_frames(platform, points)
        return Directions(None, np.einsum("knji,knj->kni", frames, upper), downward)
    return Directions(points.lower, None, downward)


def joint_quantities(
    platform: MachineModel, course: Course, directions_along_course: Directions, home: Directions
) -> Iterator[Quantity]:
    """Yield the angle [deg] of every kind of joint for which a leg has a limit.

    Args:
        platform: the machine.
        course: the task.
        directions_along_course: directions of the legs at each time of the course.
        home: directions `(1, n, 3)` at home.
    """
    for field, name in JOINT_NAMES.items():
        leg_directions = getattr(directions_along_course, field)
        limits = _limits(platform, field)
        if leg_directions is None or not any(limits):
            continue
        neutral = np.array(
            [
                at_home if limit is None or limit.neutral is None else limit.neutral
                for limit, at_home in zip(limits, getattr(home, field)[0], strict=True)
            ]
        )
        angles = np.degrees(angle_between(leg_directions, neutral))
        max_angles = np.degrees(
            [np.inf if limit is None else limit.maximum_angle for limit in limits]
        )
        bound = np.broadcast_to(max_angles, angles.shape)
        legs = [(i + 1,) for i in range(platform.n_actuators)]
        yield Quantity(
            f"angle of {name}", "deg", angles, bound, angles / bound, legs, "joint angle"
        )


def missing_joints(platform: MachineModel, leg_directions: Directions) -> list[str]:
    """Return the joints whose limits no leg gives."""
    return [
        f"angles of the {name}s"
        for field, name in JOINT_NAMES.items()
        if getattr(leg_directions, field) is not None and not any(_limits(platform, field))
    ]


def angle_between(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the angles `(...)` [rad] between vectors `(..., 3)`, exact for small ones too."""
    sine = np.linalg.norm(np.cross(first, second), axis=-1)
    return np.asarray(np.arctan2(sine, np.einsum("...i,...i->...", first, second)))


def _limits(platform: MachineModel, field: str) -> list[JointLimit | None]:
    return [getattr(leg, field, None) for leg in platform.parameters.legs]


def singularity_quantities(platform: MachineModel, course: Course) -> Iterator[Quantity]:
    """Yield the distance to a singular pose and the conditioning.

    A change of sign of the determinant against home means that a singular pose lies between.
    """
    values, signs = _values_and_signs(platform, course.motion.pose)
    home, home_sign = _values_and_signs(platform, platform.home[None])
    smallest_values = values[:, -1:]
    condition = values[:, :1] / np.maximum(smallest_values, 1e-300)
    min_value = np.full_like(smallest_values, MIN_SINGULAR_RATIO * home[0, -1])
    with_other_sign = (signs * home_sign[0] < 0.0)[:, None]
    yield Quantity(
        "smallest singular value",
        "" if platform.coordinate_unit == "m" else "rad/m",
        smallest_values,
        min_value,
        np.where(with_other_sign, np.inf, min_value / np.maximum(smallest_values, 1e-300)),
        [()],
        "singular",
        at_least=True,
    )
    max_condition = np.full_like(condition, MAX_CONDITION_NUMBER)
    yield Quantity(
        "condition number",
        "",
        condition,
        max_condition,
        condition / max_condition,
        [()],
        "condition",
    )


def _values_and_signs(platform: MachineModel, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return singular values `(k, dof)` of the scaled Jacobian and signs `(k,)` of its determinant.

    Of machines with constraints, over the twists that they can have, and of the rows of Jacobian
    and constraints; zero where these are no square matrix.
    """
    moment_scale = np.repeat([1.0, platform.joint_radius], 3)
    rows = np.hstack([platform.jacobian(poses), platform.constraints(poses)]) / moment_scale
    signs = np.linalg.slogdet(rows)[0] if rows.shape[1] == 6 else np.zeros(len(poses))
    return singular_values(platform, poses), np.asarray(signs)


class RequiredStroke(NamedTuple):
    """Actuator coordinates that a box of poses requires; `unreachable` poses are left out."""

    minimum: FloatArray
    """`(n,)` lowest coordinates [m] or [rad]"""
    maximum: FloatArray
    """`(n,)` highest coordinates"""
    minimum_poses: FloatArray
    """`(n, 7)` where each actuator is shortest"""
    maximum_poses: FloatArray
    """`(n, 7)` where each actuator is longest"""
    unreachable: FloatArray
    """`(m, 7)` poses of the box that no actuator coordinate reaches; the ranges leave them out"""
    lower_margin: FloatArray
    """`(n,)` distance from the actuator's own lower limit to `minimum`; negative: it is too long"""
    upper_margin: FloatArray
    """`(n,)` distance from `maximum` to the actuator's own upper limit; negative: it is too
    short"""

    @property
    def stroke(self) -> FloatArray:
        """Difference of the extremes `(n,)` [m] or [rad]."""
        return self.maximum - self.minimum

    @property
    def possible(self) -> bool:
        """Whether every pose found is in reach and inside the actuators' limits."""
        margins = np.concatenate([self.lower_margin, self.upper_margin])
        return not len(self.unreachable) and bool((margins >= 0.0).all())


def required_stroke(platform: MachineModel, pose_box: PoseBox) -> RequiredStroke:
    """Return the extremes of all actuator coordinates over a box of poses.

    Corners and points inside start searches along the gradient, as the extremes of a leg can lie
    inside the box or on one of its faces. The result is deterministic. Of machines
    with fewer than six degrees of freedom, x and y follow from the other axes.

    Raises:
        InputError: not a machine or no `PoseBox`, a convention whose angles it cannot have,
            or a box without any pose in reach.
    """
    as_model(platform)
    as_instance(pose_box, "pose_box", PoseBox)
    check_convention(platform, pose_box.convention)
    axes = np.vstack([pose_box.corners(), pose_box.inner(BOX_SAMPLES)])
    values = actuator_coordinates(platform, _poses(platform, pose_box, axes))
    reachable = np.isfinite(values).all(axis=1)
    if not reachable.any():
        raise InputError(
            "pose_box",
            f"{platform.name} reaches no pose of the box; narrow its ranges or move its center",
        )
    extremes = [
        _extreme(platform, pose_box, axes[reachable], values[reachable], leg, sign)
        for sign in (1.0, -1.0)
        for leg in range(platform.n_actuators)
    ]
    extreme_values, extreme_axes = map(np.array, zip(*extremes, strict=True))
    minimum, maximum = extreme_values.reshape(2, -1)
    lower_poses, upper_poses = _poses(platform, pose_box, extreme_axes).reshape(2, -1, 7)
    return RequiredStroke(
        minimum,
        maximum,
        lower_poses,
        upper_poses,
        _poses(platform, pose_box, axes[~reachable]),
        minimum - platform.minimum_coordinates,
        platform.maximum_coordinates - maximum,
    )


def _poses(platform: MachineModel, pose_box: PoseBox, axes: FloatArray) -> FloatArray:
    poses = pose_box.poses(axes)
    return poses if platform.dof == 6 else nearest_allowed(platform.constants.legs, poses)


def _extreme(
    platform: MachineModel,
    pose_box: PoseBox,
    axes: FloatArray,
    values: FloatArray,
    leg: int,
    sign: float,
) -> tuple[float, FloatArray]:
    """Return the extreme coordinate (minimum for sign 1, maximum for -1), and its axes `(k,)`."""
    from scipy.optimize import minimize

    spans = pose_box.high - pose_box.low
    free_axes = np.flatnonzero(spans > 0.0)
    n = len(free_axes)
    order = canonical.order(sign * values[:, leg])
    best_extreme = (float(values[order[0], leg]), axes[order[0]])
    if not n:
        return best_extreme
    steps = GRADIENT_STEP * np.vstack([np.zeros(n), np.eye(n), -np.eye(n)])

    def slope(point: FloatArray) -> tuple[float, FloatArray]:
        stencil_axes = np.tile(pose_box.low, (len(steps), 1))
        stencil_axes[:, free_axes] += (point + steps) * spans[free_axes]
        stencil_values = (
            sign * actuator_coordinates(platform, _poses(platform, pose_box, stencil_axes))[:, leg]
        )
        # Out of reach beside the point: the step there is refused, not taken.
        gradient = (stencil_values[1 : n + 1] - stencil_values[n + 1 :]) / (2.0 * GRADIENT_STEP)
        return float(np.nan_to_num(stencil_values[0], nan=np.inf)), np.nan_to_num(gradient)

    for start in _starts((axes[order][:, free_axes] - pose_box.low[free_axes]) / spans[free_axes]):
        optimum = minimize(
            slope, start, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * n,
            options={"ftol": 1e-15, "gtol": 1e-12},
        )  # fmt: skip
        if np.isfinite(optimum.fun) and optimum.fun < sign * best_extreme[0]:
            optimum_axes = pose_box.low.copy()
            optimum_axes[free_axes] += optimum.x * spans[free_axes]
            best_extreme = (sign * float(optimum.fun), optimum_axes)
    return best_extreme


def _starts(points: FloatArray) -> list[FloatArray]:
    """Return the first few of points `(m, k)`, best first, that are not close to each other."""
    starts: list[FloatArray] = []
    for point in points:
        if all(np.abs(point - start).max() > START_DISTANCE for start in starts):
            starts.append(point)
            if len(starts) == MAX_STARTS:
                break
    return starts
