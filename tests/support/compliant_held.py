"""The compliant machine under constant actuator forces: motion, equilibrium, small motions."""

from __future__ import annotations

from typing import Any

import numpy as np
from tolerance import max_abs

from twin.basics.arrays import FloatArray
from twin.papers.compliant_legs.equations import solve_free
from twin.papers.compliant_legs.machine import (
    NO_LOAD,
    CompliantMachine,
    Load,
    checked_state,
    dot,
    least_squares,
    leg_state,
    wrench_in_base,
)
from twin.papers.compliant_legs.responses import (
    CompliantMotion,
    integrated,
    normalised,
    pose_rate,
)
from twin.papers.compliant_legs.rest import (
    Equilibrium,
    Linearisation,
    StaticForces,
    locked_deflection,
    platform_and_legs,
    static_forces,
)


def power(
    machine: CompliantMachine,
    pose: Any,
    twist: Any,
    deflection: Any,
    forces: Any,
    wrench: Any = None,
) -> FloatArray:
    """Return the rate `(...)` [W] at which actuators, wrench and dampers change the energy."""
    n = machine.n_legs
    shape, (poses, twists, deflections, pushes, wrenches) = checked_state(
        machine, pose, twist, deflection, forces=(forces, n), wrench=(wrench, 6)
    )
    legs = leg_state(machine, poses, twists, deflections)
    driven = pushes * (legs.length_rate - legs.deflection_rate)
    lost = machine.damping * legs.deflection_rate**2
    return np.asarray((driven - lost).sum(axis=-1) + dot(wrenches, twists)).reshape(shape)


def free_motion(
    machine: CompliantMachine,
    time: Any,
    pose: Any,
    twist: Any = None,
    deflection: Any = None,
    forces: Any = None,
    load: Load = NO_LOAD,
) -> CompliantMotion:
    """Return the motion under constant actuator forces from a state `(7,)`, `(6,)`, `(2n,)`."""
    n = machine.n_legs
    _, arrays = checked_state(machine, pose, twist, deflection, forces=(forces, n))
    start = np.concatenate([part[0] for part in arrays[:3]])

    def change(state: FloatArray) -> FloatArray:
        poses, twists, deflections = np.split(state, [7, 13], axis=-1)
        poses = normalised(poses)
        found = solve_free(
            machine, poses, twists, deflections, arrays[3], wrench_in_base(load, poses)
        )
        rates = [deflections[:, n:], found.deflection_acceleration]
        return np.hstack([pose_rate(poses, twists), found.acceleration, *rates])

    times = np.asarray(time, dtype=float)
    pose, twist, deflection = np.split(integrated(change, times, start[None])[0], [7, 13], axis=-1)
    return CompliantMotion(times, normalised(pose), twist, deflection)


def held_equilibrium(machine: CompliantMachine, pose: Any, given: Load = NO_LOAD) -> Equilibrium:
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


def _held(
    machine: CompliantMachine, pose: FloatArray, forces: FloatArray, given: Load
) -> tuple[FloatArray, StaticForces]:
    """Return the deflections under given actuator forces, and all forces with them."""
    relaxed = static_forces(machine, pose, np.zeros(machine.n_legs), forces, given)
    deflection = relaxed.springs / machine.stiffness
    return deflection, static_forces(machine, pose, deflection, forces, given)


def held_linearisation(machine: CompliantMachine, at: Equilibrium) -> Linearisation:
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
