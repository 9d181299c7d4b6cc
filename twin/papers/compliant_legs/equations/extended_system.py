"""All unknowns at once: platform, leg coordinates and joint reactions, 6 + 7n of them (48).

The legs come from `leg_equations`, in angles, and nothing of `leg_rows` is used: an independent way
to the accelerations of `solve_free`.

Reference: compliant-leg paper, section 1.10: 24 unknowns, or 48 with the legs' coordinates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.quaternions import cross_matrix, rotation_matrix
from twin.papers.compliant_legs.equations.leg_equations import angles_of, leg_functions
from twin.papers.compliant_legs.equations.rows import (
    platform_forces,
    platform_mass_matrix,
)
from twin.papers.compliant_legs.machine import CompliantMachine
from twin.papers.compliant_legs.state import checked_state, solved, tip_matrices


class ExtendedSolution(NamedTuple):
    """Accelerations and reactions of one state."""

    acceleration: FloatArray
    """`(6,)` of the platform"""
    coordinates: FloatArray
    """Second derivatives `(n, 4)` of (first, second, delta1, delta2)"""
    reactions: FloatArray
    """`(n, 3)` [N] on the legs' tips, base axes"""


def solve_extended(
    machine: CompliantMachine,
    pose: Any,
    twist: Any,
    deflection: Any,
    forces: Any,
    wrench: Any = None,
) -> ExtendedSolution:
    """Return the accelerations of one state from the legs' Lagrangian.

    Args:
        machine: the machine.
        pose: `(7,)`.
        twist: `(6,)`.
        deflection: `(2n,)` deflections and their rates [m, m/s].
        forces: `(n,)` [N] actuator forces.
        wrench: `(6,)` [N, N m], base axes; default zero.

    Raises:
        InputError: wrong shapes, not finite, no unit quaternion.
        MissingDependencyError: sympy is not installed.
    """
    n = machine.n_legs
    _, (poses, twists, deflections, pushes, wrenches) = checked_state(
        machine, pose, twist, deflection, forces=(forces, n), wrench=(wrench, 6)
    )
    size = 6 + 7 * n
    matrix, right_side = np.zeros((size, size)), np.zeros(size)
    matrix[:6, :6] = platform_mass_matrix(machine, poses)[0]
    right_side[:6] = (platform_forces(machine, poses, twists) + wrenches)[0]
    for i in range(n):
        tips, centripetal, leg = _leg(machine, i, poses[0], twists[0], deflections[0])
        mass, bias, jacobian, drift = leg
        own = slice(6 + 4 * i, 10 + 4 * i)
        joint = slice(6 + 4 * n + 3 * i, 9 + 4 * n + 3 * i)
        matrix[:6, joint], matrix[joint, :6] = tips.T, tips
        matrix[own, own], matrix[own, joint], matrix[joint, own] = mass, -jacobian.T, -jacobian
        right_side[own] = [0.0, 0.0, 0.0, pushes[0, i]] - bias
        right_side[joint] = drift - centripetal
    found = solved(matrix, right_side)
    return ExtendedSolution(
        found[:6], found[6 : 6 + 4 * n].reshape(n, 4), found[6 + 4 * n :].reshape(n, 3)
    )


def _leg(
    machine: CompliantMachine, i: int, pose: FloatArray, twist: FloatArray, deflection: FloatArray
) -> tuple[FloatArray, FloatArray, tuple[FloatArray, ...]]:
    """Return tip matrix, centripetal acceleration, and the leg's terms with tips in base axes."""
    arm = rotation_matrix(pose[..., 3:]) @ machine.platform_joints[i]
    tips = tip_matrices(arm)
    spin = cross_matrix(twist[3:])
    frame = _home_frame(machine, i)
    vector = frame.T @ (pose[:3] + arm - machine.base_joints[i])
    length = np.linalg.norm(vector)
    extension = length - machine.fixed_length[i] - deflection[i]
    coordinates = [*angles_of(vector / length), deflection[i], extension]
    constants = [
        machine.spring_mass[i],
        machine.housing_mass[i],
        machine.follower_mass[i],
        machine.spring_length[i] / 2.0,
        machine.housing_length[i],
        machine.follower_start[i],
        machine.follower_length[i],
        machine.stiffness[i],
        machine.damping[i],
        *(frame.T @ machine.weight_direction),
    ]
    functions = leg_functions()
    still = (coordinates, np.zeros(4), constants)
    jacobian = functions.tip_jacobian(*still)
    # Three rates follow from the tip's velocity once that of the deflection is known.
    rates = np.zeros(4)
    rates[2] = deflection[machine.n_legs + i]
    velocity = frame.T @ tips @ twist - jacobian[:, 2] * rates[2]
    rates[[0, 1, 3]] = np.linalg.solve(jacobian[:, [0, 1, 3]], velocity)
    moving = (coordinates, rates, constants)
    return (
        tips,
        spin @ spin @ arm,
        (
            functions.mass_matrix(*moving),
            functions.bias(*moving)[:, 0],
            frame @ jacobian,
            frame @ functions.tip_bias(*moving)[:, 0],
        ),
    )


def _home_frame(machine: CompliantMachine, i: int) -> FloatArray:
    """Return the rotation `(3, 3)` leg's frame to base: z along the leg at home."""
    home = machine.home
    tip = home[:3] + rotation_matrix(home[3:]) @ machine.platform_joints[i]
    along = tip - machine.base_joints[i]
    along = along / np.linalg.norm(along)
    side = np.cross(np.eye(3)[np.argmin(np.abs(along))], along)
    side = side / np.linalg.norm(side)
    return np.stack([side, np.cross(along, side), along], axis=1)
