"""Random states of any machine inside its leg limits, and forces that hold it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.arrays import FloatArray
from twin.errors import InputError
from twin.motion.quaternions import quaternion_product
from twin.platform import REST, Platform
from twin.rotations import quaternion_from_angles

DRAWS = 4096
ROUNDS = 40

WORST_CONDITION = 10.0
"""Poses worse conditioned than this times home are left out: there the answer itself loses digits,
whoever computes it."""

LARGEST_TWIST = np.array([0.5, 0.5, 0.5, 1.0, 1.0, 1.0])
"""[m/s], [rad/s] of random states: a few times what a motion platform does."""

STANDARD_GRAVITY = 9.80665
"""[m/s2]"""

LARGEST_ACCELERATION = np.array([10.0, 10.0, 10.0, 20.0, 20.0, 20.0])
"""[m/s2], [rad/s2] of random states."""


class RandomStates(NamedTuple):
    """States with accelerations, all leg lengths inside their limits."""

    pose: FloatArray
    """`(count, 7)`"""
    twist: FloatArray
    """`(count, 6)`"""
    acceleration: FloatArray
    """`(count, 6)`"""


def moved(pose: FloatArray, twist: FloatArray, time: float) -> FloatArray:
    """Return poses `(m, 7)` after `time` [s] at constant velocities `(m, 6)`."""
    turn = quaternion_from_angles(twist[:, 3:] * time, "rotation_vector")
    return np.hstack([pose[:, :3] + twist[:, :3] * time, quaternion_product(turn, pose[:, 3:])])


def random_states(platform: Platform, count: int, seed: int = 0) -> RandomStates:
    """Return random states about home, the same ones for the same seed.

    Raises:
        InputError: hardly any pose about home is inside the limits.
    """
    generator = np.random.default_rng(seed)
    stroke = platform.parameters.leg.actuator.stroke
    reach = np.repeat([0.6 * stroke, 0.6 * stroke / platform_radius(platform)], 3)
    worst = WORST_CONDITION * float(platform.condition_number(platform.home))
    home = np.tile(platform.home, (DRAWS, 1))
    kept: list[FloatArray] = []
    for attempt in range(ROUNDS):
        # Homes at the edge of the limits are reached by smaller and smaller excursions.
        step = generator.uniform(-1.0, 1.0, (DRAWS, 6)) * reach * 0.9**attempt
        poses = moved(home, step, 1.0)
        fit = platform.within_limits(poses) & (platform.condition_number(poses) < worst)
        kept.append(poses[fit])
        if sum(map(len, kept)) >= count:
            break
    else:
        raise InputError(
            "home", f"{platform.name}: hardly any pose about home is inside the leg limits"
        )
    pose = np.concatenate(kept)[:count]
    twist = generator.uniform(-1.0, 1.0, (count, 6)) * LARGEST_TWIST
    acceleration = generator.uniform(-1.0, 1.0, (count, 6)) * LARGEST_ACCELERATION
    return RandomStates(pose, twist, acceleration)


def platform_radius(platform: Platform) -> float:
    """Return the mean distance [m] of the platform joints from the reference point."""
    return float(np.linalg.norm(platform.platform_joints, axis=1).mean())


def holding_forces(platform: Platform) -> FloatArray:
    """Return the forces `(n,)` [N] that hold the machine still at home."""
    return platform.inverse_dynamics(platform.home, REST, REST)


def typical_force(platform: Platform) -> float:
    """Return the mean holding force [N]; without gravity what lifts the machine at 1 g."""
    forces = holding_forces(platform)
    if not forces.any():
        forces = platform.inverse_dynamics(
            platform.home, REST, [0.0, 0.0, STANDARD_GRAVITY, *REST[:3]]
        )
    return float(np.abs(forces).mean())
