"""Platform and rolling ball together: y = (pose, twist, deflection, ball), dy/dt = f(y, forces).

The ball enters the platform's mass matrix and bias as a leg does, so that both are solved at once.
"""

from __future__ import annotations

from math import sqrt

from twin.basics.arrays import FloatArray
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
from twin.kernels.dynamics.state import STATE_SIZE, Load, fill_pose_rate, normalise
from twin.kernels.dynamics.work import Work
from twin.kernels.integrators.runge_kutta import Stages, combine, shift
from twin.kernels.jit import device
from twin.kernels.legs.dispatch import deflections_per_leg
from twin.kernels.legs.interface import Legs
from twin.kernels.platform_state import platform_state
from twin.kernels.quaternions import quaternion_rate
from twin.kernels.vectors import Matrix, Vector, add, cross


@device
def add_ball(
    ball: FloatArray, state: FloatArray, matrix: Matrix, bias: Vector, moment: Vector, work: Work
) -> None:
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
def add_kick(ball: FloatArray, state: FloatArray, matrix: Matrix, work: Work) -> None:
    """Add the force of a landing on the plate to the bias of the platform in `work`."""
    contact, _ = arms(ball, state, matrix)
    kick = (state[KICK], state[KICK + 1], state[KICK + 2])
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
    dy[SPIN], dy[SPIN + 1], dy[SPIN + 2] = spin_rate(ball, normal, force, moment)
    turn_rate(state, dy)


@device
def turn_rate(state: FloatArray, dy: FloatArray) -> None:
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
    flies = state[FLIES] > 0.0
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
        return regular, LOST
    if flies:
        flight_rate(ball, state, matrix, omega, gravity, dy[7:13], own)
        turn_rate(state, own)
        return regular, LOST if is_off(ball, state) else FLYING
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
        status: of the ball before; once `LOST`, always lost.
        y: state, the ball's behind the platform's and the legs'; unchanged when the step fails.
        load: constant forces on the machine.
        step: [s].
        stages: overwritten.

    Returns:
        Whether the step was done, and the ball's status at its start.
    """
    trial, rates, work = stages
    size, rolls = y.shape[0], status != LOST
    regular, status = rolling_derivative(body, legs, ball, rolls, y, load, rates[0], work)
    own = y[size - BALL_SIZE :]
    flies = own[FLIES] > 0.0
    # The plate gives way under the force of a landing, which is no reason to take off again.
    landed = own[KICK] != 0.0 or own[KICK + 1] != 0.0 or own[KICK + 2] != 0.0
    takes_off = status == FLYING and not flies and not landed
    if takes_off:
        take_off(ball, y[:7], y[7:13], own)
    if takes_off or (rolls and status == LOST):
        rolls = status != LOST
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
        own[KICK + k] = 0.0
    if rolls and own[FLIES] > 0.0 and own[GAP] <= 0.0:
        land(ball, y[:7], y[7:13], own, step)
    return True, status


@device
def normalise_turn(state: FloatArray) -> None:
    """Scale the ball's quaternion to length one."""
    inverse = 1.0 / sqrt(
        state[TURN] ** 2 + state[TURN + 1] ** 2 + state[TURN + 2] ** 2 + state[TURN + 3] ** 2
    )
    for k in range(TURN, TURN + 4):
        state[k] *= inverse
