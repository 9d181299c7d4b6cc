"""Entries of matrices over several states: zero, constant, varying."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.papers.formulations.matrices import CoefficientMatrices, coriolis
from twin.papers.formulations.model import extended_joints
from twin.validation.measures.sampling import random_states

STATES = 4

ZERO, CONSTANT = 1e-8, 1e-8
"""Largest entry, and largest change of an entry, relative to the largest of the matrix, that
differences of eq. (15) leave of nothing."""


class Structure(NamedTuple):
    """One matrix at several states."""

    values: FloatArray
    """`(states, m, k)`"""

    @property
    def kinds(self) -> FloatArray:
        """0 where an entry is zero, 1 where it is constant, 2 where it varies `(m, k)`."""
        size = np.abs(self.values).max()
        filled = np.abs(self.values).max(axis=0) > ZERO * size
        varies = np.ptp(self.values, axis=0) > CONSTANT * size
        return np.asarray(filled.astype(float) + (filled & varies))

    @property
    def filled(self) -> int:
        """Number of entries other than zero."""
        return int(np.count_nonzero(self.kinds))

    @property
    def constant(self) -> int:
        """Number of entries that are constant and not zero."""
        return int((self.kinds == 1.0).sum())

    @property
    def share(self) -> float:
        """Share of entries other than zero."""
        return self.filled / self.kinds.size


class Structures(NamedTuple):
    """The matrices of tables 1, 2 and 4 and of figure 6, and the states that they are taken at."""

    extended_mass: Structure
    extended_coriolis: Structure
    configuration_mass: Structure
    configuration_coriolis: Structure
    closure: Structure
    rates: FloatArray
    """`(states, 24)` of the extended coordinates"""
    leg_forces: FloatArray
    """`(states, 18)` Coriolis and centrifugal forces of the legs by the formulations"""
    configuration_forces: FloatArray
    """`(states, 18)` those of the configuration space"""
    kinetic: FloatArray
    """`(states,)` [J] of the reference"""


def structures(platform: Platform) -> Structures:
    """Return the matrices at random states with closed loops."""
    matrices, states = CoefficientMatrices(platform), random_states(platform, STATES, seed=23)
    found: tuple[list[FloatArray], ...] = ([], [], [], [], [], [], [], [])
    for pose, twist in zip(states.pose, states.twist, strict=True):
        at = matrices.coordinates(pose)
        rates = extended_rates(platform, pose, twist)
        parts = (
            matrices.extended_mass(at),
            coriolis(matrices.extended_mass, at, rates),
            matrices.configuration_mass(at[6:]),
            coriolis(matrices.configuration_mass, at[6:], rates[6:]),
            matrices.closure(at[6:]),
            rates,
            matrices.leg_forces(at[6:], rates[6:]),
            matrices.configuration_forces(at[6:], rates[6:]),
        )
        for one, part in zip(found, parts, strict=True):
            one.append(part)
    arrays = [np.stack(one) for one in found]
    kinetic = platform.energy(states.pose, states.twist)[0]
    extended, moving, configuration, swinging, closing = (Structure(part) for part in arrays[:5])
    rates, legs, forces = arrays[5:]
    return Structures(
        extended, moving, configuration, swinging, closing, rates, legs, forces, kinetic
    )


def extended_rates(platform: Platform, pose: FloatArray, twist: FloatArray) -> FloatArray:
    """Return the rates `(24,)` of position, Rodrigues parameters and joint coordinates."""
    parameters, omega = pose[4:] / pose[3], twist[3:]
    turning = omega + np.cross(omega, parameters) + parameters * (parameters @ omega)
    joints = extended_joints(platform, platform.leg_coordinates(pose, twist).rates)
    return np.concatenate([twist[:3], 0.5 * turning, joints.ravel()])
