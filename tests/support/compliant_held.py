"""The compliant machine at rest under constant actuator forces."""

from __future__ import annotations

import numpy as np
from tolerance import max_abs

from twin.papers.compliant_legs.machine import (
    NO_LOAD,
    least_squares,
)
from twin.papers.compliant_legs.rest import (
    Equilibrium,
    Linearisation,
    locked_deflection,
    platform_and_legs,
    static_forces,
)


def held_equilibrium(machine, pose, given=NO_LOAD):
    """Return the smallest actuator forces and the deflections at rest at a pose `(7,)`."""
    place, n = np.asarray(pose, dtype=float), machine.n_legs
    # The platform's forces are affine in the actuators': deflections follow from the springs.
    passive = _held(machine, place, np.zeros(n), given)[1]
    share = passive.jacobian.T - passive.platform_by_deflection / machine.stiffness
    forces = least_squares(share, -passive.platform)
    deflection, at = _held(machine, place, forces, given)
    assert max_abs(at.platform) < 1e-9 * (1.0 + max_abs(passive.platform))
    extension = locked_deflection(machine, place, deflection)
    return Equilibrium(place, deflection, extension, forces, -at.joints, given)


def _held(machine, pose, forces, given):
    """Return the deflections under given actuator forces, and all forces with them."""
    relaxed = static_forces(machine, pose, np.zeros(machine.n_legs), forces, given)
    deflection = relaxed.springs / machine.stiffness
    return deflection, static_forces(machine, pose, deflection, forces, given)


def held_linearisation(machine, at):
    """Return the small motions of platform and deflections under constant actuator forces.

    They have 6 + n degrees of freedom: the springs push the masses m1 and m2 against the actuator's
    force only, and the platform's stiffness is that of the preload.
    """
    forces = static_forces(machine, at.pose, at.deflection, at.forces, at.load)
    size = 6 + machine.n_legs
    mass, damping, stiffness = (np.zeros((size, size)) for _ in range(3))
    mass[:6, :6] = platform_and_legs(machine, at)
    mass[6:, 6:] = np.diag(machine.deflecting_mass)
    damping[6:, 6:] = np.diag(machine.damping)
    stiffness[:6, :6] = -forces.platform_by_displacement
    stiffness[:6, 6:] = -forces.platform_by_deflection
    stiffness[6:, :6] = -forces.platform_by_deflection.T
    stiffness[6:, 6:] = np.diag(machine.stiffness)
    return Linearisation(mass, damping, stiffness)
