"""The ball on the platform: contact, flight, motion and steps.

Contact: with d the arm from the reference point to the contact, n the plate's normal, P the
projection on the plate, and A, alpha the platform's accelerations, the force of the plate on the
ball is

    F = (m n n^T + mu P) (A + alpha x d) + f,     mu = m k / (1 + k),

k the inertia factor: the platform feels a mass m across the plate and mu along it. `docs/ball.md`
derives it.

Flight: the plate pushes the ball off where the contact would have to pull. The ball lands without
bouncing or slipping; its angular momentum about the contact does not change.

Platform and rolling ball have the common state y = (pose, twist, deflection, ball), with
dy/dt = f(y, forces). The ball enters the platform's mass matrix and bias as a leg does, so that
both are solved at once.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import Work, add_direction, assemble, field, make_work
from twin.kernels.dynamics.forward import STATE_SIZE, Load, accelerate, fill_pose_rate, normalise
from twin.kernels.integrators import Stages, combine, shift
from twin.kernels.jit import compiled, device
from twin.kernels.legs.dispatch import deflections_per_leg
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import (
    Matrix,
    Vector,
    add,
    cross,
    dot,
    quaternion_rate,
    rotate,
    rotate_back,
    rotation,
    scale,
    subtract,
)
from twin.kernels.platform_state import platform_state

BALL_SIZE = 17

SMOOTH_SPEED = 1e-3
"""[m/s] Speed about which rolling resistance changes its sign; a Coulomb law has zero."""

(
    BALL_RADIUS,
    BALL_MASS,
    BALL_INERTIA_FACTOR,
    BALL_PLATE_RADIUS,
    BALL_PLATE_HEIGHT,
    BALL_FRICTION,
    BALL_RESISTANCE,
) = range(7)
"""Entries of a ball's constants."""

STATE_X, STATE_Y, STATE_SPIN, STATE_ORIENTATION = 0, 1, 2, 5
"""Entries of a ball's state: position on the plate [m], angular velocity in base axes [rad/s],
quaternion of its orientation."""

STATE_FLYING, STATE_GAP, STATE_DRIFT, STATE_LANDING_FORCE = 9, 10, 11, 14
"""Further entries of the state: 1 for a ball off the plate's face, else 0; its distance [m] from
the face; its velocity [m/s] against the plate in plate axes while it flies; force [N] in base axes
that the landing exerts on the plate over one step."""


BALL_ROLLING, BALL_SLIPPING, BALL_LOST, BALL_FLYING = 0, 1, 2, 3
"""Status of a ball: it rolls; it would need more friction to roll; it is over the plate's edge or
a radius above it; the plate has pushed it off and it soon lands."""


@device
def contact_frame(matrix: Matrix) -> tuple[Vector, Vector, Vector]:
    """Return the plate's normal and two directions along it, base axes."""
    return (
        (matrix[2], matrix[5], matrix[8]),
        (matrix[0], matrix[3], matrix[6]),
        (matrix[1], matrix[4], matrix[7]),
    )


@device
def relative_velocity(ball: FloatArray, state: FloatArray, matrix: Matrix, omega: Vector) -> Vector:
    """Return the velocity of the ball's centre against the plate, in plate axes: r Omega_r x n."""
    if state[STATE_FLYING] > 0.0:
        return state[STATE_DRIFT], state[STATE_DRIFT + 1], state[STATE_DRIFT + 2]
    a, b, _ = rotate_back(
        matrix, subtract((state[STATE_SPIN], state[STATE_SPIN + 1], state[STATE_SPIN + 2]), omega)
    )
    return ball[BALL_RADIUS] * b, -ball[BALL_RADIUS] * a, 0.0


@device
def along(normal: Vector, vector: Vector) -> Vector:
    """Return the part of a vector along the plate."""
    return subtract(vector, scale(dot(normal, vector), normal))


@device
def arms(ball: FloatArray, state: FloatArray, matrix: Matrix) -> tuple[Vector, Vector]:
    """Return contact and centre of the ball from the reference point, base axes."""
    height = ball[BALL_PLATE_HEIGHT]
    contact = rotate(matrix, (state[STATE_X], state[STATE_Y], height))
    return contact, rotate(
        matrix, (state[STATE_X], state[STATE_Y], height + ball[BALL_RADIUS] + state[STATE_GAP])
    )


@device
def resisting_moment(ball: FloatArray, normal: Vector, spin: Vector, gravity: Vector) -> Vector:
    """Return the moment of rolling resistance on the ball under its weight, base axes."""
    load = -ball[BALL_MASS] * dot(normal, gravity)
    turning = along(normal, spin)
    radius = ball[BALL_RADIUS]
    speed = sqrt(dot(turning, turning) + (SMOOTH_SPEED / radius) ** 2)
    return scale(-ball[BALL_RESISTANCE] * max(load, 0.0) * radius / speed, turning)


@device
def contact_bias(
    ball: FloatArray, state: FloatArray, matrix: Matrix, omega: Vector, gravity: Vector
) -> tuple[Vector, Vector]:
    """Return the force f of the module's equation, and the moment of rolling resistance."""
    normal = contact_frame(matrix)[0]
    _, centre = arms(ball, state, matrix)
    spin = subtract((state[STATE_SPIN], state[STATE_SPIN + 1], state[STATE_SPIN + 2]), omega)
    moving = scale(ball[BALL_RADIUS], cross(spin, normal))
    swing = add(cross(omega, cross(omega, centre)), scale(2.0, cross(omega, moving)))
    specific_force = subtract(swing, gravity)
    moment = resisting_moment(ball, normal, spin, gravity)
    factor = ball[BALL_INERTIA_FACTOR] / (1.0 + ball[BALL_INERTIA_FACTOR])
    turned = scale(ball[BALL_RADIUS], cross(normal, cross(omega, spin)))
    sideways = scale(ball[BALL_MASS] * factor, add(along(normal, specific_force), turned))
    braking = scale(
        1.0 / (ball[BALL_RADIUS] * (1.0 + ball[BALL_INERTIA_FACTOR])), cross(normal, moment)
    )
    upward = scale(ball[BALL_MASS] * dot(normal, specific_force), normal)
    return add(upward, subtract(sideways, braking)), moment


@device
def contact_force(
    ball: FloatArray, normal: Vector, contact: Vector, bias: Vector, acceleration: FloatArray
) -> Vector:
    """Return the force of the plate on the ball, base axes, under the platform's acceleration."""
    spinning = (acceleration[3], acceleration[4], acceleration[5])
    point = add((acceleration[0], acceleration[1], acceleration[2]), cross(spinning, contact))
    across = dot(normal, point)
    factor = ball[BALL_INERTIA_FACTOR] / (1.0 + ball[BALL_INERTIA_FACTOR])
    inertial = scale(factor, subtract(point, scale(across, normal)))
    return add(bias, scale(ball[BALL_MASS], add(inertial, scale(across, normal))))


@device
def spin_rate(ball: FloatArray, normal: Vector, force: Vector, moment: Vector) -> Vector:
    """Return the angular acceleration of the ball, base axes: I dOmega/dt = -r n x F + M."""
    inertia = ball[BALL_INERTIA_FACTOR] * ball[BALL_MASS] * ball[BALL_RADIUS] ** 2
    return scale(1.0 / inertia, add(scale(-ball[BALL_RADIUS], cross(normal, force)), moment))


@device
def is_off(ball: FloatArray, state: FloatArray) -> bool:
    """Return whether a ball is over the plate's edge, or a radius above it."""
    over = not state[STATE_X] ** 2 + state[STATE_Y] ** 2 <= ball[BALL_PLATE_RADIUS] ** 2
    return over or not state[STATE_GAP] <= ball[BALL_RADIUS]


@device
def contact_status(ball: FloatArray, state: FloatArray, normal: Vector, force: Vector) -> int:
    """Return the status of a ball on the plate's face for the force of the plate on it.

    Where the force would have to pull, the ball flies.
    """
    if is_off(ball, state):
        return BALL_LOST
    push = dot(normal, force)
    if not push > 0.0:
        return BALL_FLYING
    friction = along(normal, force)
    return (
        BALL_ROLLING
        if dot(friction, friction) <= (ball[BALL_FRICTION] * push) ** 2
        else BALL_SLIPPING
    )


@device
def put_ball(
    ball: FloatArray, pose: FloatArray, twist: FloatArray, start: FloatArray, state: FloatArray
) -> None:
    """Fill `state` (17,) of a ball that rolls without spin against the plate.

    `start` (4,): position [m] and velocity [m/s] in plate axes. Rolling: Omega_r = n x v / r.
    """
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    state[STATE_X], state[STATE_Y] = start[0], start[1]
    spin = rotate(matrix, (-start[3] / ball[BALL_RADIUS], start[2] / ball[BALL_RADIUS], 0.0))
    for k in range(3):
        state[STATE_SPIN + k] = twist[3 + k] + spin[k]
        state[STATE_ORIENTATION + 1 + k] = 0.0
    state[STATE_ORIENTATION] = 1.0
    for k in range(STATE_FLYING, BALL_SIZE):
        state[k] = 0.0


@device
def fill_ball(
    ball: FloatArray, pose: FloatArray, twist: FloatArray, state: FloatArray, motion: FloatArray
) -> None:
    """Fill `motion` (13,): pose and twist of the ball in the base frame."""
    platform = platform_state(pose, twist)
    matrix, omega = platform.matrix, platform.omega
    _, centre = arms(ball, state, matrix)
    moving = rotate(matrix, relative_velocity(ball, state, matrix, omega))
    velocity = add(platform.velocity, add(cross(omega, centre), moving))
    for k in range(3):
        motion[k] = pose[k] + centre[k]
        motion[7 + k] = velocity[k]
        motion[10 + k] = state[STATE_SPIN + k]
    for k in range(4):
        motion[3 + k] = state[STATE_ORIENTATION + k]


@compiled
def put_balls(
    ball: FloatArray,
    poses: FloatArray,
    twists: FloatArray,
    starts: FloatArray,
    states: FloatArray,
    motions: FloatArray,
) -> int:
    """Fill `states` (batch, 17) and `motions` (batch, 13) from `starts` (batch, 4); returns -1."""
    for k in range(poses.shape[0]):
        put_ball(ball, poses[k], twists[k], starts[k], states[k])
        fill_ball(ball, poses[k], twists[k], states[k], motions[k])
    return -1


@compiled
def fill_balls(
    ball: FloatArray,
    poses: FloatArray,
    twists: FloatArray,
    states: FloatArray,
    motions: FloatArray,
) -> int:
    """Fill `motions` (batch, 13) of balls from their `states` (batch, 17); returns -1."""
    for k in range(poses.shape[0]):
        fill_ball(ball, poses[k], twists[k], states[k], motions[k])
    return -1


@device
def state_on_plate(
    pose: FloatArray, twist: FloatArray, motion: FloatArray, on_plate: FloatArray
) -> None:
    """Fill `on_plate` (6,): position and velocity of a ball in plate axes, relative to the plate.

    The position counts from the reference point.
    """
    platform = platform_state(pose, twist)
    arm = subtract((motion[0], motion[1], motion[2]), platform.position)
    velocity = subtract((motion[7], motion[8], motion[9]), platform.velocity)
    moving = rotate_back(platform.matrix, subtract(velocity, cross(platform.omega, arm)))
    at = rotate_back(platform.matrix, arm)
    for k in range(3):
        on_plate[k] = at[k]
        on_plate[3 + k] = moving[k]


@compiled
def states_on_plate(
    poses: FloatArray, twists: FloatArray, motions: FloatArray, on_plate: FloatArray
) -> int:
    """Fill `on_plate` (batch, 6) as `state_on_plate` does; returns -1."""
    for k in range(poses.shape[0]):
        state_on_plate(poses[k], twists[k], motions[k], on_plate[k])
    return -1


@device
def take_off(ball: FloatArray, pose: FloatArray, twist: FloatArray, state: FloatArray) -> None:
    """Turn the state of a rolling ball into that of a flying one, at the same velocity."""
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    rolled = relative_velocity(ball, state, matrix, (twist[3], twist[4], twist[5]))
    state[STATE_FLYING], state[STATE_GAP] = 1.0, 0.0
    for k in range(3):
        state[STATE_DRIFT + k] = rolled[k]


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
    moving = rotate(matrix, (state[STATE_DRIFT], state[STATE_DRIFT + 1], state[STATE_DRIFT + 2]))
    swing = add(cross(omega, cross(omega, centre)), scale(2.0, cross(omega, moving)))
    carried = add(add(linear, cross(alpha, centre)), swing)
    in_plate_axes = rotate_back(matrix, subtract(gravity, carried))
    dy[0], dy[1], dy[STATE_GAP] = state[STATE_DRIFT], state[STATE_DRIFT + 1], state[STATE_DRIFT + 2]
    for k in range(3):
        dy[STATE_SPIN + k] = 0.0
        dy[STATE_DRIFT + k] = in_plate_axes[k]


@device
def land(
    ball: FloatArray, pose: FloatArray, twist: FloatArray, state: FloatArray, step: float
) -> None:
    """Turn the state of a flying ball into that of a rolling one; spread its impulse over `step`.

    The velocity becomes (v + k v_rolling) / (1 + k).
    """
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    omega, radius, factor = (
        (twist[3], twist[4], twist[5]),
        ball[BALL_RADIUS],
        ball[BALL_INERTIA_FACTOR],
    )
    spin = (state[STATE_SPIN], state[STATE_SPIN + 1], state[STATE_SPIN + 2])
    a, b, c = rotate_back(matrix, subtract(spin, omega))
    x = (state[STATE_DRIFT] + factor * radius * b) / (1.0 + factor)
    y = (state[STATE_DRIFT + 1] - factor * radius * a) / (1.0 + factor)
    change = (x - state[STATE_DRIFT], y - state[STATE_DRIFT + 1], -state[STATE_DRIFT + 2])
    kick = rotate(matrix, scale(-ball[BALL_MASS] / step, change))
    spin = add(omega, rotate(matrix, (-y / radius, x / radius, c)))
    state[STATE_FLYING] = state[STATE_GAP] = 0.0
    for k in range(3):
        state[STATE_SPIN + k] = spin[k]
        state[STATE_LANDING_FORCE + k] = kick[k]
        state[STATE_DRIFT + k] = 0.0


@device
def add_ball(
    ball: FloatArray, state: FloatArray, matrix: Matrix, bias: Vector, moment: Vector, work: Work
) -> None:
    """Add the ball to mass matrix and bias of the platform in `work`."""
    normal, first, second = contact_frame(matrix)
    contact, _ = arms(ball, state, matrix)
    sideways = ball[BALL_MASS] * ball[BALL_INERTIA_FACTOR] / (1.0 + ball[BALL_INERTIA_FACTOR])
    add_direction(work.mass_matrix, ball[BALL_MASS], normal, cross(contact, normal))
    add_direction(work.mass_matrix, sideways, first, cross(contact, first))
    add_direction(work.mass_matrix, sideways, second, cross(contact, second))
    turning = add(cross(contact, bias), moment)
    for k in range(3):
        work.bias[k] += bias[k]
        work.bias[k + 3] += turning[k]


@device
def add_kick(ball: FloatArray, state: FloatArray, matrix: Matrix, work: Work) -> None:
    """Add the force of a landing on the plate to the bias of the platform in `work`."""
    contact, _ = arms(ball, state, matrix)
    kick = (
        state[STATE_LANDING_FORCE],
        state[STATE_LANDING_FORCE + 1],
        state[STATE_LANDING_FORCE + 2],
    )
    turning = cross(contact, kick)
    for k in range(3):
        work.bias[k] -= kick[k]
        work.bias[k + 3] -= turning[k]


@device
def ball_rate(
    ball: FloatArray,
    state: FloatArray,
    matrix: Matrix,
    omega: Vector,
    force: Vector,
    moment: Vector,
    dy: FloatArray,
) -> None:
    """Fill `dy` (17,) of a rolling ball under the force and the moment of the plate on it."""
    normal = contact_frame(matrix)[0]
    dy[0], dy[1], _ = relative_velocity(ball, state, matrix, omega)
    dy[STATE_SPIN], dy[STATE_SPIN + 1], dy[STATE_SPIN + 2] = spin_rate(ball, normal, force, moment)
    turn_rate(state, dy)


@device
def turn_rate(state: FloatArray, dy: FloatArray) -> None:
    """Fill `dy` of the ball's orientation."""
    (
        dy[STATE_ORIENTATION],
        dy[STATE_ORIENTATION + 1],
        dy[STATE_ORIENTATION + 2],
        dy[STATE_ORIENTATION + 3],
    ) = quaternion_rate(
        state[STATE_ORIENTATION],
        state[STATE_ORIENTATION + 1],
        state[STATE_ORIENTATION + 2],
        state[STATE_ORIENTATION + 3],
        state[STATE_SPIN],
        state[STATE_SPIN + 1],
        state[STATE_SPIN + 2],
    )


@device
def rolling_derivative(
    body: FloatArray,
    legs: Legs,
    ball: FloatArray,
    rolls: bool,
    y: FloatArray,
    load: Load,
    dy: FloatArray,
    work: Work,
) -> tuple[bool, int]:
    """Fill `dy` at `y` (13 + 2k + 17,) under a constant load; its slope is not used.

    A ball that no longer `rolls` keeps its position on the plate and exerts no force.

    Returns whether the platform has an acceleration, and the ball's status in this state.
    """
    count = deflections_per_leg(legs) * legs.rows.shape[0]
    size = STATE_SIZE + 2 * count
    fill_pose_rate(y, dy)
    platform = platform_state(y[:7], y[7:13])
    matrix, omega = platform.matrix, platform.omega
    state, deflection, gravity = y[size:], y[13:size], field(body)
    flies = state[STATE_FLYING] > 0.0
    bias, moment = contact_bias(ball, state, matrix, omega, gravity)
    singular = assemble(body, legs, platform, deflection, work)
    if rolls and not flies:
        add_ball(ball, state, matrix, bias, moment, work)
    if rolls:
        add_kick(ball, state, matrix, work)
    regular = accelerate(body, legs, platform, deflection, load.forces, load.wrench, dy[7:], work)
    regular = regular and singular < 0
    normal = contact_frame(matrix)[0]
    push = contact_force(ball, normal, arms(ball, state, matrix)[0], bias, dy[7:13])
    for i in range(count):
        dy[13 + count + i] = dy[13 + i]
        dy[13 + i] = y[13 + count + i]
    own = dy[size:]
    for k in range(BALL_SIZE):
        own[k] = 0.0
    if not rolls:
        return regular, BALL_LOST
    if flies:
        flight_rate(ball, state, matrix, omega, gravity, dy[7:13], own)
        turn_rate(state, own)
        return regular, BALL_LOST if is_off(ball, state) else BALL_FLYING
    ball_rate(ball, state, matrix, omega, push, moment, own)
    return regular, contact_status(ball, state, normal, push)


@device
def rolling_move(
    body: FloatArray,
    legs: Legs,
    ball: FloatArray,
    status: int,
    y: FloatArray,
    load: Load,
    step: float,
    stages: Stages,
) -> tuple[bool, int]:
    """Advance `y` (m,) in place by one Runge-Kutta step of order four.

    Args:
        body: platform constants.
        legs: leg constants.
        ball: constants of the ball.
        status: of the ball before; once `BALL_LOST`, always lost.
        y: state, the ball's behind the platform's and the legs'; unchanged when the step fails.
        load: constant forces on the machine.
        step: [s].
        stages: overwritten.

    Returns:
        Whether the step was done, and the ball's status at its start.
    """
    trial, rates, work = stages
    size, rolls = y.shape[0], status != BALL_LOST
    regular, status = rolling_derivative(body, legs, ball, rolls, y, load, rates[0], work)
    own = y[size - BALL_SIZE :]
    flies = own[STATE_FLYING] > 0.0
    # The plate gives way under the force of a landing, which is no reason to take off again.
    landed = (
        own[STATE_LANDING_FORCE] != 0.0
        or own[STATE_LANDING_FORCE + 1] != 0.0
        or own[STATE_LANDING_FORCE + 2] != 0.0
    )
    takes_off = status == BALL_FLYING and not flies and not landed
    if takes_off:
        take_off(ball, y[:7], y[7:13], own)
    if takes_off or (rolls and status == BALL_LOST):
        rolls = status != BALL_LOST
        regular = rolling_derivative(body, legs, ball, rolls, y, load, rates[0], work)[0]
    for stage in range(3):
        shift(y, step if stage == 2 else 0.5 * step, rates[stage], trial)
        regular &= rolling_derivative(body, legs, ball, rolls, trial, load, rates[stage + 1], work)[
            0
        ]
    if not (combine(y, step, rates, trial) and regular):
        return False, status
    for j in range(size):
        y[j] = trial[j]
    normalise(legs, y[: size - BALL_SIZE])
    normalise_turn(own)
    for k in range(3):
        own[STATE_LANDING_FORCE + k] = 0.0
    if rolls and own[STATE_FLYING] > 0.0 and own[STATE_GAP] <= 0.0:
        land(ball, y[:7], y[7:13], own, step)
    return True, status


@device
def normalise_turn(state: FloatArray) -> None:
    """Scale the ball's quaternion to length one."""
    inverse = 1.0 / sqrt(
        state[STATE_ORIENTATION] ** 2
        + state[STATE_ORIENTATION + 1] ** 2
        + state[STATE_ORIENTATION + 2] ** 2
        + state[STATE_ORIENTATION + 3] ** 2
    )
    for k in range(STATE_ORIENTATION, STATE_ORIENTATION + 4):
        state[k] *= inverse


@compiled
def rolling_rate(
    ball: FloatArray,
    gravity: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    state: FloatArray,
    rate: FloatArray,
    wrench: FloatArray,
) -> int:
    """Fill `rate` (17,) of a ball's state and `wrench` (6,) on it, for a given motion of the plate.

    `gravity` is a vector `(3,)`; `wrench` holds the plate's force on the ball and its moment of
    rolling resistance. Returns the ball's status.
    """
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    omega = (twist[3], twist[4], twist[5])
    pull = (gravity[0], gravity[1], gravity[2])
    normal, contact = contact_frame(matrix)[0], arms(ball, state, matrix)[0]
    bias, moment = contact_bias(ball, state, matrix, omega, pull)
    force = contact_force(ball, normal, contact, bias, acceleration)
    rate[:] = 0.0
    ball_rate(ball, state, matrix, omega, force, moment, rate)
    for k in range(3):
        wrench[k] = force[k]
        wrench[3 + k] = moment[k]
    return contact_status(ball, state, normal, force)


@compiled
def rolling_resistance(
    ball: FloatArray,
    gravity: FloatArray,
    normal: FloatArray,
    spin: FloatArray,
    moment: FloatArray,
) -> None:
    """Fill `moment` (3,) of rolling resistance on a ball that turns at `spin` against the plate."""
    moment[0], moment[1], moment[2] = resisting_moment(
        ball,
        (normal[0], normal[1], normal[2]),
        (spin[0], spin[1], spin[2]),
        (gravity[0], gravity[1], gravity[2]),
    )


@compiled
def rolling_steps(
    body: FloatArray,
    legs: Legs,
    ball: FloatArray,
    status: int,
    y: FloatArray,
    load: Load,
    step: float,
    count: int,
) -> tuple[int, int]:
    """Advance `y` (m,) in place by `count` steps of `step` [s] under a constant load.

    Returns the steps done, and the ball's status at the start of the last one.
    """
    size = y.shape[0]
    stages = Stages(np.empty(size), np.empty((4, size)), make_work(legs))
    for k in range(count):
        moved, status = rolling_move(body, legs, ball, status, y, load, step, stages)
        if not moved:
            return k, status
    return count, status
