"""Poses all over the workspace, inside the limits of actuators and joints."""

from __future__ import annotations

import numpy as np

from twin.analysis.feasibility.joint_angles import JOINTS, angle_between, directions
from twin.analysis.feasibility.leg_points import leg_points
from twin.analysis.workspace.admissible import Admissible
from twin.basics.arrays import BoolArray, FloatArray, as_instance, whole_number
from twin.model.machine_model import MachineModel
from twin.rotations import displaced

HALVINGS = 30
"""Of a straight way from home, until a limit is met."""

EDGE = 0.98
"""Of the way to the limit: where half of the poses are."""


def poses_within(machine: MachineModel, count: int, seed: int = 0) -> FloatArray:
    """Return poses `(count, 7)` on straight ways from home: half at limits, half before them.

    Raises:
        InputError: not a machine, or a count or seed that is no whole number from 0.
    """
    as_instance(machine, "machine", MachineModel)
    whole_number(count, "count", 0)
    whole_number(seed, "seed", 0)
    random, inside = np.random.default_rng(seed), Admissible(machine, machine.home)
    size = machine.parameters.mean_arm
    ways = random.normal(size=(count, 6))
    ways *= size * np.repeat([1.0, 1.0 / size], 3) / np.linalg.norm(ways, axis=1)[:, None]

    def at(shares: FloatArray) -> FloatArray:
        return machine.constrain(displaced(machine.home, shares[:, None] * ways)).pose

    low, high = np.zeros(count), np.full(count, 2.0)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        poses = at(middle)
        good = inside.inside(poses)
        good[good] = joints_allow(machine, poses[good])
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    inner = random.random(count) ** 0.5
    return at(low * np.where(np.arange(count) % 2, EDGE, inner))


def joints_allow(machine: MachineModel, poses: FloatArray) -> BoolArray:
    """Return whether `(m,)` all joints with a limit keep it at poses `(m, 7)` in reach."""
    good = np.ones(len(poses), dtype=bool)
    if not len(poses):
        return good
    now = directions(machine, leg_points(machine, poses))
    home = directions(machine, leg_points(machine, machine.home[None]))
    for field in JOINTS:
        present, neutral = getattr(now, field), getattr(home, field)
        for number, leg in enumerate(machine.parameters.legs):
            limit = getattr(leg, field, None)
            if present is None or limit is None:
                continue
            middle = neutral[0, number] if limit.neutral is None else np.array(limit.neutral)
            good &= angle_between(present[:, number], middle) <= limit.maximum_angle
    return good
