"""Reference of the tests: legs with a spring and a damper, from their Lagrangian with sympy.

Reference for one leg (`leg_functions`): sympy derives its equations of motion from the Lagrangian.

Coordinates q = (first, second, delta1, delta2): the leg's direction is turned by `first` about y
and then by `second` about x of a frame of the leg, fixed in the base, whose z is the direction of
the leg at home,

    n = (sin first cos second, -sin second, cos first cos second).

The mass matrix is singular where cos second = 0, a quarter turn away from home. The paper's angles,
azimuth about Z and elevation, are singular for a vertical leg: there cos theta = 0, the azimuth of
(59) has no value and (57) divides by zero.

Reference: compliant-leg paper, equations (29), (30), with the kinetic energy of m3 corrected.

Full system (`solve_extended`): platform, leg coordinates and joint reactions together, 6 + 7n
unknowns (48 for six legs).

Its legs come from `leg_functions`, in angles. It does not use `leg_rows`, so that it checks the
accelerations of `solve_free` independently.

Reference: compliant-leg paper, section 1.10: 24 unknowns, or 48 with the legs' coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest

from twin.basics.arrays import FloatArray, cross_matrix, rotation_matrix
from twin.papers.compliant_legs.equations import platform_forces, platform_mass_matrix
from twin.papers.compliant_legs.machine import (
    checked_state,
    solved,
    tip_matrices,
)

sympy = pytest.importorskip("sympy")

CONSTANT_NAMES = ("m1", "m2", "m3", "l1", "l2", "l3", "l4", "k", "B", "gx", "gy", "gz")
"""Arguments after coordinates and rates; (gx, gy, gz) is gravity in the leg's frame [m/s2]."""


class LegFunctions(NamedTuple):
    """Terms of one leg as functions of (coordinates, rates, constants), all in the leg's frame.

    M q'' + h = (0, 0, 0, F_act) + T^T F_r, tip acceleration = T q'' + t.
    """

    mass_matrix: Callable
    """M `(4, 4)`"""
    bias: Callable
    """h `(4, 1)`: centrifugal and Coriolis terms, gravity, spring and damper"""
    tip: Callable
    """`(3, 1)` [m]"""
    tip_jacobian: Callable
    """T `(3, 4)`"""
    tip_bias: Callable
    """t `(3, 1)` [m/s2]"""


@lru_cache
def leg_functions():
    """Return the equations of motion of one leg, generated from its Lagrangian."""
    names = ("first", "second", "delta1", "delta2")
    q = sympy.Matrix(sympy.symbols(names, real=True))
    rates = sympy.Matrix(sympy.symbols([f"{name}_rate" for name in names], real=True))
    constants = sympy.symbols(CONSTANT_NAMES, real=True)
    m1, m2, m3, l1, l2, l3, l4, k, damping, *gravity = constants
    direction = sympy.Matrix(
        [sympy.sin(q[0]) * sympy.cos(q[1]), -sympy.sin(q[1]), sympy.cos(q[0]) * sympy.cos(q[1])]
    )
    follower = 2 * l1 + q[2] + l2 + l3 + q[3]
    kinetic, potential = 0, k * q[2] ** 2 / 2
    for mass, radius in ((m1, l1 + q[2] / 2), (m2, 2 * l1 + q[2] + l2), (m3, follower)):
        velocity = (radius * direction).jacobian(q) * rates
        kinetic += mass * velocity.dot(velocity) / 2
        potential -= mass * radius * direction.dot(sympy.Matrix(gravity))
    tip = (follower + l4) * direction
    momentum = sympy.Matrix([kinetic]).jacobian(rates).T
    dissipated = damping * rates[2] ** 2 / 2
    bias = (
        momentum.jacobian(q) * rates
        - sympy.Matrix([kinetic - potential]).jacobian(q).T
        + sympy.Matrix([dissipated]).jacobian(rates).T
    )
    jacobian = tip.jacobian(q)
    expressions = (
        momentum.jacobian(rates),
        bias,
        tip,
        jacobian,
        (jacobian * rates).jacobian(q) * rates,
    )
    arguments = (list(q), list(rates), constants)
    return LegFunctions(
        *(
            sympy.lambdify(arguments, expression, modules="numpy", cse=True)
            for expression in expressions
        )
    )


def angles_of(direction):
    """Return (first, second) [rad] of a unit vector `(3,)` in the leg's frame."""
    x, y, z = direction
    return np.array([np.arctan2(x, z), -np.arcsin(y)])


class ExtendedSolution(NamedTuple):
    """Accelerations and reactions of one state."""

    acceleration: FloatArray
    """`(6,)` of the platform"""
    coordinates: FloatArray
    """Second derivatives `(n, 4)` of (first, second, delta1, delta2)"""
    reactions: FloatArray
    """`(n, 3)` [N] on the legs' tips, base axes"""


def solve_extended(machine, pose, twist, deflection, forces, wrench=None):
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
    _, (poses, twists, deflections, actuator_forces, wrenches) = checked_state(
        machine, pose, twist, deflection, forces=(forces, n), wrench=(wrench, 6)
    )
    size = 6 + 7 * n
    matrix, right_side = np.zeros((size, size)), np.zeros(size)
    matrix[:6, :6] = platform_mass_matrix(machine, poses)[0]
    right_side[:6] = (platform_forces(machine, poses, twists) + wrenches)[0]
    for i in range(n):
        tips, centripetal, leg = _leg(machine, i, poses[0], twists[0], deflections[0])
        mass, bias, jacobian, closure_bias = leg
        leg_block = slice(6 + 4 * i, 10 + 4 * i)
        joint = slice(6 + 4 * n + 3 * i, 9 + 4 * n + 3 * i)
        matrix[:6, joint], matrix[joint, :6] = tips.T, tips
        matrix[leg_block, leg_block], matrix[leg_block, joint], matrix[joint, leg_block] = (
            mass,
            -jacobian.T,
            -jacobian,
        )
        right_side[leg_block] = [0.0, 0.0, 0.0, actuator_forces[0, i]] - bias
        right_side[joint] = closure_bias - centripetal
    solution = solved(matrix, right_side)
    return ExtendedSolution(
        solution[:6], solution[6 : 6 + 4 * n].reshape(n, 4), solution[6 + 4 * n :].reshape(n, 3)
    )


def _leg(machine, i, pose, twist, deflection):
    """Return tip matrix, centripetal acceleration, and the leg's terms with tips in base axes."""
    joint_vector = rotation_matrix(pose[..., 3:]) @ machine.platform_joints[i]
    tips = tip_matrices(joint_vector)
    omega_matrix = cross_matrix(twist[3:])
    frame = _home_frame(machine, i)
    vector = frame.T @ (pose[:3] + joint_vector - machine.base_joints[i])
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
    rest_state = (coordinates, np.zeros(4), constants)
    jacobian = functions.tip_jacobian(*rest_state)
    # Three rates follow from the tip's velocity once that of the deflection is known.
    rates = np.zeros(4)
    rates[2] = deflection[machine.n_legs + i]
    velocity = frame.T @ tips @ twist - jacobian[:, 2] * rates[2]
    rates[[0, 1, 3]] = np.linalg.solve(jacobian[:, [0, 1, 3]], velocity)
    leg_state_arguments = (coordinates, rates, constants)
    return (
        tips,
        omega_matrix @ omega_matrix @ joint_vector,
        (
            functions.mass_matrix(*leg_state_arguments),
            functions.bias(*leg_state_arguments)[:, 0],
            frame @ jacobian,
            frame @ functions.tip_bias(*leg_state_arguments)[:, 0],
        ),
    )


def _home_frame(machine, i):
    """Return the rotation `(3, 3)` leg's frame to base: z along the leg at home."""
    home = machine.home
    tip = home[:3] + rotation_matrix(home[3:]) @ machine.platform_joints[i]
    leg_vector = tip - machine.base_joints[i]
    leg_vector = leg_vector / np.linalg.norm(leg_vector)
    side_axis = np.cross(np.eye(3)[np.argmin(np.abs(leg_vector))], leg_vector)
    side_axis = side_axis / np.linalg.norm(side_axis)
    return np.stack([side_axis, np.cross(leg_vector, side_axis), leg_vector], axis=1)
