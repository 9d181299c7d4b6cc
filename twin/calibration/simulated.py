"""Poses all over the workspace, and what is measured there of a machine with known errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twin.analysis.feasibility.course import leg_points
from twin.analysis.feasibility.joint_angles import JOINT_NAMES, angle_between, directions
from twin.analysis.workspace.search import Admissible
from twin.basics.arrays import (
    BoolArray,
    FloatArray,
    as_array,
    as_floats,
    as_instance,
    as_pose,
    as_vector,
    one_of,
    whole_number,
)
from twin.calibration.measured import (
    DEFAULT_NOISE,
    POSE_COMPONENTS,
    Frames,
    MeasuredPoses,
    check_noise,
)
from twin.calibration.measurement_model import LegErrors, legs_with
from twin.errors import InputError
from twin.model.forward_kinematics import geometry
from twin.model.machine_base import check_nearest, nearest_allowed
from twin.model.machine_model import MachineModel
from twin.rotations import angles_from_quaternion, displaced

NOISE_STREAM = 1
"""Random stream of the noise, so that poses drawn with the same seed are independent of it."""

MAX_HALVINGS = 30
"""Number of bisections of a straight path from home to the first limit."""

LIMIT_FRACTION = 0.98
"""Fraction of the distance to the limit at which half of the poses lie."""


def simulated(
    machine: MachineModel,
    poses: Any,
    errors: Any = None,
    *,
    frames: Frames | None = None,
    measured: Sequence[str] = POSE_COMPONENTS,
    noise: Sequence[float] = DEFAULT_NOISE,
    seed: int | None = None,
) -> MeasuredPoses:
    """Return what a tracker and the encoders measure of a machine with errors.

    Args:
        machine: as in its file.
        poses: `(m, 7)` of the platform in the base.
        errors: `(n, k)` of the legs, as of `LegErrors`; default: none.
        frames: of the tracker and of the target; default: those of base and platform.
        measured: components that are measured.
        noise: standard deviations of positions [m], angles [rad] and coordinates.
        seed: of the noise; None for exact values.

    Raises:
        InputError: wrong shapes, numbers out of range, or poses that a leg cannot reach.
    """
    as_instance(machine, "machine", MachineModel)
    names = as_array(measured, "measured").ravel().tolist()
    measured_components = [one_of(name, "measured", POSE_COMPONENTS) for name in names]
    if not measured_components:
        raise InputError("measured", f"must be one or more of {', '.join(POSE_COMPONENTS)}")
    deviations = as_vector(noise, "noise", 3)
    check_noise(deviations)
    legs, n_constraints = LegErrors(machine), 6 - machine.dof
    values = np.zeros(legs.shape) if errors is None else as_floats(errors, "errors")
    if values.shape != legs.shape:
        raise InputError("errors", f"must have shape {legs.shape}, got {values.shape}")
    at, true_legs = np.atleast_2d(as_pose(poses, "poses")), legs_with(legs, values)
    if at.ndim != 2:
        raise InputError("poses", f"must be (m, 7), got {np.shape(poses)}")
    if n_constraints:
        at = nearest_allowed(true_legs, at)
        check_nearest(true_legs, at)
    true_coordinates = geometry(true_legs, at, n_constraints).values[:, : machine.n_actuators]
    coordinates = true_coordinates - values[:, -1]  # the last error is the offset
    if not np.isfinite(coordinates).all():
        raise InputError("poses", "a leg cannot reach one of them")
    measured_poses = as_instance(Frames() if frames is None else frames, "frames", Frames).measured(
        at
    )
    if seed is not None:
        random = np.random.default_rng([whole_number(seed, "seed", 0), NOISE_STREAM])
        noise_of_poses = random.normal(size=(len(at), 6)) * np.repeat(deviations[:2], 3)
        measured_poses = displaced(measured_poses, noise_of_poses)
        coordinates = coordinates + deviations[2] * random.normal(size=coordinates.shape)
    components = np.hstack([measured_poses[:, :3], angles_from_quaternion(measured_poses[:, 3:])])
    is_measured = [name in measured_components for name in POSE_COMPONENTS]
    components = np.where(is_measured, components, np.nan)
    noise_rows, numbers = np.tile(deviations, (len(at), 1)), np.arange(1.0, len(at) + 1.0)
    return MeasuredPoses(coordinates, components, noise_rows, numbers, at)


def poses_within(machine: MachineModel, count: int, seed: int = 0) -> FloatArray:
    """Return poses `(count, 7)` on straight ways from home: half at limits, half before them.

    Raises:
        InputError: not a machine, or a count or seed that is no whole number from 0.
    """
    as_instance(machine, "machine", MachineModel)
    whole_number(count, "count", 0)
    whole_number(seed, "seed", 0)
    random, admissible = np.random.default_rng(seed), Admissible(machine, machine.home)
    size = machine.parameters.mean_arm
    travel_directions = random.normal(size=(count, 6))
    travel_directions *= (
        size * np.repeat([1.0, 1.0 / size], 3) / np.linalg.norm(travel_directions, axis=1)[:, None]
    )

    def at(shares: FloatArray) -> FloatArray:
        return machine.constrain(displaced(machine.home, shares[:, None] * travel_directions)).pose

    inside_radius, outside_radius = np.zeros(count), np.full(count, 2.0)
    for _ in range(MAX_HALVINGS):
        radius = 0.5 * (inside_radius + outside_radius)
        poses = at(radius)
        is_inside = admissible.inside(poses)
        is_inside[is_inside] = joints_allow(machine, poses[is_inside])
        inside_radius = np.where(is_inside, radius, inside_radius)
        outside_radius = np.where(is_inside, outside_radius, radius)
    # The square root shifts the random poses towards the limits.
    radius_fraction = random.random(count) ** 0.5
    return at(inside_radius * np.where(np.arange(count) % 2, LIMIT_FRACTION, radius_fraction))


def joints_allow(machine: MachineModel, poses: FloatArray) -> BoolArray:
    """Return whether `(m,)` all joints with a limit keep it at poses `(m, 7)` in reach."""
    is_allowed = np.ones(len(poses), dtype=bool)
    if not len(poses):
        return is_allowed
    leg_directions = directions(machine, leg_points(machine, poses))
    home = directions(machine, leg_points(machine, machine.home[None]))
    for field in JOINT_NAMES:
        direction, neutral = getattr(leg_directions, field), getattr(home, field)
        for number, leg in enumerate(machine.parameters.legs):
            limit = getattr(leg, field, None)
            if direction is None or limit is None:
                continue
            rest = neutral[0, number] if limit.neutral is None else np.array(limit.neutral)
            is_allowed &= angle_between(direction[:, number], rest) <= limit.maximum_angle
    return is_allowed
