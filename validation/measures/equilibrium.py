"""Equilibrium of a machine at home: holding forces, spring deflection, fastest free motion."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.errors import SimulationStoppedError
from twin.model.integrate import static_deflection
from twin.model.machine_base import ZERO_VECTOR
from twin.simulation.simulate import simulate
from twin.validation.measures.sampling import (
    MAX_CONDITION_RATIO,
    followed,
    largest,
    moved_poses,
    stroke,
)

STANDARD_GRAVITY = 9.80665
"""[m/s2] Standard gravity."""

SPRING_FRACTION = 0.01
"""Smallest force of a leg's spring that counts, as its deflection relative to the stroke: a smaller
force does not move the machine."""

OFFSET_FRACTION = 0.1
"""Offset of forces as a fraction of the mean holding force, small enough that motions stay inside
the stroke."""

OFFSET_STEP = 1e-5
"""[m], [rad], [m/s], [rad/s] Step of the differences that linearise the motion about rest."""

COMPARED_TIMESTEP = 1e-3
"""[s] Time step of comparisons, for which the limits hold; less in a stiff machine."""

FULL_FALL = 0.3
"""[s] Time to fall by half the length of the legs from which on durations are full."""

DURATION_GRID = 0.02
"""[s] Durations are multiples of this time, so that every time step that is compared divides
them."""

MAX_STEP_RATE = 0.1
"""Largest product of `COMPARED_TIMESTEP` and the fastest rate of the free motion of a machine that
is not stiff."""

STIFF_STEP_RATE = 0.025
"""Largest product of the time step and that rate in a stiff machine: its forces are large compared
with what they move, and the compliance of the engines' constraints shows sooner."""


class Rest(NamedTuple):
    """Forces and deflection that keep a machine at rest at home."""

    forces: FloatArray
    """`(n,)` forces of the actuators"""
    deflection: FloatArray
    """`(2k,)` deflections of springs, and their rates, which are zero"""


@lru_cache(maxsize=32)
def rest(platform: Platform) -> Rest:
    """Return the forces and the deflection that keep a machine at rest at home.

    Raises:
        StateError: the springs in the legs have no equilibrium.
    """
    deflection = static_deflection(platform, platform.home, ZERO_VECTOR, ZERO_VECTOR)
    forces = platform.inverse_dynamics(
        platform.home, ZERO_VECTOR, ZERO_VECTOR, deflection=deflection
    )
    return Rest(forces, deflection)


def typical_force(platform: Platform) -> float:
    """Return the mean holding force [N, N m]; without gravity the force for 1 g.

    Legs with stiff springs need more to be moved: at least what yields a hundredth of the stroke.
    """
    forces = rest(platform).forces
    if not forces.any():
        lifting_motion = platform.constrain(
            platform.home, ZERO_VECTOR, [0.0, 0.0, STANDARD_GRAVITY, *ZERO_VECTOR[:3]]
        )
        forces = platform.inverse_dynamics(*lifting_motion)
    springs = [getattr(leg, "axial", None) for leg in platform.parameters.legs]
    max_stiffness = max((spring.stiffness for spring in springs if spring is not None), default=0.0)
    return max(float(np.abs(forces).mean()), SPRING_FRACTION * max_stiffness * stroke(platform))


def offset_force(platform: Platform) -> float:
    """Return a tenth of the typical force [N, N m]: it moves a machine by centimetres in 0.3 s."""
    return OFFSET_FRACTION * typical_force(platform)


@lru_cache(maxsize=32)
def fastest_rate(platform: Platform) -> float:
    """Return the largest eigenvalue [1/s] of the motion about rest at home, by magnitude."""
    return largest(free_rates(platform))


def free_rates(platform: Platform) -> FloatArray:
    """Return the magnitudes [1/s] of the eigenvalues of free motion at home, in ascending order."""
    k = platform.n_deflections
    rate_count = 6 + k
    start = rest(platform)

    def accelerations(offset: FloatArray) -> FloatArray:
        """Return accelerations `(m, size)` after offsets `(m, 2 size)` of the state at rest."""
        pose_offset, rate = offset[:, :6], offset[:, rate_count : rate_count + 6]
        home = np.tile(platform.home, (len(offset), 1))
        motion = platform.constrain(moved_poses(home, pose_offset, 1.0), rate)
        # Offsets are (pose, deflections, twist, rates of the deflections).
        deflection = start.deflection + np.hstack(
            [offset[:, 6:rate_count], offset[:, rate_count + 6 :]]
        )
        forces = np.tile(start.forces, (len(offset), 1))
        return platform.forward_dynamics(motion.pose, motion.twist, forces, deflection=deflection)

    offsets = OFFSET_STEP * np.eye(2 * rate_count)
    acceleration_rows = (accelerations(offsets) - accelerations(-offsets)).T / (2.0 * OFFSET_STEP)
    matrix = np.block(
        [[np.zeros((rate_count, rate_count)), np.eye(rate_count)], [acceleration_rows]]
    )
    return np.sort(np.abs(np.linalg.eigvals(matrix)))


def stiff_scale(platform: Platform) -> float:
    """Return the time step per `COMPARED_TIMESTEP`: 1, or halved until it follows the motion."""
    rate = COMPARED_TIMESTEP * fastest_rate(platform)
    return (
        1.0 if rate <= MAX_STEP_RATE else float(0.5 ** math.ceil(math.log2(rate / STIFF_STEP_RATE)))
    )


def compared_step(platform: Platform) -> float:
    """Return the time step [s] of comparisons."""
    return COMPARED_TIMESTEP * stiff_scale(platform)


def fall_scale(platform: Platform) -> float:
    """Return the time to fall by half the mean leg length, over `FULL_FALL`, at most 1.

    Motions under gravity and under forces in proportion to it are similar in machines of any size
    when time is measured in sqrt(length / gravity). Legs longer than 0.88 m have 1.
    """
    length = float(np.mean(platform.home_reaches))
    gravity = platform.parameters.gravity
    return min(1.0, math.sqrt(length / gravity) / FULL_FALL) if gravity > 0.0 else 1.0


def time_scale(platform: Platform) -> float:
    """Return the machine's time scale relative to that of a large and soft machine, at most 1.

    Stiff machines are given as many steps, each of them shorter; their weight moves them little.
    """
    return min(stiff_scale(platform), fall_scale(platform))


def duration_for(platform: Platform, longest: float) -> float:
    """Return `longest` [s] times the machine's time scale, down to a multiple of the grid.

    The grid is `DURATION_GRID`, less in a stiff machine by as much as the time step.
    """
    grid = DURATION_GRID * stiff_scale(platform)
    cells = math.floor(longest * time_scale(platform) / grid + 1e-9)
    return max(cells, 1) * grid


def followed_duration(platform: Platform, longest: float, forces: FloatArray) -> float:
    """Return `longest` [s] on the grid, halved until the machine can follow its actuators' forces.

    Forces near those that hold it may still topple it: cranks come into line with their rods, or
    the platform turns into a singular pose, near which every solution loses its digits.

    Args:
        platform: the machine, which starts from rest at home.
        longest: as `duration_for` returns it.
        forces: `(n,)`, or `(steps, n)` at the compared step.
    """
    grid, step = DURATION_GRID * stiff_scale(platform), compared_step(platform)
    cells = max(math.floor(longest / grid + 1e-9), 1)
    while cells > 1 and not _follows(platform, forces, round(cells * grid / step)):
        cells = cells // 2
    return cells * grid


def _follows(platform: Platform, forces: FloatArray, count: int) -> bool:
    """Return whether the reference stays away from singular poses for `count` compared steps."""
    step = compared_step(platform)
    try:
        pose = simulate(
            platform,
            count * step,
            forces=forces[:count] if forces.ndim > 1 else forces,
            deflection=rest(platform).deflection,
            timestep=step,
            progress=False,
        ).pose
    except SimulationStoppedError:
        return False
    if not followed(platform, pose):
        return False
    condition_number = platform.condition_number(pose)
    return bool(condition_number.max() < MAX_CONDITION_RATIO * condition_number[0])


def whole_steps(platform: Platform, duration: float) -> float:
    """Return a duration [s] rounded down to a multiple of the compared step, at least one step."""
    step = compared_step(platform)
    return max(math.floor(duration / step + 1e-9), 1) * step


def step_for(platform: Platform, longest: float) -> float:
    """Return `longest` [s], halved until it is within the machine's time scale times `longest`.

    Gaps of loops grow with different powers of the step, so that settings of an engine compare
    alike on machines of any size only at like steps.
    """
    halvings = math.ceil(-math.log2(time_scale(platform)) - 1e-9)
    return longest / 2.0**halvings
