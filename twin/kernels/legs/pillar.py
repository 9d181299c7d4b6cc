"""Pillars, actuators square to the platform with feet on the floor: kinematics and dynamics.

With n = R z, the foot of pillar i is f = p + R b_i - h_i n, on the floor f_z = 0. The leg acts at
its foot: rho = R b_i - h_i n is its arm, and f_z' = 0 gives h' = w . (v + omega x rho) with
w = z / n_z. The foot's velocity in the plane is (1 - n w^T) (v + omega x rho).

One foot is held by a universal joint, first axis x in the base, second y in the platform: it keeps
the platform from turning about the vertical, R = Rx(roll) Ry(pitch), and from sliding, and leaves
three degrees of freedom. Its constraints are f_x = f_y = 0 (from its place) and x . R y = 0.

Reference: driving-simulator paper, kinematic analysis; exact here, without small angles.

Dynamics: the mass of a foot that slides on the floor, with friction. The mass at the upper end
belongs to the platform's body. The foot moves by (e_x . a, e_y . a) in the floor when the platform
moves its arm's end by a, so its mass acts along these two directions. Gravity along the floor acts
on the foot as well; the floor carries the rest of its weight. A foot that is held does not move.
"""

from __future__ import annotations

from math import atan2, copysign, cos, sin, sqrt
from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs.interface import (
    BASE_JOINT,
    GEOMETRY_SIZE,
    HOME_COORDINATE,
    PLATFORM_JOINT,
    Acceleration,
    LegResponse,
    PlatformState,
    platform_state,
)
from twin.kernels.linear_algebra import (
    Matrix,
    Vector,
    add,
    cross,
    dot,
    fill_row,
    rotate,
    rotation,
    row,
    scale,
    subtract,
)

JOINT_COUNT = 3

CONSTRAINT_COUNT = 3
"""Constraints of the fixed foot on the platform's motion."""

FOOT_IS_FIXED = GEOMETRY_SIZE
"""Column: 1 for the pillar whose foot is fixed."""

PILLAR_GEOMETRY_SIZE = GEOMETRY_SIZE + 1

SMALLEST_RISE = 1e-6
"""Smallest n_z (cosine of the tilt) for which the equations are regular."""

FOOT_MASS = PILLAR_GEOMETRY_SIZE

VISCOUS = PILLAR_GEOMETRY_SIZE + 1

COULOMB = PILLAR_GEOMETRY_SIZE + 2

TRANSITION_SPEED = PILLAR_GEOMETRY_SIZE + 3
"""Speed [m/s] over which Coulomb friction changes its sign; above zero."""

LEG_SIZE = PILLAR_GEOMETRY_SIZE + 4


HOME_ROLL, HOME_PITCH = 0, 1
"""Entries of the home rows in place of a leg frame."""


@device
def normal(matrix: Matrix) -> Vector:
    """Return n = R z."""
    return matrix[2], matrix[5], matrix[8]


@device
def foot(
    legs: FloatArray, i: int, position: Vector, matrix: Matrix
) -> tuple[Vector, Vector, float, float]:
    """Return the foot's arm rho, n, n_z and length h of pillar i."""
    upward = normal(matrix)
    joint_arm = rotate(matrix, row(legs, i, PLATFORM_JOINT))
    length = (position[2] + joint_arm[2] - legs[i, BASE_JOINT + 2]) / upward[2]
    return subtract(joint_arm, scale(length, upward)), upward, upward[2], length


@device
def actuation(
    legs: FloatArray, i: int, position: Vector, matrix: Matrix
) -> tuple[Vector, Vector, float]:
    """Return w, its moment and the length; see `twin.kernels.legs.dispatch`."""
    arm, _, normal_z, length = foot(legs, i, position, matrix)
    w = (0.0, 0.0, 1.0 / normal_z)
    return w, cross(arm, w), length


@device
def actuation_rate(legs: FloatArray, i: int, state: PlatformState) -> tuple[Vector, Vector]:
    """Return the time derivatives of w and arm x w, the row of the Jacobian."""
    arm, upward, normal_z, _ = foot(legs, i, state.position, state.matrix)
    arm_velocity = cross(state.omega, arm)
    rate = (state.velocity[2] + arm_velocity[2]) / normal_z
    arm_rate = subtract(arm_velocity, scale(rate, upward))
    normal_z_rate = cross(state.omega, upward)[2]
    direction_rate = (0.0, 0.0, -normal_z_rate / (normal_z * normal_z))
    return direction_rate, add(
        cross(arm_rate, (0.0, 0.0, 1.0 / normal_z)), cross(arm, direction_rate)
    )


@device
def in_plane(upward: Vector, rise: float, a: Vector) -> Vector:
    """Return (1 - n w^T) a, the part of `a` in the floor."""
    return subtract(a, scale(a[2] / rise, upward))


@device
def foot_bias(
    arm: Vector, upward: Vector, rise: float, state: PlatformState
) -> tuple[Vector, Vector]:
    """Return the foot's velocity, and its acceleration where the platform does not accelerate."""
    omega = state.omega
    end_velocity = add(state.velocity, cross(omega, arm))
    rate = end_velocity[2] / rise
    centrifugal = cross(omega, cross(omega, arm))
    bias = subtract(centrifugal, scale(2.0 * rate, cross(omega, upward)))
    return in_plane(upward, rise, end_velocity), in_plane(upward, rise, bias)


@device
def plane_directions(upward: Vector, rise: float) -> tuple[Vector, Vector]:
    """Return e_x and e_y, so that the foot moves by (e_x . a, e_y . a)."""
    return (1.0, 0.0, -upward[0] / rise), (0.0, 1.0, -upward[1] / rise)


@device
def roll_and_pitch(matrix: Matrix) -> tuple[float, float]:
    """Return roll and pitch [rad] of the direction n: n = Rx(roll) Ry(pitch) z."""
    x, y, z = normal(matrix)
    return atan2(-y, z), atan2(x, sqrt(y * y + z * z))


@device
def fill_joints(
    legs: FloatArray,
    home: FloatArray,
    i: int,
    state: PlatformState,
    acceleration: Acceleration,
    out: FloatArray,
) -> bool:
    """Fill `out` (3, 3) with the joints of leg i.

    Sliding feet: (position along x, along y, extension); the fixed one: (roll, pitch, extension).
    """
    omega, angular = state.omega, acceleration.angular
    arm, upward, normal_z, length = foot(legs, i, state.position, state.matrix)
    speed, bias = foot_bias(arm, upward, normal_z, state)
    end_velocity = add(state.velocity, cross(omega, arm))
    arm_acceleration = add(acceleration.linear, cross(angular, arm))
    rate = end_velocity[2] / normal_z
    centrifugal = cross(omega, cross(omega, arm))
    vertical_acceleration = (
        arm_acceleration[2] + centrifugal[2] - 2.0 * rate * cross(omega, upward)[2]
    )
    out[2, 0] = length - home[i, HOME_COORDINATE]
    out[2, 1] = rate
    out[2, 2] = vertical_acceleration / normal_z
    if legs[i, FOOT_IS_FIXED] == 1.0:
        roll, pitch = roll_and_pitch(state.matrix)
        second_axis = (0.0, cos(roll), sin(roll))
        out[0, 0], out[1, 0] = roll - home[i, HOME_ROLL], pitch - home[i, HOME_PITCH]
        out[0, 1], out[1, 1] = omega[0], dot(omega, second_axis)
        out[0, 2], out[1, 2] = angular[0], dot(angular, second_axis)
    else:
        foot_acceleration = in_plane(upward, normal_z, arm_acceleration)
        for k in range(2):
            out[k, 0] = state.position[k] + arm[k] - legs[i, BASE_JOINT + k]
            out[k, 1] = speed[k]
            out[k, 2] = foot_acceleration[k] + bias[k]
    return normal_z > SMALLEST_RISE


@device
def fixed_foot(legs: FloatArray) -> int:
    """Return the index of the pillar whose foot is fixed."""
    for i in range(legs.shape[0]):
        if legs[i, FOOT_IS_FIXED] == 1.0:
            return i
    return 0


@device
def fill_constraint(
    rows: FloatArray, k: int, linear: Vector, angular: Vector, drift: float, error: float
) -> None:
    """Fill constraint k: its row C = (linear, angular), C a + drift = 0, and the pose's error."""
    fill_row(rows, k, linear, angular)
    rows[k, 6] = drift
    rows[k, 7] = error


@device
def fill_constraints(legs: FloatArray, state: PlatformState, rows: FloatArray) -> None:
    """Fill `rows` (3, 8) with the constraints of the fixed foot."""
    i, position, matrix = fixed_foot(legs), state.position, state.matrix
    arm, upward, normal_z, _ = foot(legs, i, position, matrix)
    _, bias = foot_bias(arm, upward, normal_z, state)
    floor_x, floor_y = plane_directions(upward, normal_z)
    off_x = position[0] + arm[0] - legs[i, BASE_JOINT]
    off_y = position[1] + arm[1] - legs[i, BASE_JOINT + 1]
    fill_constraint(rows, 0, floor_x, cross(arm, floor_x), bias[0], off_x)
    fill_constraint(rows, 1, floor_y, cross(arm, floor_y), bias[1], off_y)
    platform_y = (matrix[1], matrix[4], matrix[7])
    x = (1.0, 0.0, 0.0)
    bias_term = dot(state.omega, cross(cross(state.omega, platform_y), x))
    fill_constraint(rows, 2, (0.0, 0.0, 0.0), cross(platform_y, x), bias_term, platform_y[0])


@device
def project_onto_constraints(legs: FloatArray, y: FloatArray) -> None:
    """Move a state `y` (13 or more) onto the constraints with its height, normal and their rates.

    The quaternion keeps its sign.
    """
    state = platform_state(y[:7], y[7:13])
    omega = state.omega
    roll, pitch = roll_and_pitch(state.matrix)
    cr, sr, cp, sp = cos(0.5 * roll), sin(0.5 * roll), cos(0.5 * pitch), sin(0.5 * pitch)
    quaternion = (cr * cp, sr * cp, cr * sp, sr * sp)
    target_rotation = rotation(quaternion[0], quaternion[1], quaternion[2], quaternion[3])
    second_axis, n = (0.0, cos(roll), sin(roll)), normal(target_rotation)
    # The angular velocity without yaw that turns the normal like the given one.
    about_x = (omega[0] - n[0] * dot(omega, n)) / (1.0 - n[0] * n[0])
    target_omega = add((about_x, 0.0, 0.0), scale(dot(omega, second_axis), second_axis))
    i = fixed_foot(legs)
    height, climb = state.position[2], state.velocity[2]
    arm, upward, normal_z, _ = foot(legs, i, state.position, target_rotation)
    position = (legs[i, BASE_JOINT] - arm[0], legs[i, BASE_JOINT + 1] - arm[1], height)
    arm_velocity = cross(target_omega, arm)
    rate = (climb + arm_velocity[2]) / normal_z
    velocity = (rate * upward[0] - arm_velocity[0], rate * upward[1] - arm_velocity[1], climb)
    alignment = 0.0
    for k in range(4):
        alignment += quaternion[k] * y[3 + k]
    quaternion_sign = copysign(1.0, alignment)
    for k in range(3):
        y[k] = position[k]
        y[7 + k] = velocity[k]
        y[10 + k] = target_omega[k]
    for k in range(4):
        y[3 + k] = quaternion_sign * quaternion[k]


class PillarLegs(NamedTuple):
    """Constants of prismatic actuators square to the platform, with feet on the floor."""

    rows: FloatArray
    """`(n, LEG_SIZE)` constants of each leg"""


@device
def friction(legs: FloatArray, i: int, speed: Vector) -> float:
    """Return the coefficient [N s/m] of the foot's friction at a velocity in the floor."""
    squared_speed = speed[0] * speed[0] + speed[1] * speed[1]
    transition = legs[i, TRANSITION_SPEED]
    return legs[i, VISCOUS] + legs[i, COULOMB] / sqrt(squared_speed + transition * transition)


@device
def response(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> LegResponse:
    """Return effective masses and bias force of leg i at its foot; see `LegResponse`."""
    arm, upward, normal_z, _ = foot(legs, i, state.position, state.matrix)
    w = (0.0, 0.0, 1.0 / normal_z)
    floor_x, floor_y = plane_directions(upward, normal_z)
    mass, force = 0.0, (0.0, 0.0, 0.0)
    if legs[i, FOOT_IS_FIXED] != 1.0:
        mass = legs[i, FOOT_MASS]
        speed, bias = foot_bias(arm, upward, normal_z, state)
        drag = friction(legs, i, speed)
        force = add(
            scale(mass * (bias[0] - gravity[0]) + drag * speed[0], floor_x),
            scale(mass * (bias[1] - gravity[1]) + drag * speed[1], floor_y),
        )
    masses = (mass, mass, 0.0)
    regular = normal_z > SMALLEST_RISE
    return LegResponse(arm, w, cross(arm, w), floor_x, floor_y, w, masses, force, regular)


@device
def leg_energy(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> tuple[float, float, float]:
    """Return kinetic and potential energy and dissipated power."""
    arm, upward, normal_z, _ = foot(legs, i, state.position, state.matrix)
    weight = -legs[i, FOOT_MASS] * dot(gravity, add(state.position, arm))
    if legs[i, FOOT_IS_FIXED] == 1.0:
        return 0.0, weight, 0.0
    speed, _ = foot_bias(arm, upward, normal_z, state)
    squared_speed = speed[0] * speed[0] + speed[1] * speed[1]
    return (
        0.5 * legs[i, FOOT_MASS] * squared_speed,
        weight,
        friction(legs, i, speed) * squared_speed,
    )
