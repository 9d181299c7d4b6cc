"""The compliant machine in motion, and under constant actuator forces."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from tolerance import max_abs

from twin.basics.arrays import FloatArray, cross
from twin.papers.compliant_legs.equations import solve_free, solve_locked
from twin.papers.compliant_legs.machine import (
    NO_LOAD,
    checked_state,
    dot,
    least_squares,
    leg_state,
    wrench_in_base,
)
from twin.papers.compliant_legs.rest import (
    Equilibrium,
    Linearisation,
    locked_deflection,
    platform_and_legs,
    static_forces,
)

RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-10, 1e-12


class CompliantMotion(NamedTuple):
    """States over time; the first axis is that of several motions, where there are several."""

    time: FloatArray
    """`(steps,)` [s]"""
    pose: FloatArray
    """`(..., steps, 7)` of the platform in the base"""
    twist: FloatArray
    """`(..., steps, 6)` of the platform, base axes [m/s, rad/s]"""
    deflection: FloatArray
    """Deflections and their rates `(..., steps, 2n)` [m, m/s]"""


def locked_motions(
    machine,
    time,
    extension,
    pose,
    loads=(NO_LOAD,),
    twist=None,
):
    """Return the motions with locked actuators, one for each load, from the same state.

    Deflections follow from the pose, so the extensions stay where they are to rounding.

    Args:
        machine: the machine.
        time: times to report `(steps,)` [s], ascending; the state belongs to the first.
        extension: delta2 of the locked actuators `(n,)` [m].
        pose: `(7,)`.
        loads: external loads, at least one.
        twist: `(6,)`; default rest.
    """
    lengths = np.asarray(extension)
    _, (poses, twists, _) = checked_state(machine, pose, twist, None)
    initial_state = np.tile(np.concatenate([poses[0], twists[0]]), (len(loads), 1))

    def change(state):
        poses, twists = normalised(state[:, :7]), state[:, 7:]
        deflection = locked_states(machine, poses, twists, lengths)
        wrenches = np.array([*map(wrench_in_base, loads, poses)])
        solution = solve_locked(machine, poses, twists, deflection, wrenches)
        return np.hstack([pose_rate(poses, twists), solution.acceleration])

    states = integrated(change, time, initial_state)
    poses, twists = normalised(states[..., :7]), states[..., 7:]
    locked_state = locked_states(machine, poses.reshape(-1, 7), twists.reshape(-1, 6), lengths)
    return CompliantMotion(time, poses, twists, locked_state.reshape((*poses.shape[:-1], -1)))


def locked_states(machine, pose, twist, extension):
    """Return the deflection states `(batch, 2n)` with actuators at fixed extensions `(n,)`."""
    legs = leg_state(machine, pose, twist, np.zeros((len(pose), 2 * machine.n_legs)))
    return np.hstack([legs.extension - extension, legs.length_rate])


def pose_rate(pose, twist):
    """Return the time derivatives `(batch, 7)` of poses with twists `(batch, 6)`."""
    scalar, vector, omega = pose[:, 3:4], pose[:, 4:], twist[:, 3:]
    scalar_rate = -(vector * omega).sum(axis=1, keepdims=True)
    return np.hstack(
        [twist[:, :3], scalar_rate / 2.0, (scalar * omega + cross(omega, vector)) / 2.0]
    )


def normalised(pose):
    """Return poses `(..., 7)` with quaternions of norm one."""
    norm = np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
    return np.concatenate([pose[..., :3], pose[..., 3:] / norm], axis=-1)


def integrated(change, time, start):
    """Return the states `(motions, steps, size)` from `start` `(motions, size)`."""
    result = solve_ivp(
        lambda _, state: change(state.reshape(start.shape)).ravel(),
        (time[0], time[-1]),
        start.ravel(),
        method="DOP853",
        t_eval=time,
        rtol=RELATIVE_TOLERANCE,
        atol=ABSOLUTE_TOLERANCE,
    )
    assert result.success, result.message
    return np.moveaxis(result.y.reshape((*start.shape, -1)), -1, 1)


def power(machine, pose, twist, deflection, forces, wrench=None):
    """Return the rate `(...)` [W] at which actuators, wrench and dampers change the energy."""
    n = machine.n_legs
    shape, (poses, twists, deflections, pushes, wrenches) = checked_state(
        machine, pose, twist, deflection, forces=(forces, n), wrench=(wrench, 6)
    )
    legs = leg_state(machine, poses, twists, deflections)
    driven = pushes * (legs.length_rate - legs.deflection_rate)
    lost = machine.damping * legs.deflection_rate**2
    return np.asarray((driven - lost).sum(axis=-1) + dot(wrenches, twists)).reshape(shape)


def free_motion(machine, time, pose, twist=None, deflection=None, forces=None, load=NO_LOAD):
    """Return the motion under constant actuator forces from a state `(7,)`, `(6,)`, `(2n,)`."""
    n = machine.n_legs
    _, arrays = checked_state(machine, pose, twist, deflection, forces=(forces, n))
    start = np.concatenate([part[0] for part in arrays[:3]])

    def change(state):
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
