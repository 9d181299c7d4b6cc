"""Durations and time steps of motions that suit a machine's size and stiffness."""

from __future__ import annotations

import math

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.errors import SimulationStoppedError
from twin.simulation.simulate import simulate
from twin.validation.measures.equilibrium import fastest_rate, rest
from twin.validation.measures.sampling import WORST_CONDITION, followed

TIMESTEP = 1e-3
"""[s] of comparisons, the step the bars are set for; less in a stiff machine."""

FULL_FALL = 0.3
"""[s] Machines that take longer to fall over the length of their legs get the full durations."""

GRID = 0.02
"""[s] Durations are multiples of it, so that every time step that is compared divides them."""

LARGEST_RATE = 0.1
"""Fastest rate of the free motion per `TIMESTEP` that is no stiff machine's."""

STIFF_RATE = 0.025
"""The same per time step of a stiff machine: its forces are large beside what they move, and what
the engines' constraints yield shows sooner."""


def stiff_scale(platform: Platform) -> float:
    """Return the time step per `TIMESTEP`, 1 or halved until it follows the fastest motion."""
    rate = TIMESTEP * fastest_rate(platform)
    return 1.0 if rate <= LARGEST_RATE else float(0.5 ** math.ceil(math.log2(rate / STIFF_RATE)))


def compared_step(platform: Platform) -> float:
    """Return the time step [s] of comparisons."""
    return TIMESTEP * stiff_scale(platform)


def fall_scale(platform: Platform) -> float:
    """Return the time to fall over the mean leg length per `FULL_FALL`, at most 1.

    Motions under gravity and under forces in proportion to it are similar in machines of any size
    when time is measured in sqrt(length / gravity). Legs longer than 0.88 m have 1.
    """
    length = float(np.mean(platform.home_reaches))
    gravity = platform.parameters.gravity
    return min(1.0, math.sqrt(length / gravity) / FULL_FALL) if gravity > 0.0 else 1.0


def time_scale(platform: Platform) -> float:
    """Return the time in which things happen per that of a large and soft machine, at most 1.

    Stiff machines are given as many steps, each of them shorter; their weight moves them little.
    """
    return min(stiff_scale(platform), fall_scale(platform))


def duration_for(platform: Platform, longest: float) -> float:
    """Return `longest` [s] times the machine's time scale, down to a multiple of the grid.

    The grid is `GRID`, less in a stiff machine by as much as the time step.
    """
    grid = GRID * stiff_scale(platform)
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
    grid, step = GRID * stiff_scale(platform), compared_step(platform)
    cells = max(math.floor(longest / grid + 1e-9), 1)
    while cells > 1 and not _follows(platform, forces, round(cells * grid / step)):
        cells = cells // 2
    return cells * grid


def _follows(platform: Platform, forces: FloatArray, count: int) -> bool:
    """Return whether the reference keeps to sound poses for a count of compared steps."""
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
    condition = platform.condition_number(pose)
    return bool(condition.max() < WORST_CONDITION * condition[0])


def whole_steps(platform: Platform, duration: float) -> float:
    """Return a duration [s] down to a multiple of the compared step, one step at least."""
    step = compared_step(platform)
    return max(math.floor(duration / step + 1e-9), 1) * step


def step_for(platform: Platform, longest: float) -> float:
    """Return `longest` [s], halved until it is within the machine's time scale times `longest`.

    Gaps of loops grow with different powers of the step, so that settings of an engine compare
    alike on machines of any size only at like steps.
    """
    halvings = math.ceil(-math.log2(time_scale(platform)) - 1e-9)
    return longest / 2.0**halvings
