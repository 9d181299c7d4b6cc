"""The extended model: each leg in its joint coordinates, the platform by its pose and twist.

Extended coordinates are (platform, leg 1, ..., leg 6); the mass matrix has one block per body and
the loop closure says that leg i ends at the platform's joint i:

    eta_i = p + R b_i - (a_i + l_i Z_i) = 0.

Derivation in docs/formulations.md.

Reference: extended-configuration-space paper, section 4, equations (19) to (21).
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import add_body, field
from twin.kernels.jit import device
from twin.kernels.legs.interface import AXIS, BASE_JOINT
from twin.kernels.legs.ups.dynamics import (
    HOUSING_CENTER,
    HOUSING_MASS,
    ROD_CENTER,
    ROD_MASS,
    SINGULAR_SINE,
    fixed_tensor_times,
    in_base,
    leg_tensor,
)
from twin.kernels.legs.ups.kinematics import leg_vector
from twin.kernels.vectors import Vector, add, cross, dot, rotation, row, scale, subtract
from twin.papers.formulations.kernels.arrays import (
    ARM,
    ARM_BIAS,
    AXES,
    BIAS,
    BODY_BIAS,
    ELEVATION,
    JOINT,
    POSE,
    RATE,
    TIP,
    TIP_BIAS,
    TIP_RATE,
    TWIST,
    Model,
    Work,
)


@device
def put(array: FloatArray, i: int, start: int, a: Vector) -> None:
    """Write a vector to entries `start` to `start + 2` of row i."""
    array[i, start], array[i, start + 1], array[i, start + 2] = a


@device
def part(array: FloatArray, start: int) -> Vector:
    """Return entries `start` to `start + 2` as a vector."""
    return array[start], array[start + 1], array[start + 2]


@device
def joints_from_pose(model: Model, work: Work) -> bool:
    """Fill `joints` from `pose` in closed form; False where a leg lies along its first axis."""
    state, legs = work.platform, model.legs
    matrix = rotation(state[3], state[4], state[5], state[6])
    regular = True
    for i in range(legs.shape[0]):
        vector = leg_vector(legs, i, part(state, POSE), matrix)[1]
        first, second = row(legs, i, AXIS), row(model.second_axes, i, 0)
        along, third = dot(vector, second), dot(vector, cross(second, first))
        across = sqrt(along * along + third * third)
        height = dot(vector, first)
        length = sqrt(dot(vector, vector))
        work.legs[i, JOINT] = atan2(along, third)
        work.legs[i, JOINT + 1] = model.home_angles[i] - atan2(height, across)
        work.legs[i, JOINT + 2] = length
        regular = regular and across > SINGULAR_SINE * length
    return regular


@device
def place_legs(model: Model, work: Work) -> None:
    """Fill leg frames, tips and the columns T of their velocities from `joints`."""
    legs = model.legs
    for i in range(legs.shape[0]):
        first, second = row(legs, i, AXIS), row(model.second_axes, i, 0)
        third = cross(second, first)
        cosine, sine = cos(work.legs[i, JOINT]), sin(work.legs[i, JOINT])
        x = subtract(scale(cosine, second), scale(sine, third))
        normal = add(scale(cosine, third), scale(sine, second))
        angle = model.home_angles[i] - work.legs[i, JOINT + 1]
        length = work.legs[i, JOINT + 2]
        c, s = cos(angle), sin(angle)
        y = subtract(scale(c, first), scale(s, normal))
        z = add(scale(s, first), scale(c, normal))
        put(work.legs, i, AXES, x)
        put(work.legs, i, AXES + 3, y)
        put(work.legs, i, AXES + 6, z)
        work.legs[i, ELEVATION], work.legs[i, ELEVATION + 1] = c, s
        put(work.legs, i, TIP, add(row(legs, i, BASE_JOINT), scale(length, z)))
        columns = work.tip_columns[i]
        put(columns, 0, 0, scale(length * c, x))
        put(columns, 1, 0, scale(-length, y))
        put(columns, 2, 0, z)


@device
def joints_from_tip(columns: FloatArray, change: Vector) -> Vector:
    """Return T^-1 times a change of the tip; the columns of T are orthogonal."""
    a, b, c = row(columns, 0, 0), row(columns, 1, 0), row(columns, 2, 0)
    return dot(a, change) / dot(a, a), dot(b, change) / dot(b, b), dot(c, change)


@device
def move_legs(model: Model, work: Work) -> None:
    """Fill tip rates, their bias and the legs' blocks of mass and bias from joints and rates."""
    legs, gravity = model.legs, field(model.body)
    for i in range(legs.shape[0]):
        x, y, z = row(work.legs, i, AXES), row(work.legs, i, AXES + 3), row(work.legs, i, AXES + 6)
        c, s = work.legs[i, ELEVATION], work.legs[i, ELEVATION + 1]
        turn, tilt, rate = row(work.legs, i, RATE)
        length = work.legs[i, JOINT + 2]
        omega = (tilt, c * turn, s * turn)
        alpha = (0.0, tilt * omega[2], -tilt * omega[1])
        bias = point_bias(omega, alpha, rate, (0.0, 0.0, length))
        put(work.legs, i, TIP_BIAS, in_base(x, y, z, bias))
        rates = row(work.legs, i, RATE)
        put(work.legs, i, TIP_RATE, tip_from_joints(work.tip_columns[i], rates))
        mass, center = legs[i, ROD_MASS], row(legs, i, ROD_CENTER)
        center = (center[0], center[1], center[2] + length)
        weight = (dot(gravity, x), dot(gravity, y), dot(gravity, z))
        rod = scale(mass, subtract(point_bias(omega, alpha, rate, center), weight))
        moment = add(
            add(
                fixed_tensor_times(legs, i, alpha), cross(omega, fixed_tensor_times(legs, i, omega))
            ),
            subtract(
                cross(center, rod),
                cross(scale(legs[i, HOUSING_MASS], row(legs, i, HOUSING_CENTER)), weight),
            ),
        )
        put(work.legs, i, BIAS, (c * moment[1] + s * moment[2], moment[0], rod[2]))
        fill_leg_mass(legs, i, c, s, mass, center, work.leg_mass[i])


@device
def point_bias(omega: Vector, alpha: Vector, rate: float, point: Vector) -> Vector:
    """Return the acceleration of a point that slides along the leg, leg frame, without l''."""
    swing = cross(omega, add(cross(omega, point), (0.0, 0.0, 2.0 * rate)))
    return add(cross(alpha, point), swing)


@device
def fill_leg_mass(
    legs: FloatArray, i: int, c: float, s: float, mass: float, center: Vector, block: FloatArray
) -> None:
    """Fill the mass matrix (3, 3) of leg i in (first angle, second angle, length)."""
    cx, cy, _ = center
    xx, yy, zz, xy, xz, yz = leg_tensor(legs, i, mass, center)
    block[0, 0] = c * c * yy + 2.0 * c * s * yz + s * s * zz
    block[0, 1] = block[1, 0] = c * xy + s * xz
    block[1, 1] = xx
    block[0, 2] = block[2, 0] = -mass * c * cx
    block[1, 2] = block[2, 1] = mass * cy
    block[2, 2] = mass


@device
def move_platform(model: Model, work: Work) -> None:
    """Fill arms, their bias and the platform's block of mass and bias from pose and twist."""
    state = work.platform
    matrix = rotation(state[3], state[4], state[5], state[6])
    omega = part(state, TWIST + 3)
    for i in range(model.legs.shape[0]):
        arm = leg_vector(model.legs, i, part(state, POSE), matrix)[0]
        put(work.legs, i, ARM, arm)
        put(work.legs, i, ARM_BIAS, cross(omega, cross(omega, arm)))
    add_body(model.body, matrix, omega, work.body_mass, state[BODY_BIAS:])
    for i in range(6):
        for j in range(i):
            work.body_mass[j, i] = work.body_mass[i, j]


@device
def tip_from_joints(columns: FloatArray, changes: Vector) -> Vector:
    """Return T times a change of a leg's joint coordinates."""
    return add(
        add(scale(changes[0], row(columns, 0, 0)), scale(changes[1], row(columns, 1, 0))),
        scale(changes[2], row(columns, 2, 0)),
    )
