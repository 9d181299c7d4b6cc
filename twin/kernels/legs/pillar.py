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
    LegResponse,
)
from twin.kernels.linear_algebra import (
    Matrix,
    Quaternion,
    Vector,
    add,
    cross,
    dot,
    rotate,
    rotation,
    row,
    scale,
    subtract,
)
from twin.kernels.platform_state import Acceleration, PlatformState, platform_state

JOINT_COUNT = 3

CONSTRAINT_COUNT = 3
"""Constraints of the fixed foot on the platform's motion."""

FIXED = GEOMETRY_SIZE
"""1 for the pillar whose foot is held."""

PILLAR_GEOMETRY_SIZE = GEOMETRY_SIZE + 1

SMALLEST_RISE = 1e-6
"""n_z below which the platform stands on edge."""

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
    corner = rotate(matrix, row(legs, i, PLATFORM_JOINT))
    length = (position[2] + corner[2] - legs[i, BASE_JOINT + 2]) / upward[2]
    return subtract(corner, scale(length, upward)), upward, upward[2], length


@device
def actuation(
    legs: FloatArray, i: int, position: Vector, matrix: Matrix
) -> tuple[Vector, Vector, float]:
    """Return arm of the foot, w and length; see `twin.kernels.legs.dispatch`."""
    arm, _, rise, length = foot(legs, i, position, matrix)
    return arm, (0.0, 0.0, 1.0 / rise), length


@device
def actuation_rate(legs: FloatArray, i: int, state: PlatformState) -> tuple[Vector, Vector]:
    """Return the time derivatives of w and arm x w, the row of the Jacobian."""
    arm, upward, rise, _ = foot(legs, i, state.position, state.matrix)
    swing = cross(state.omega, arm)
    rate = (state.velocity[2] + swing[2]) / rise
    arm_rate = subtract(swing, scale(rate, upward))
    falling = cross(state.omega, upward)[2]
    changing = (0.0, 0.0, -falling / (rise * rise))
    return changing, add(cross(arm_rate, (0.0, 0.0, 1.0 / rise)), cross(arm, changing))


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
    moving = add(state.velocity, cross(omega, arm))
    rate = moving[2] / rise
    swing = cross(omega, cross(omega, arm))
    bias = subtract(swing, scale(2.0 * rate, cross(omega, upward)))
    return in_plane(upward, rise, moving), in_plane(upward, rise, bias)


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
    arm, upward, rise, length = foot(legs, i, state.position, state.matrix)
    speed, bias = foot_bias(arm, upward, rise, state)
    moving = add(state.velocity, cross(omega, arm))
    pushed = add(acceleration.linear, cross(angular, arm))
    rate = moving[2] / rise
    swing = cross(omega, cross(omega, arm))
    lifted = pushed[2] + swing[2] - 2.0 * rate * cross(omega, upward)[2]
    out[2, 0] = length - home[i, HOME_COORDINATE]
    out[2, 1] = rate
    out[2, 2] = lifted / rise
    if legs[i, FIXED] == 1.0:
        roll, pitch = roll_and_pitch(state.matrix)
        second = (0.0, cos(roll), sin(roll))
        out[0, 0], out[1, 0] = roll - home[i, HOME_ROLL], pitch - home[i, HOME_PITCH]
        out[0, 1], out[1, 1] = omega[0], dot(omega, second)
        out[0, 2], out[1, 2] = angular[0], dot(angular, second)
    else:
        sliding = in_plane(upward, rise, pushed)
        for k in range(2):
            out[k, 0] = state.position[k] + arm[k] - legs[i, BASE_JOINT + k]
            out[k, 1] = speed[k]
            out[k, 2] = sliding[k] + bias[k]
    return rise > SMALLEST_RISE


@device
def fixed_foot(legs: FloatArray) -> int:
    """Return the index of the pillar whose foot is held."""
    for i in range(legs.shape[0]):
        if legs[i, FIXED] == 1.0:
            return i
    return 0


@device
def fill_constraint(
    rows: FloatArray, k: int, linear: Vector, angular: Vector, drift: float, value: float
) -> None:
    """Write one constraint: row (6 entries), drift, value."""
    for j in range(3):
        rows[k, j] = linear[j]
        rows[k, j + 3] = angular[j]
    rows[k, 6] = drift
    rows[k, 7] = value


@device
def fill_constraints(legs: FloatArray, state: PlatformState, rows: FloatArray) -> None:
    """Fill `rows` (3, 8) with the constraints of the fixed foot."""
    i, position, matrix = fixed_foot(legs), state.position, state.matrix
    arm, upward, rise, _ = foot(legs, i, position, matrix)
    _, bias = foot_bias(arm, upward, rise, state)
    first, second = plane_directions(upward, rise)
    off_x = position[0] + arm[0] - legs[i, BASE_JOINT]
    off_y = position[1] + arm[1] - legs[i, BASE_JOINT + 1]
    fill_constraint(rows, 0, first, cross(arm, first), bias[0], off_x)
    fill_constraint(rows, 1, second, cross(arm, second), bias[1], off_y)
    side = (matrix[1], matrix[4], matrix[7])
    x = (1.0, 0.0, 0.0)
    drift = dot(state.omega, cross(cross(state.omega, side), x))
    fill_constraint(rows, 2, (0.0, 0.0, 0.0), cross(side, x), drift, side[0])


@device
def projected(legs: FloatArray, state: PlatformState) -> tuple[Vector, Quaternion, Vector, Vector]:
    """Return the state that meets the constraints with the same height, normal and their rates.

    Position, quaternion, velocity and angular velocity.
    """
    omega = state.omega
    roll, pitch = roll_and_pitch(state.matrix)
    cr, sr, cp, sp = cos(0.5 * roll), sin(0.5 * roll), cos(0.5 * pitch), sin(0.5 * pitch)
    quaternion = (cr * cp, sr * cp, cr * sp, sr * sp)
    turn = rotation(quaternion[0], quaternion[1], quaternion[2], quaternion[3])
    second, n = (0.0, cos(roll), sin(roll)), normal(turn)
    # The angular velocity without yaw that turns the normal like the given one.
    about_x = (omega[0] - n[0] * dot(omega, n)) / (1.0 - n[0] * n[0])
    spin = add((about_x, 0.0, 0.0), scale(dot(omega, second), second))
    i = fixed_foot(legs)
    height, climb = state.position[2], state.velocity[2]
    arm, upward, rise, _ = foot(legs, i, state.position, turn)
    position = (legs[i, BASE_JOINT] - arm[0], legs[i, BASE_JOINT + 1] - arm[1], height)
    swing = cross(spin, arm)
    rate = (climb + swing[2]) / rise
    velocity = (rate * upward[0] - swing[0], rate * upward[1] - swing[1], climb)
    return position, quaternion, velocity, spin


@device
def project_onto_constraints(legs: FloatArray, y: FloatArray) -> None:
    """Move a state `y` (13 or more) onto the constraints; the quaternion keeps its sign."""
    position, quaternion, velocity, spin = projected(legs, platform_state(y[:7], y[7:13]))
    side = 0.0
    for k in range(4):
        side += quaternion[k] * y[3 + k]
    sign = copysign(1.0, side)
    for k in range(3):
        y[k] = position[k]
        y[7 + k] = velocity[k]
        y[10 + k] = spin[k]
    for k in range(4):
        y[3 + k] = sign * quaternion[k]


class PillarLegs(NamedTuple):
    """Constants of prismatic actuators square to the platform, with feet on the floor."""

    rows: FloatArray
    """`(n, LEG_SIZE)`"""


@device
def friction(legs: FloatArray, i: int, speed: Vector) -> float:
    """Return the coefficient [N s/m] of the foot's friction at a velocity in the floor."""
    square = speed[0] * speed[0] + speed[1] * speed[1]
    transition = legs[i, TRANSITION_SPEED]
    return legs[i, VISCOUS] + legs[i, COULOMB] / sqrt(square + transition * transition)


@device
def response(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> LegResponse:
    """Return the force that it takes to move the foot of leg i."""
    arm, upward, rise, _ = foot(legs, i, state.position, state.matrix)
    w = (0.0, 0.0, 1.0 / rise)
    first, second = plane_directions(upward, rise)
    mass, force = 0.0, (0.0, 0.0, 0.0)
    if legs[i, FIXED] != 1.0:
        mass = legs[i, FOOT_MASS]
        speed, bias = foot_bias(arm, upward, rise, state)
        drag = friction(legs, i, speed)
        force = add(
            scale(mass * (bias[0] - gravity[0]) + drag * speed[0], first),
            scale(mass * (bias[1] - gravity[1]) + drag * speed[1], second),
        )
    masses = (mass, mass, 0.0)
    return LegResponse(arm, w, first, second, w, masses, force, rise > SMALLEST_RISE)


@device
def leg_energy(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> tuple[float, float, float]:
    """Return kinetic and potential energy and dissipated power."""
    arm, upward, rise, _ = foot(legs, i, state.position, state.matrix)
    weight = -legs[i, FOOT_MASS] * dot(gravity, add(state.position, arm))
    if legs[i, FIXED] == 1.0:
        return 0.0, weight, 0.0
    speed, _ = foot_bias(arm, upward, rise, state)
    square = speed[0] * speed[0] + speed[1] * speed[1]
    return 0.5 * legs[i, FOOT_MASS] * square, weight, friction(legs, i, speed) * square
