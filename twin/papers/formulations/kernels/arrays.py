"""Constants and work arrays that all formulations share, and their entries."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.jit import device
from twin.kernels.kinematics import PoseMemory
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import Vector, add, dot, row, scale

LEG_COUNT = 6

JOINT_COUNT = 3 * LEG_COUNT
"""Joint coordinates of each leg: two angles, and the actuator's length or angle."""

CONSTRAINT_COUNT = JOINT_COUNT - 6
"""Rigidity constraints on the tips of the legs."""


class Model(NamedTuple):
    """Constants read by the kernels; not to be written to."""

    body: FloatArray
    """platform constants of `twin.kernels.dynamics.assembly`"""
    legs: Legs
    """leg constants in the type of their kind"""
    second_axes: FloatArray
    """`(6, 3)` second axes of legs, or of rods, at home, base frame"""
    home_angles: FloatArray
    """`(6,)` [rad] elevation of the first axis in the leg frame at home: atan2(s1.z, s1.y)"""
    triangle: IndexArray
    """`(3,)` legs whose tips carry the platform frame"""
    attached: IndexArray
    """`(3,)` the other legs"""
    edges: FloatArray
    """`(3,)` [m] sides of the triangle, between its corners (0, 1), (1, 2), (2, 0)"""
    coefficients: FloatArray
    """`(3, 3)` of each attached tip along two sides of the triangle and their vector product"""
    corner_twist: FloatArray
    """`(6, 9)` twist of a rigid motion from the velocities of the corners, platform frame"""


(
    PLATFORM_POSE,
    PLATFORM_TWIST,
    PLATFORM_ACCELERATION,
    PLATFORM_BODY_BIAS,
    PLATFORM_CARRIER_BIAS,
    PLATFORM_SIZE,
) = 0, 7, 13, 19, 25, 31
"""Entries of the work array of the platform: state, Coriolis and gravity terms, and acceleration at
zero second rates of the joint coordinates."""

LEG_JOINT, LEG_RATE, LEG_SECOND_RATE = 0, 3, 6
"""Columns of the work array of the legs: two angles and actuator coordinate; their derivatives."""
LEG_AXES, LEG_ELEVATION = 9, 18
"""Leg axes x, y, z in the base; cosine and sine between the first axis and the leg's y and z."""
LEG_TIP, LEG_TIP_RATE, LEG_TIP_BIAS = 20, 23, 26
"""Tip, its rate, and its acceleration at zero second rates of the joint coordinates."""
LEG_ARM, LEG_ARM_BIAS, LEG_BIAS, LEG_SIZE = 29, 32, 35, 38
"""Platform joint from the reference point, its acceleration at zero acceleration of the platform,
Coriolis, centrifugal and gravity terms of the leg."""

CLOSURE_CONSTRAINT, CLOSURE_BIAS = JOINT_COUNT, JOINT_COUNT + 1
"""Columns of `closure` after the Jacobian: the constraints, and dJ/dt times the joint rates."""

SCRATCH_MULTIPLIERS, SCRATCH_ROOT = 0, 1
"""Rows of `scratch`: constraint forces, and the pose that root tracking found."""


class Work(NamedTuple):
    """Results of one evaluation of a formulation; each evaluation overwrites them."""

    platform: FloatArray
    """`(PLATFORM_SIZE,)` entries named `PLATFORM_...`"""
    legs: FloatArray
    """`(6, LEG_SIZE)` entries named `LEG_...`"""
    tip_columns: FloatArray
    """`(6, 3, 3)` T: row k is the tip's velocity at unit rate of joint coordinate k"""
    tip_inverses: FloatArray
    """`(6, 3, 3)` T^-1: row k is the rate of joint coordinate k from the tip's velocity"""
    leg_mass: FloatArray
    """`(6, 3, 3)` blocks of the extended mass matrix"""
    body_mass: FloatArray
    """`(6, 6)` block of the extended mass matrix"""
    task_map: FloatArray
    """`(18, 7)` K: joint rates from the twist; last column: joint accelerations without it"""
    carrier_map: FloatArray
    """`(6, 9)` twist from the rates of the triangle's legs"""
    mass: FloatArray
    """`(18, 19)` joint-space mass matrix; last column: Coriolis, centrifugal and gravity terms"""
    closure: FloatArray
    """`(12, 20)` Jacobian of the rigidity constraints, the constraints, dJ/dt times the rates"""
    mapping: FloatArray
    """`(24, 7)` B: extended (platform first) or joint rates from the reduced ones; last column
    beta: accelerations at zero reduced ones"""
    reduced: FloatArray
    """`(6, 6)` reduced mass matrix"""
    square: FloatArray
    """`(12, 12)` scratch: matrix to be factored"""
    columns: FloatArray
    """`(12, 18)` scratch: right-hand sides, one per row"""
    scratch: FloatArray
    """`(2, 18)` rows named `SCRATCH_...`"""
    pivots: IndexArray
    """`(12,)` rows chosen by LU"""
    tracking: PoseMemory
    """work arrays of forward kinematics"""


@device
def put(array: FloatArray, i: int, start: int, a: Vector) -> None:
    """Write a vector to entries `start` to `start + 2` of row i."""
    array[i, start], array[i, start + 1], array[i, start + 2] = a


@device
def part(array: FloatArray, start: int) -> Vector:
    """Return entries `start` to `start + 2` as a vector."""
    return array[start], array[start + 1], array[start + 2]


@device
def joints_from_tip(inverse: FloatArray, change: Vector) -> Vector:
    """Return T^-1 times a change of the tip; `inverse` (3, 3) is T^-1."""
    return (
        dot(row(inverse, 0, 0), change),
        dot(row(inverse, 1, 0), change),
        dot(row(inverse, 2, 0), change),
    )


@device
def tip_from_joints(columns: FloatArray, changes: Vector) -> Vector:
    """Return T times a change of a leg's joint coordinates; `columns` (3, 3) is T transposed."""
    return add(
        add(scale(changes[0], row(columns, 0, 0)), scale(changes[1], row(columns, 1, 0))),
        scale(changes[2], row(columns, 2, 0)),
    )
