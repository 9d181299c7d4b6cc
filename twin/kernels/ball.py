"""The ball on the platform: contact, flight, motion and steps.

Contact: with d the arm from the reference point to the contact, n the plate's normal, P the
projection on the plate, and A, alpha the platform's accelerations, the force of the plate on the
ball is

    F = (m n n^T + mu P) (A + alpha x d) + f,     mu = m k / (1 + k),

k the inertia factor: the platform feels a mass m across the plate and mu along it. `docs/theory.md`
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
from twin.kernels.dynamics.forward import (
    STATE_SIZE,
    Load,
    accelerate,
    fill_pose_rate,
    normalise,
    normalise_quaternion,
    sort_deflection_rates,
)
from twin.kernels.integrators import Stages, combine, shift
from twin.kernels.jit import compiled, device
from twin.kernels.legs.dispatch import deflections_per_leg
from twin.kernels.legs.interface import Legs, platform_state
from twin.kernels.linear_algebra import (
    Matrix,
    Vector,
    add,
    add_wrench,
    copy,
    cross,
    dot,
    quaternion_rate,
    rotate,
    rotate_back,
    rotation_at,
    scale,
    subtract,
    vector_at,
)

BALL_SIZE = 17

SMOOTH_SPEED = 1e-3
"""[m/s] Speed over which rolling resistance changes its sign smoothly; Coulomb's law jumps at
zero."""

(
    BALL_RADIUS,
    BALL_MASS,
    BALL_INERTIA_FACTOR,
    BALL_PLATE_RADIUS,
    BALL_PLATE_HEIGHT,
    BALL_FRICTION,
    BALL_RESISTANCE,
) = range(7)
"""Entries of a ball's constants `(7,)`, in SI units."""

STATE_X, STATE_Y, STATE_SPIN, STATE_ORIENTATION = 0, 1, 2, 5
"""Entries of a ball's state: position on the plate [m], angular velocity in base axes [rad/s],
quaternion of its orientation."""

STATE_FLYING, STATE_GAP, STATE_VELOCITY, STATE_LANDING_FORCE = 9, 10, 11, 14
"""Further entries of the state: 1 for a ball off the plate's face, else 0; its distance [m] from
the face; its velocity [m/s] against the plate in plate axes while it flies; force [N] in base axes
that the landing exerts on the plate over one step."""


BALL_ROLLING, BALL_SLIPPING, BALL_LOST, BALL_FLYING = 0, 1, 2, 3
"""Status of a ball: it rolls; it slips, as rolling would need more friction; it is over the plate's
edge or a radius above it; the plate has pushed it off and it soon lands."""


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
        return vector_at(state, STATE_VELOCITY)
    spin_x, spin_y, _ = rotate_back(matrix, subtract(vector_at(state, STATE_SPIN), omega))
    return ball[BALL_RADIUS] * spin_y, -ball[BALL_RADIUS] * spin_x, 0.0


@device
def tangential(normal: Vector, vector: Vector) -> Vector:
    """Return the component of a vector tangential to the plate."""
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
    normal_load = -ball[BALL_MASS] * dot(normal, gravity)
    tangential_spin = tangential(normal, spin)
    radius = ball[BALL_RADIUS]
    speed = sqrt(dot(tangential_spin, tangential_spin) + (SMOOTH_SPEED / radius) ** 2)
    return scale(-ball[BALL_RESISTANCE] * max(normal_load, 0.0) * radius / speed, tangential_spin)


@device
def contact_bias(
    ball: FloatArray, state: FloatArray, matrix: Matrix, omega: Vector, gravity: Vector
) -> tuple[Vector, Vector]:
    """Return the force f of the module's equation, and the moment of rolling resistance."""
    normal = contact_frame(matrix)[0]
    _, centre = arms(ball, state, matrix)
    relative_spin = subtract(vector_at(state, STATE_SPIN), omega)
    centre_velocity = scale(ball[BALL_RADIUS], cross(relative_spin, normal))
    frame_acceleration = add(
        cross(omega, cross(omega, centre)), scale(2.0, cross(omega, centre_velocity))
    )
    specific_force = subtract(frame_acceleration, gravity)
    moment = resisting_moment(ball, normal, relative_spin, gravity)
    factor = ball[BALL_INERTIA_FACTOR] / (1.0 + ball[BALL_INERTIA_FACTOR])
    gyroscopic = scale(ball[BALL_RADIUS], cross(normal, cross(omega, relative_spin)))
    tangential_force = scale(
        ball[BALL_MASS] * factor, add(tangential(normal, specific_force), gyroscopic)
    )
    braking = scale(
        1.0 / (ball[BALL_RADIUS] * (1.0 + ball[BALL_INERTIA_FACTOR])), cross(normal, moment)
    )
    normal_force = scale(ball[BALL_MASS] * dot(normal, specific_force), normal)
    return add(normal_force, subtract(tangential_force, braking)), moment


@device
def contact_force(
    ball: FloatArray, normal: Vector, contact: Vector, bias: Vector, acceleration: FloatArray
) -> Vector:
    """Return the force of the plate on the ball, base axes, under the platform's acceleration."""
    contact_acceleration = add(
        vector_at(acceleration, 0), cross(vector_at(acceleration, 3), contact)
    )
    normal_acceleration = dot(normal, contact_acceleration)
    factor = ball[BALL_INERTIA_FACTOR] / (1.0 + ball[BALL_INERTIA_FACTOR])
    inertial = scale(factor, subtract(contact_acceleration, scale(normal_acceleration, normal)))
    return add(bias, scale(ball[BALL_MASS], add(inertial, scale(normal_acceleration, normal))))


@device
def spin_rate(ball: FloatArray, normal: Vector, force: Vector, moment: Vector) -> Vector:
    """Return the angular acceleration of the ball, base axes: I dOmega/dt = -r n x F + M."""
    inertia = ball[BALL_INERTIA_FACTOR] * ball[BALL_MASS] * ball[BALL_RADIUS] ** 2
    return scale(1.0 / inertia, add(scale(-ball[BALL_RADIUS], cross(normal, force)), moment))


@device
def is_off(ball: FloatArray, state: FloatArray) -> bool:
    """Return whether a ball is over the plate's edge, or a radius above it."""
    beyond_edge = not state[STATE_X] ** 2 + state[STATE_Y] ** 2 <= ball[BALL_PLATE_RADIUS] ** 2
    return beyond_edge or not state[STATE_GAP] <= ball[BALL_RADIUS]


@device
def contact_status(ball: FloatArray, state: FloatArray, normal: Vector, force: Vector) -> int:
    """Return the status of a ball on the plate's face for the force of the plate on it.

    Where the force would have to pull, the ball flies.
    """
    if is_off(ball, state):
        return BALL_LOST
    normal_force = dot(normal, force)
    if not normal_force > 0.0:
        return BALL_FLYING
    friction = tangential(normal, force)
    return (
        BALL_ROLLING
        if dot(friction, friction) <= (ball[BALL_FRICTION] * normal_force) ** 2
        else BALL_SLIPPING
    )


@device
def put_ball(
    ball: FloatArray, pose: FloatArray, twist: FloatArray, start: FloatArray, state: FloatArray
) -> None:
    """Fill `state` (17,) of a ball that rolls without spin against the plate.

    `start` (4,): position [m] and velocity [m/s] in plate axes. Rolling: Omega_r = n x v / r.
    """
    matrix = rotation_at(pose, 3)
    state[STATE_X], state[STATE_Y] = start[0], start[1]
    rolling_spin = rotate(
        matrix, (-start[3] / ball[BALL_RADIUS], start[2] / ball[BALL_RADIUS], 0.0)
    )
    for k in range(3):
        state[STATE_SPIN + k] = twist[3 + k] + rolling_spin[k]
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
    centre_velocity = rotate(matrix, relative_velocity(ball, state, matrix, omega))
    velocity = add(platform.velocity, add(cross(omega, centre), centre_velocity))
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
    ball_arm = subtract(vector_at(motion, 0), platform.position)
    velocity = subtract(vector_at(motion, 7), platform.velocity)
    relative_velocity_on_plate = rotate_back(
        platform.matrix, subtract(velocity, cross(platform.omega, ball_arm))
    )
    position = rotate_back(platform.matrix, ball_arm)
    for k in range(3):
        on_plate[k] = position[k]
        on_plate[3 + k] = relative_velocity_on_plate[k]


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
    matrix = rotation_at(pose, 3)
    rolling_velocity = relative_velocity(ball, state, matrix, vector_at(twist, 3))
    state[STATE_FLYING], state[STATE_GAP] = 1.0, 0.0
    for k in range(3):
        state[STATE_VELOCITY + k] = rolling_velocity[k]


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
    linear, alpha = vector_at(acceleration, 0), vector_at(acceleration, 3)
    velocity = vector_at(state, STATE_VELOCITY)
    centre_velocity = rotate(matrix, velocity)
    frame_acceleration = add(
        cross(omega, cross(omega, centre)), scale(2.0, cross(omega, centre_velocity))
    )
    plate_acceleration = add(add(linear, cross(alpha, centre)), frame_acceleration)
    relative_acceleration = rotate_back(matrix, subtract(gravity, plate_acceleration))
    dy[0], dy[1], dy[STATE_GAP] = velocity
    for k in range(3):
        dy[STATE_SPIN + k] = 0.0
        dy[STATE_VELOCITY + k] = relative_acceleration[k]


@device
def land(
    ball: FloatArray, pose: FloatArray, twist: FloatArray, state: FloatArray, step: float
) -> None:
    """Turn the state of a flying ball into that of a rolling one; spread its impulse over `step`.

    The velocity becomes (v + k v_rolling) / (1 + k).
    """
    matrix = rotation_at(pose, 3)
    omega, radius, factor = (
        vector_at(twist, 3),
        ball[BALL_RADIUS],
        ball[BALL_INERTIA_FACTOR],
    )
    spin_x, spin_y, spin_z = rotate_back(matrix, subtract(vector_at(state, STATE_SPIN), omega))
    velocity_x = (state[STATE_VELOCITY] + factor * radius * spin_y) / (1.0 + factor)
    velocity_y = (state[STATE_VELOCITY + 1] - factor * radius * spin_x) / (1.0 + factor)
    velocity_change = (
        velocity_x - state[STATE_VELOCITY],
        velocity_y - state[STATE_VELOCITY + 1],
        -state[STATE_VELOCITY + 2],
    )
    landing_force = rotate(matrix, scale(-ball[BALL_MASS] / step, velocity_change))
    ball_spin = add(omega, rotate(matrix, (-velocity_y / radius, velocity_x / radius, spin_z)))
    state[STATE_FLYING] = state[STATE_GAP] = 0.0
    for k in range(3):
        state[STATE_SPIN + k] = ball_spin[k]
        state[STATE_LANDING_FORCE + k] = landing_force[k]
        state[STATE_VELOCITY + k] = 0.0


@device
def add_ball(
    ball: FloatArray, state: FloatArray, matrix: Matrix, bias: Vector, moment: Vector, work: Work
) -> None:
    """Add the ball to mass matrix and bias of the platform in `work`."""
    normal, first_tangent, second_tangent = contact_frame(matrix)
    contact, _ = arms(ball, state, matrix)
    tangential_mass = (
        ball[BALL_MASS] * ball[BALL_INERTIA_FACTOR] / (1.0 + ball[BALL_INERTIA_FACTOR])
    )
    add_direction(work.mass_matrix, ball[BALL_MASS], normal, cross(contact, normal))
    add_direction(work.mass_matrix, tangential_mass, first_tangent, cross(contact, first_tangent))
    add_direction(work.mass_matrix, tangential_mass, second_tangent, cross(contact, second_tangent))
    add_wrench(work.bias, bias, add(cross(contact, bias), moment))


@device
def add_landing_force(ball: FloatArray, state: FloatArray, matrix: Matrix, work: Work) -> None:
    """Add the force of a landing on the plate to the bias of the platform in `work`."""
    contact, _ = arms(ball, state, matrix)
    landing_force = vector_at(state, STATE_LANDING_FORCE)
    landing_moment = cross(contact, landing_force)
    for k in range(3):
        work.bias[k] -= landing_force[k]
        work.bias[k + 3] -= landing_moment[k]


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
    orientation_rate(state, dy)


@device
def orientation_rate(state: FloatArray, dy: FloatArray) -> None:
    """Fill the rate of the ball's orientation quaternion in `dy`."""
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
    in_play: bool,
    y: FloatArray,
    load: Load,
    dy: FloatArray,
    work: Work,
) -> tuple[bool, int]:
    """Fill `dy` at `y` (13 + 2k + 17,) under a constant load; its slope is not used.

    A ball that is not `in_play` any more keeps its position on the plate and exerts no force.

    Returns whether the platform has an acceleration, and the ball's status in this state.
    """
    n_deflections = deflections_per_leg(legs) * legs.rows.shape[0]
    size = STATE_SIZE + 2 * n_deflections
    fill_pose_rate(y, dy)
    platform = platform_state(y[:7], y[7:13])
    matrix, omega = platform.matrix, platform.omega
    state, deflection, gravity = y[size:], y[13:size], field(body)
    flies = state[STATE_FLYING] > 0.0
    bias, moment = contact_bias(ball, state, matrix, omega, gravity)
    singular = assemble(body, legs, platform, deflection, work)
    if in_play and not flies:
        add_ball(ball, state, matrix, bias, moment, work)
    if in_play:
        add_landing_force(ball, state, matrix, work)
    regular = accelerate(body, legs, platform, deflection, load.forces, load.wrench, dy[7:], work)
    regular = regular and singular < 0
    normal = contact_frame(matrix)[0]
    contact_reaction = contact_force(ball, normal, arms(ball, state, matrix)[0], bias, dy[7:13])
    sort_deflection_rates(y, dy, n_deflections)
    ball_rates = dy[size:]
    for k in range(BALL_SIZE):
        ball_rates[k] = 0.0
    if not in_play:
        return regular, BALL_LOST
    if flies:
        flight_rate(ball, state, matrix, omega, gravity, dy[7:13], ball_rates)
        orientation_rate(state, ball_rates)
        return regular, BALL_LOST if is_off(ball, state) else BALL_FLYING
    ball_rate(ball, state, matrix, omega, contact_reaction, moment, ball_rates)
    return regular, contact_status(ball, state, normal, contact_reaction)


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
        y: state of the platform, of the legs, then of the ball; unchanged when the step fails.
        load: constant forces on the machine.
        step: [s].
        stages: overwritten.

    Returns:
        Whether the step was done, and the ball's status at the start of the step.
    """
    trial, rates, work = stages
    size, in_play = y.shape[0], status != BALL_LOST
    regular, status = rolling_derivative(body, legs, ball, in_play, y, load, rates[0], work)
    ball_state = y[size - BALL_SIZE :]
    flies = ball_state[STATE_FLYING] > 0.0
    # The plate gives way under the force of a landing, which is no reason to take off again.
    has_landing_force = (
        ball_state[STATE_LANDING_FORCE] != 0.0
        or ball_state[STATE_LANDING_FORCE + 1] != 0.0
        or ball_state[STATE_LANDING_FORCE + 2] != 0.0
    )
    leaves_plate = status == BALL_FLYING and not flies and not has_landing_force
    if leaves_plate:
        take_off(ball, y[:7], y[7:13], ball_state)
    if leaves_plate or (in_play and status == BALL_LOST):
        in_play = status != BALL_LOST
        regular = rolling_derivative(body, legs, ball, in_play, y, load, rates[0], work)[0]
    for stage in range(3):
        shift(y, step if stage == 2 else 0.5 * step, rates[stage], trial)
        regular &= rolling_derivative(
            body, legs, ball, in_play, trial, load, rates[stage + 1], work
        )[0]
    if not (combine(y, step, rates, trial) and regular):
        return False, status
    copy(trial, y)
    normalise(legs, y[: size - BALL_SIZE])
    normalise_quaternion(ball_state, STATE_ORIENTATION)
    for k in range(3):
        ball_state[STATE_LANDING_FORCE + k] = 0.0
    if in_play and ball_state[STATE_FLYING] > 0.0 and ball_state[STATE_GAP] <= 0.0:
        land(ball, y[:7], y[7:13], ball_state, step)
    return True, status


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
    matrix = rotation_at(pose, 3)
    omega = vector_at(twist, 3)
    normal, contact = contact_frame(matrix)[0], arms(ball, state, matrix)[0]
    bias, moment = contact_bias(ball, state, matrix, omega, vector_at(gravity, 0))
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
        vector_at(normal, 0),
        vector_at(spin, 0),
        vector_at(gravity, 0),
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
        succeeded, status = rolling_move(body, legs, ball, status, y, load, step, stages)
        if not succeeded:
            return k, status
    return count, status
