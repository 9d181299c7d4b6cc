"""Platform and rolling ball together: y = (pose, twist, deflection, ball), dy/dt = f(y, forces).

The ball enters the platform's mass matrix and bias as a leg does, so that both are solved at once.
"""

from __future__ import annotations

from math import isfinite, sqrt

from twin.kernels.ball.contact import (
    BALL_SIZE,
    FLIES,
    FLYING,
    GAP,
    INERTIA_FACTOR,
    KICK,
    LOST,
    MASS,
    SPIN,
    TURN,
    arms,
    contact_bias,
    contact_force,
    contact_frame,
    contact_status,
    is_off,
    relative_velocity,
    spin_rate,
)
from twin.kernels.ball.flight import flight_rate, land, take_off
from twin.kernels.dynamics.assembly import add_direction, assemble, field
from twin.kernels.dynamics.forward import accelerate
from twin.kernels.dynamics.state import STATE_SIZE, normalise
from twin.kernels.jit import device
from twin.kernels.legs.dynamics import deflection_acceleration, deflection_count
from twin.kernels.quaternions import quaternion_rate
from twin.kernels.vectors import add, cross, rotation


@device
def add_ball(ball, state, matrix, bias, moment, work):
    """Add the ball to mass matrix and bias of the platform in `work`."""
    normal, first, second = contact_frame(matrix)
    contact, _ = arms(ball, state, matrix)
    sideways = ball[MASS] * ball[INERTIA_FACTOR] / (1.0 + ball[INERTIA_FACTOR])
    add_direction(work.mass_matrix, ball[MASS], normal, cross(contact, normal))
    add_direction(work.mass_matrix, sideways, first, cross(contact, first))
    add_direction(work.mass_matrix, sideways, second, cross(contact, second))
    turning = add(cross(contact, bias), moment)
    for k in range(3):
        work.bias[k] += bias[k]
        work.bias[k + 3] += turning[k]


@device
def add_kick(ball, state, matrix, work):
    """Add the force of a landing on the plate to the bias of the platform in `work`."""
    contact, _ = arms(ball, state, matrix)
    kick = (state[KICK], state[KICK + 1], state[KICK + 2])
    turning = cross(contact, kick)
    for k in range(3):
        work.bias[k] -= kick[k]
        work.bias[k + 3] -= turning[k]


@device
def solve_with_ball(body, legs, y, forces, wrench, acceleration, work):
    """Fill `acceleration` (6 + k,) from mass matrix and bias in `work`; False: there is none.

    `forward_dynamics` without its assembly; to share it would slow all machines without a ball.
    """
    for k in range(6):
        total = wrench[k] - work.bias[k]
        for i in range(legs.rows.shape[0]):
            total += work.jacobian[i, k] * forces[i]
        acceleration[k] = total
    regular = accelerate(legs, work, acceleration)
    count = deflection_count(legs)
    for i in range(count):
        acceleration[6 + i] = deflection_acceleration(
            legs,
            i,
            (y[0], y[1], y[2]),
            rotation(y[3], y[4], y[5], y[6]),
            (y[7], y[8], y[9]),
            (y[10], y[11], y[12]),
            field(body),
            y[STATE_SIZE : STATE_SIZE + 2 * count],
            forces[i],
        )
    return regular


@device
def ball_rate(ball, state, matrix, omega, force, moment, normal, dy):
    """Fill `dy` (17,) of a rolling ball under the force and the moment of the plate on it."""
    dy[0], dy[1], _ = relative_velocity(ball, state, matrix, omega)
    dy[SPIN], dy[SPIN + 1], dy[SPIN + 2] = spin_rate(ball, normal, force, moment)
    turn_rate(state, dy)


@device
def turn_rate(state, dy):
    """Fill `dy` of the ball's orientation."""
    dy[TURN], dy[TURN + 1], dy[TURN + 2], dy[TURN + 3] = quaternion_rate(
        state[TURN],
        state[TURN + 1],
        state[TURN + 2],
        state[TURN + 3],
        state[SPIN],
        state[SPIN + 1],
        state[SPIN + 2],
    )


@device
def rolling_derivative(body, legs, ball, rolls, y, forces, slope, elapsed, wrench, dy, work):
    """Fill `dy` at `y` (13 + 2k + 17,) under the forces `forces + elapsed * slope`.

    A ball that no longer `rolls` stays where it is on the plate, and is not felt.

    Returns whether the platform has an acceleration, and the ball's status in this state.
    """
    force, count = work.force, deflection_count(legs)
    size = STATE_SIZE + 2 * count
    for i in range(legs.rows.shape[0]):
        force[i] = forces[i] + elapsed * slope[i]
    for k in range(3):
        dy[k] = y[7 + k]
    dy[3], dy[4], dy[5], dy[6] = quaternion_rate(y[3], y[4], y[5], y[6], y[10], y[11], y[12])
    matrix, omega = rotation(y[3], y[4], y[5], y[6]), (y[10], y[11], y[12])
    state, gravity = y[size:], field(body)
    flies = state[FLIES] > 0.0
    bias, moment = contact_bias(ball, state, matrix, omega, gravity)
    singular = assemble(body, legs, y[:7], y[7:13], y[13:size], work)
    if rolls and not flies:
        add_ball(ball, state, matrix, bias, moment, work)
    if rolls:
        add_kick(ball, state, matrix, work)
    regular = solve_with_ball(body, legs, y, force, wrench, dy[7:], work)
    normal = contact_frame(matrix)[0]
    push = contact_force(ball, normal, arms(ball, state, matrix)[0], bias, dy[7:13])
    for i in range(count):
        dy[13 + count + i] = dy[13 + i]
        dy[13 + i] = y[13 + count + i]
    regular = regular and singular < 0
    own = dy[size:]
    for k in range(BALL_SIZE):
        own[k] = 0.0
    if not rolls:
        return regular, LOST
    if flies:
        flight_rate(ball, state, matrix, omega, gravity, dy[7:13], own)
        turn_rate(state, own)
        return regular, LOST if is_off(ball, state) else FLYING
    ball_rate(ball, state, matrix, omega, push, moment, normal, own)
    return regular, contact_status(ball, state, normal, push)


@device
def rolling_stage(
    body, legs, ball, rolls, y, forces, slope, time, wrench, base, factor, rates, k, work
):
    """Fill `rates[k]` with the derivative at `base + factor * rates[k - 1]`; False if singular."""
    for j in range(y.shape[0]):
        y[j] = base[j] + factor * rates[k - 1, j]
    return rolling_derivative(
        body, legs, ball, rolls, y, forces, slope, time, wrench, rates[k], work
    )[0]


@device
def rolling_move(
    body, legs, ball, status, y, forces, slope, time, step, wrench, trial, rates, work
):
    """Advance `y` (m,) in place by one Runge-Kutta step of order four.

    Args:
        body: platform constants.
        legs: leg constants.
        ball: constants of the ball.
        status: of the ball before; once `LOST`, always lost.
        y: state, the ball's behind the platform's and the legs'; unchanged when the step fails.
        forces: `(n,)` at t = 0.
        slope: `(n,)` their rate.
        time: start of the step [s].
        step: [s].
        wrench: `(6,)` constant.
        trial: `(m,)`, overwritten.
        rates: `(4, m)`, overwritten; row 0 becomes the derivative at the start.
        work: from `make_work`, overwritten.

    Returns:
        Whether the step was done, and the ball's status at its start.
    """
    half, stop, size, rolls = time + 0.5 * step, time + step, y.shape[0], status != LOST
    regular, status = rolling_derivative(
        body, legs, ball, rolls, y, forces, slope, time, wrench, rates[0], work
    )
    own = y[size - BALL_SIZE :]
    flies = own[FLIES] > 0.0
    # While the plate still feels a landing it gives way, which is no reason to take off again.
    landed = own[KICK] != 0.0 or own[KICK + 1] != 0.0 or own[KICK + 2] != 0.0
    takes_off = status == FLYING and not flies and not landed
    if takes_off:
        take_off(ball, y[:7], y[7:13], own)
    if takes_off or (rolls and status == LOST):
        rolls = status != LOST
        regular = rolling_derivative(
            body, legs, ball, rolls, y, forces, slope, time, wrench, rates[0], work
        )[0]
    regular &= rolling_stage(
        body, legs, ball, rolls, trial, forces, slope, half, wrench, y, 0.5 * step, rates, 1, work
    )
    regular &= rolling_stage(
        body, legs, ball, rolls, trial, forces, slope, half, wrench, y, 0.5 * step, rates, 2, work
    )
    regular &= rolling_stage(
        body, legs, ball, rolls, trial, forces, slope, stop, wrench, y, step, rates, 3, work
    )
    total = 0.0
    for j in range(size):
        middle = rates[1, j] + rates[2, j]
        trial[j] = y[j] + step / 6.0 * (rates[0, j] + 2.0 * middle + rates[3, j])
        total += trial[j]
    if not (regular and isfinite(total)):
        return False, status
    for j in range(size):
        y[j] = trial[j]
    normalise(legs, y[: size - BALL_SIZE])
    normalise_turn(own)
    for k in range(3):
        own[KICK + k] = 0.0
    if rolls and own[FLIES] > 0.0 and own[GAP] <= 0.0:
        land(ball, y[:7], y[7:13], own, step)
    return True, status


@device
def normalise_turn(state):
    """Scale the ball's quaternion to length one."""
    inverse = 1.0 / sqrt(
        state[TURN] ** 2 + state[TURN + 1] ** 2 + state[TURN + 2] ** 2 + state[TURN + 3] ** 2
    )
    for k in range(TURN, TURN + 4):
        state[k] *= inverse
