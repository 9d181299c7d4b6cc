"""Equilibrium of a machine at home: holding forces, spring deflection, fastest free motion."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.model.motions import REST
from twin.model.static_deflection import static_deflection
from twin.validation.measures.metrics import largest
from twin.validation.measures.sampling import moved, stroke

STANDARD_GRAVITY = 9.80665
"""[m/s2]"""

SPRING_SHARE = 0.01
"""Force of a leg's spring that counts, as its yield per stroke: less does not move the machine."""

OFFSET_SHARE = 0.1
"""Of the mean holding force; motions stay well inside the stroke."""

OFFSET_STEP = 1e-5
"""[m], [rad], [m/s], [rad/s] of the differences that linearise the motion about rest."""


class Rest(NamedTuple):
    """Forces and deflection that keep a machine at rest at home."""

    forces: FloatArray
    """`(n,)` of the actuators"""
    deflection: FloatArray
    """`(2k,)` deflections of springs, and their rates, which are zero"""


@lru_cache(maxsize=32)
def rest(platform: Platform) -> Rest:
    """Return the forces and the deflection that keep a machine at rest at home.

    Raises:
        StateError: the springs in the legs have no equilibrium.
    """
    deflection = static_deflection(platform, platform.home, REST, REST)
    forces = platform.inverse_dynamics(platform.home, REST, REST, deflection=deflection)
    return Rest(forces, deflection)


def typical_force(platform: Platform) -> float:
    """Return the mean holding force [N, N m]; without gravity what lifts the machine at 1 g.

    Legs with stiff springs need more to be moved: at least what yields a hundredth of the stroke.
    """
    forces = rest(platform).forces
    if not forces.any():
        lift = platform.constrain(platform.home, REST, [0.0, 0.0, STANDARD_GRAVITY, *REST[:3]])
        forces = platform.inverse_dynamics(*lift)
    axial = [getattr(leg, "axial", None) for leg in platform.parameters.legs]
    stiffest = max((spring.stiffness for spring in axial if spring is not None), default=0.0)
    return max(float(np.abs(forces).mean()), SPRING_SHARE * stiffest * stroke(platform))


def offset_force(platform: Platform) -> float:
    """Return a tenth of the typical force [N, N m]: it moves a machine by centimetres in 0.3 s."""
    return OFFSET_SHARE * typical_force(platform)


@lru_cache(maxsize=32)
def fastest_rate(platform: Platform) -> float:
    """Return the largest eigenvalue [1/s] of the motion about rest at home, by its size."""
    return largest(free_rates(platform))


def free_rates(platform: Platform) -> FloatArray:
    """Return the sizes [1/s] of all eigenvalues of the motion about rest at home, rising."""
    k = platform.n_deflections
    size = 6 + k
    start = rest(platform)

    def accelerations(offset: FloatArray) -> FloatArray:
        """Return accelerations `(m, size)` after offsets `(m, 2 size)` of the state at rest."""
        shift, rate = offset[:, :6], offset[:, size : size + 6]
        home = np.tile(platform.home, (len(offset), 1))
        motion = platform.constrain(moved(home, shift, 1.0), rate)
        inside = start.deflection + np.hstack([offset[:, 6:size], offset[:, size + 6 :]])
        forces = np.tile(start.forces, (len(offset), 1))
        return platform.forward_dynamics(motion.pose, motion.twist, forces, deflection=inside)

    offsets = OFFSET_STEP * np.eye(2 * size)
    slopes = (accelerations(offsets) - accelerations(-offsets)).T / (2.0 * OFFSET_STEP)
    matrix = np.block([[np.zeros((size, size)), np.eye(size)], [slopes]])
    return np.sort(np.abs(np.linalg.eigvals(matrix)))
