"""Small motions about an equilibrium: mass, damping and stiffness matrices.

Actuators locked (six degrees of freedom, the displacement of the platform): each deflection follows
the leg's length, delta1 = J displacement, and

    K = J^T k J + K_preload,   C = J^T B J,   M = M_platform + sum G^T (E + (m1/4 + m2) n n^T) G.

K_preload comes from turning the forces of the equilibrium: gravity on legs and platform, and spring
forces that are not zero. Without them, zero gravity and no deflection, K = J^T k J exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.compliant_legs.equations.leg_rows import leg_rows
from twin.papers.compliant_legs.equations.platform_rows import platform_mass_matrix
from twin.papers.compliant_legs.machine import CompliantMachine
from twin.papers.compliant_legs.rest.equilibrium import Equilibrium
from twin.papers.compliant_legs.rest.statics import locked_stiffness, static_forces
from twin.papers.compliant_legs.state import leg_state
from twin.papers.compliant_legs.vectors import tip_matrices


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
