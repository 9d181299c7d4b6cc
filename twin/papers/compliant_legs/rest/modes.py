"""Small motions about an equilibrium: matrices, natural frequencies, damping ratios, shapes.

Actuators locked (six degrees of freedom, the displacement of the platform): each deflection follows
the leg's length, delta1 = J displacement, and

    K = J^T k J + K_preload,   C = J^T B J,   M = M_platform + sum G^T (E + (m1/4 + m2) n n^T) G.

K_preload comes from turning the forces of the equilibrium: gravity on legs and platform, and spring
forces that are not zero. Without them, zero gravity and no deflection, K = J^T k J exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics import canonical
from twin.basics.arrays import ComplexArray, FloatArray
from twin.papers.compliant_legs.equations.rows import leg_rows, platform_mass_matrix
from twin.papers.compliant_legs.machine import CompliantMachine
from twin.papers.compliant_legs.rest.statics import Equilibrium, locked_stiffness, static_forces
from twin.papers.compliant_legs.state import leg_state, tip_matrices


class Linearisation(NamedTuple):
    """M x'' + C x' + K x = forces, for displacements and deflections from an equilibrium."""

    mass: FloatArray
    """`(size, size)`"""
    damping: FloatArray
    """`(size, size)`"""
    stiffness: FloatArray
    """`(size, size)`; not symmetric where a moment of constant direction acts"""


def locked_linearisation(machine: CompliantMachine, at: Equilibrium) -> Linearisation:
    """Return the small motions of the platform about an equilibrium with locked actuators."""
    forces = static_forces(machine, at.pose, at.deflection, at.forces, at.load)
    jacobian = forces.jacobian
    mass = platform_and_legs(machine, at)
    return Linearisation(
        mass + jacobian.T @ (machine.deflecting_mass[:, None] * jacobian),
        jacobian.T @ (machine.damping[:, None] * jacobian),
        locked_stiffness(machine, forces),
    )


def platform_and_legs(machine: CompliantMachine, at: Equilibrium) -> FloatArray:
    """Return the mass matrix `(6, 6)` of platform and legs at constant deflections."""
    deflection = np.concatenate([at.deflection, np.zeros_like(at.deflection)])
    legs = leg_state(machine, at.pose[None], np.zeros((1, 6)), deflection[None])
    tips = tip_matrices(legs.arm[0])
    effective = np.linalg.inv(leg_rows(machine, legs).admittance[0])
    on_platform = np.swapaxes(tips, -1, -2) @ effective @ tips
    return np.asarray(platform_mass_matrix(machine, at.pose[None])[0] + on_platform.sum(axis=0))


class Modes(NamedTuple):
    """Modes of M x'' + C x' + K x = 0, slowest first."""

    frequencies: FloatArray
    """Without damping `(size,)` [Hz]; zero for a mode that does not come back"""
    growth: FloatArray
    """Without damping `(size,)` [1/s]: rate at which such a mode diverges, else zero"""
    shapes: FloatArray
    """Columns `(size, size)`: x of each undamped mode, largest entry one"""
    eigenvalues: ComplexArray
    """Of the damped motion `(2 size,)` [1/s], complex, slowest first"""

    @property
    def damping_ratios(self) -> FloatArray:
        """Damping ratios of the motions that oscillate, in the order of `eigenvalues`."""
        oscillating = self.eigenvalues.imag > 1e-9 * np.abs(self.eigenvalues)
        chosen = self.eigenvalues[oscillating]
        return np.asarray(-chosen.real / np.abs(chosen))

    @property
    def settling_time(self) -> float:
        """Time [s] after which the slowest motion is below 2 %; infinite if one does not settle."""
        slowest = float(self.eigenvalues.real.max())
        return float(np.log(50.0) / -slowest) if slowest < 0.0 else float("inf")


def modes_of(linearisation: Linearisation) -> Modes:
    """Return the modes of small motions about an equilibrium."""
    from scipy.linalg import eig

    mass, damping, stiffness = linearisation
    size = len(mass)
    squared, shapes = eig(stiffness, mass)
    squared, shapes = squared.real, shapes.real
    order = np.argsort(squared)
    squared, shapes = squared[order], shapes[:, order]
    shapes = canonical.modes(squared, shapes)
    shapes = shapes / np.abs(shapes).max(axis=0)
    companion = np.zeros((2 * size, 2 * size))
    companion[:size, size:] = np.eye(size)
    companion[size:] = -np.linalg.solve(mass, np.hstack([stiffness, damping]))
    eigenvalues = np.asarray(np.linalg.eigvals(companion), dtype=np.complex128)
    return Modes(
        np.sqrt(np.maximum(squared, 0.0)) / (2.0 * np.pi),
        np.sqrt(np.maximum(-squared, 0.0)),
        shapes,
        eigenvalues[np.lexsort((eigenvalues.imag, np.abs(eigenvalues)))],
    )
