"""A ball that the plate has pushed off: free flight, take-off and landing.

It lands without bouncing or slipping; its angular momentum about the contact does not change.
"""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.ball.contact import (
    DRIFT,
    FLIES,
    GAP,
    INERTIA_FACTOR,
    KICK,
    MASS,
    RADIUS,
    SPIN,
    arms,
    relative_velocity,
)
from twin.kernels.jit import device
from twin.kernels.vectors import (
    Matrix,
    Vector,
    add,
    cross,
    rotate,
    rotate_back,
    rotation,
    scale,
    subtract,
)


@device
def take_off(ball: FloatArray, pose: FloatArray, twist: FloatArray, state: FloatArray) -> None:
    """Turn the state of a rolling ball into that of a flying one, at the same velocity."""
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    rolled = relative_velocity(ball, state, matrix, (twist[3], twist[4], twist[5]))
    state[FLIES], state[GAP] = 1.0, 0.0
    for k in range(3):
        state[DRIFT + k] = rolled[k]


@device
def flight_rate(
    ball: FloatArray,
    state: FloatArray,
    matrix: Matrix,
    omega: Vector,
    gravity: Vector,
    acceleration: FloatArray,
    dy: FloatArray,
) -> None:
    """Fill `dy` of the position and velocity of a flying ball, relative to the plate."""
    _, centre = arms(ball, state, matrix)
    linear = (acceleration[0], acceleration[1], acceleration[2])
    alpha = (acceleration[3], acceleration[4], acceleration[5])
    moving = rotate(matrix, (state[DRIFT], state[DRIFT + 1], state[DRIFT + 2]))
    swing = add(cross(omega, cross(omega, centre)), scale(2.0, cross(omega, moving)))
    carried = add(add(linear, cross(alpha, centre)), swing)
    seen = rotate_back(matrix, subtract(gravity, carried))
    dy[0], dy[1], dy[GAP] = state[DRIFT], state[DRIFT + 1], state[DRIFT + 2]
    for k in range(3):
        dy[SPIN + k] = 0.0
        dy[DRIFT + k] = seen[k]


@device
def land(
    ball: FloatArray, pose: FloatArray, twist: FloatArray, state: FloatArray, step: float
) -> None:
    """Turn the state of a flying ball into that of a rolling one; spread its impulse over `step`.

    The velocity becomes (v + k v_rolling) / (1 + k).
    """
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    omega, radius, factor = (twist[3], twist[4], twist[5]), ball[RADIUS], ball[INERTIA_FACTOR]
    spin = (state[SPIN], state[SPIN + 1], state[SPIN + 2])
    a, b, c = rotate_back(matrix, subtract(spin, omega))
    x = (state[DRIFT] + factor * radius * b) / (1.0 + factor)
    y = (state[DRIFT + 1] - factor * radius * a) / (1.0 + factor)
    change = (x - state[DRIFT], y - state[DRIFT + 1], -state[DRIFT + 2])
    kick = rotate(matrix, scale(-ball[MASS] / step, change))
    spin = add(omega, rotate(matrix, (-y / radius, x / radius, c)))
    state[FLIES] = state[GAP] = 0.0
    for k in range(3):
        state[SPIN + k] = spin[k]
        state[KICK + k] = kick[k]
        state[DRIFT + k] = 0.0
