"""The paper's three linear systems: free actuators, locked actuators, still platform.

Order of the unknowns for n legs; the first two blocks are all of the free system, the first three
those of the locked one:

    acceleration (6)       x'' y'' z'' and angular acceleration, base axes
    joint reactions (3n)   leg 1 x y z, leg 2 x y z, ...: force of the platform on the leg's tip
    actuator forces (n)    extension positive
    rest lengths (n)       2 l1

Order of the equations: platform (6), equal accelerations of tips and platform joints (3n, leg by
leg), delta2'' = 0 (n), delta1'' = 0 (n).

Reference: compliant-leg paper, equations (76) to (80).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.compliant_legs.equations.rows import (
    LegRows,
    force_without_spring,
    leg_rows,
    platform_forces,
    platform_mass_matrix,
)
from twin.papers.compliant_legs.machine import CompliantMachine
from twin.papers.compliant_legs.state import LegState, dot, leg_state, tip_matrices


class LinearSystem(NamedTuple):
    """Systems of a batch of states; the order of rows and columns is the module's."""

    matrix: FloatArray
    """`(batch, size, size)`"""
    right_side: FloatArray
    """`(batch, size)`"""
    rows: LegRows
    """The legs' coefficients the system was built from"""
    legs: LegState
    """The legs at the states"""


def free_system(
    machine: CompliantMachine,
    pose: FloatArray,
    twist: FloatArray,
    deflection: FloatArray,
    forces: FloatArray,
    wrench: FloatArray,
) -> LinearSystem:
    """Return the systems of size 6 + 3n (24 for six legs) under given actuator forces.

    Poses `(batch, 7)`, twists and wrenches `(batch, 6)`, deflection states `(batch, 2n)`, forces
    `(batch, n)`.

    Reference: compliant-leg paper, equations (76), (77).
    """
    system = _tips_on_platform(machine, pose, twist, deflection, wrench, 6 + 3 * machine.n_legs)
    pushed = system.rows.actuation * forces[..., None]
    system.right_side[:, 6:] += pushed.reshape(len(pose), -1)
    return system


def locked_system(
    machine: CompliantMachine,
    pose: FloatArray,
    twist: FloatArray,
    deflection: FloatArray,
    wrench: FloatArray,
) -> LinearSystem:
    """Return the systems of size 6 + 4n (30 for six legs): delta2'' = 0, actuator forces unknown.

    Arguments as for `free_system`.

    Reference: compliant-leg paper, equation (78), with (56) corrected.
    """
    system = _tips_on_platform(machine, pose, twist, deflection, wrench, 6 + 4 * machine.n_legs)
    _lock(machine, system, system.rows.deflecting_force)
    return system


def still_system(
    machine: CompliantMachine, pose: FloatArray, extension: FloatArray, wrench: FloatArray
) -> LinearSystem:
    """Return the systems of size 6 + 5n (36 for six legs): rest lengths unknown, nothing moves.

    Poses `(batch, 7)`, extensions delta2 `(batch, n)`, wrenches `(batch, 6)`. Equation (80) makes
    the deflection |L| - l2 - l3 - l4 - delta2 - 2 l1, so that the spring's force, and nothing else,
    depends on the rest length. The equations added are delta1'' = 0: (80) alone would give the rest
    length of a deflection chosen by hand, with which the platform moves.

    Reference: compliant-leg paper, equations (79), (80).
    """
    n = machine.n_legs
    rest = np.zeros((len(pose), 6))
    unstretched = leg_state(machine, pose, rest, np.zeros((len(pose), 2 * n)))
    deflection = unstretched.extension - extension
    states = np.concatenate([deflection, np.zeros_like(deflection)], axis=-1)
    system = _tips_on_platform(machine, pose, rest, states, wrench, 6 + 5 * n)
    stretched = machine.stiffness * (machine.spring_length + deflection)
    driving = force_without_spring(machine, system.legs) - stretched
    _lock(machine, system, driving)
    leg = np.arange(n)
    locked, still = 6 + 3 * n + leg, 6 + 4 * n + leg
    share = machine.follower_mass / machine.deflecting_mass
    system.matrix[:, locked, still] = -share * machine.stiffness
    system.matrix[:, still, locked] = -1.0
    system.matrix[:, still, still] = machine.stiffness
    system.right_side[:, still] = -driving
    return system


def _tips_on_platform(
    machine: CompliantMachine,
    pose: FloatArray,
    twist: FloatArray,
    deflection: FloatArray,
    wrench: FloatArray,
    size: int,
) -> LinearSystem:
    legs = leg_state(machine, pose, twist, deflection)
    rows = leg_rows(machine, legs)
    matrix, right_side = np.zeros((len(pose), size, size)), np.zeros((len(pose), size))
    tips = tip_matrices(legs.arm)
    matrix[:, :6, :6] = platform_mass_matrix(machine, pose)
    right_side[:, :6] = platform_forces(machine, pose, twist) + wrench
    for i in range(machine.n_legs):
        tip = slice(6 + 3 * i, 9 + 3 * i)
        # The platform feels the opposite of the force on the leg: (24) lacks this sign.
        matrix[:, :6, tip] = np.swapaxes(tips[:, i], -1, -2)
        matrix[:, tip, :6] = tips[:, i]
        matrix[:, tip, tip] = -rows.admittance[:, i]
        right_side[:, tip] = rows.drift[:, i] - legs.centripetal[:, i]
    return LinearSystem(matrix, right_side, rows, legs)


def _lock(machine: CompliantMachine, system: LinearSystem, driving: FloatArray) -> None:
    """Add m3 delta2'' = 0 and the actuator forces' columns; `driving` moves m1 / 4 + m2."""
    legs, rows = system.legs, system.rows
    share = machine.follower_mass / machine.deflecting_mass
    for i in range(machine.n_legs):
        tip, force = slice(6 + 3 * i, 9 + 3 * i), 6 + 3 * machine.n_legs + i
        system.matrix[:, tip, force] = -rows.actuation[:, i]
        system.matrix[:, force, tip] = legs.direction[:, i]
        system.matrix[:, force, force] = 1.0 + share[i]
    pull = dot(legs.direction, machine.weight_direction)
    turned = machine.follower_mass * (legs.radii[..., 2] * legs.turning_squared + pull)
    first = 6 + 3 * machine.n_legs
    system.right_side[:, first : first + machine.n_legs] = share * driving - turned
