"""One step of all drives: command to motor effort, motor and transmission to force on the leg.

The motor's side is integrated in small steps of its own within a step of the engine, against a leg
that moves on at its rate; the leg takes the mean of the transmission's force, so that both sides
exchange the same impulse. docs/plant.md derives the scheme.
"""

from __future__ import annotations

from math import exp

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device
from twin.kernels.plant.columns import (
    AT_EFFORT,
    AT_SPEED,
    BRAKE,
    BREAKAWAY,
    CLOSING,
    CONTINUOUS,
    DAMPING,
    EFFORT,
    EFFORT_DIGIT,
    ENGAGING,
    FASTEST,
    FRICTION,
    HALF_PLAY,
    HEAT,
    HOLDING,
    INERTIA,
    INTEGRAL,
    LAG,
    LAG_MEAN,
    LIMITED,
    LOWER,
    PEAK,
    POSITION,
    POSITIONING,
    RELEASING,
    SPEED,
    SPEED_DIGIT,
    STIFFNESS,
    STRIBECK,
    UPPER,
    VELOCITY,
    VISCOUS,
    WARMING,
)
from twin.kernels.plant.end_stop import end_stop
from twin.kernels.plant.positioning import between, draw, follow_position


@device
def converted(value: float, full: float, digit: float) -> float:
    """Return `value` as a converter of range `full` puts it out in steps of `digit`; 0 for exact.

    The codes of a converter end one below its full range: -2048 to 2047 with 12 bits.
    """
    if digit == 0.0:
        return value
    top = full / digit
    return digit * round(between(value / digit, -top, top - 1.0))


@device
def gated(command: float, at_lower: bool, at_upper: bool) -> float:
    """Return a speed or force command, zero where it leads further out at a pressed switch.

    Args:
        command: positive towards the upper limit [m/s, rad/s, N, N m].
        at_lower: whether the switch at the lower limit is pressed.
        at_upper: whether the one at the upper limit is pressed.

    Reference:
        Stewart thesis, section 4.3.2: an actuator at a limit is given zero velocity command, "but
        it is allowed to accept positive/negative velocity demands" away from it.
    """
    if (at_lower and command < 0.0) or (at_upper and command > 0.0):
        return 0.0
    return command


@device
def contact(
    gap: float, closing: float, half_play: float, stiffness: float, damping: float
) -> float:
    """Return the force of the transmission for the motor ahead by `gap`, `closing` at a rate."""
    if half_play == 0.0:
        return stiffness * gap + damping * closing
    if gap > half_play:
        return max(stiffness * (gap - half_play) + damping * closing, 0.0)
    if gap < -half_play:
        return min(stiffness * (gap + half_play) + damping * closing, 0.0)
    return 0.0


@device
def motor_command(
    drive: FloatArray,
    state: FloatArray,
    velocity_mode: bool,
    command: float,
    feedforward: float,
    gain: float,
    rate_gain: float,
    step: float,
) -> float:
    """Return the effort of a motor; the velocity loop's integral stops at the limits."""
    at, speed = state[POSITION], state[SPEED]
    most, limit = drive[PEAK], 0.0
    if state[HEAT] > drive[CONTINUOUS] * drive[CONTINUOUS]:
        most = min(most, drive[CONTINUOUS])
    if velocity_mode:
        if abs(command) >= drive[FASTEST]:
            limit = AT_SPEED
        setpoint = converted(command, drive[FASTEST], drive[SPEED_DIGIT])
        setpoint = between(setpoint, -drive[FASTEST], drive[FASTEST])
        setpoint = gated(setpoint, at <= drive[LOWER], at >= drive[UPPER])
        error = setpoint - speed
        added = converted(feedforward, drive[PEAK], drive[EFFORT_DIGIT])
        unlimited = gain * error + state[INTEGRAL] + added
        effort = between(unlimited, -most, most)
        if effort == unlimited or (unlimited - effort) * error < 0.0:
            state[INTEGRAL] += rate_gain * error * step
    else:
        unlimited = command
        effort = converted(command, drive[PEAK], drive[EFFORT_DIGIT])
        # At a limit switch no more outwards than what brings the motor to rest.
        if at <= drive[LOWER]:
            effort = max(effort, -gain * speed)
        if at >= drive[UPPER]:
            effort = min(effort, -gain * speed)
        if abs(speed) > drive[FASTEST] and effort * speed > 0.0:
            effort, limit = 0.0, AT_SPEED
        effort = between(effort, -most, most)
        state[INTEGRAL] = effort
    state[LIMITED] = AT_EFFORT if abs(unlimited) > most else limit
    return effort


@device
def brake(drive: FloatArray, state: FloatArray, command: float) -> None:
    """Close or open a brake for one step; it holds from fully closed until fully open."""
    change = drive[ENGAGING] if command > 0.0 else -drive[RELEASING]
    state[CLOSING] = between(state[CLOSING] + change, 0.0, 1.0)
    if state[CLOSING] == 1.0:
        state[HOLDING] = 1.0
    elif state[CLOSING] == 0.0:
        state[HOLDING] = 0.0


@device
def transmit(
    drive: FloatArray,
    state: FloatArray,
    effort: float,
    coordinate: float,
    rate: float,
    step: float,
    parts: int,
) -> float:
    """Move a motor under `effort` through one step of the engine; return its mean force.

    Motors of position drives are drawn to their positions in each of their own steps.
    """
    small, inertia, drawn = step / parts, drive[INERTIA], drive[POSITIONING] > 0.0
    holding = drive[BRAKE] * state[HOLDING]
    at, speed, total = state[POSITION], state[SPEED], 0.0
    for part in range(parts):
        leg = coordinate + rate * (part + 0.5) * small
        force = contact(
            at + 0.5 * small * speed - leg,
            speed - rate,
            drive[HALF_PLAY],
            drive[STIFFNESS],
            drive[DAMPING],
        )
        if drawn:
            effort = draw(drive, state, at, speed, step - (part + 0.5) * small)
        level = drive[FRICTION] + holding
        if drive[BREAKAWAY] > drive[FRICTION]:
            part_speed = speed / drive[STRIBECK]
            level += (drive[BREAKAWAY] - drive[FRICTION]) * exp(-part_speed * part_speed)
        # Dry friction takes what speed there is, or stops the motor: it never turns it back.
        free = speed + small * (effort - force) / inertia
        loss = small * level / inertia
        moved = 0.0 if abs(free) <= loss else free - (loss if free > 0.0 else -loss)
        moved /= 1.0 + small * drive[VISCOUS] / inertia
        at += small * 0.5 * (speed + moved)
        speed = moved
        total += force
    state[POSITION], state[SPEED] = at, speed
    if drawn:
        state[EFFORT] = effort
    return total / parts


@compiled
def actuate(
    drives: FloatArray,
    states: FloatArray,
    gains: FloatArray,
    commands: FloatArray,
    feedforward: FloatArray,
    brakes: FloatArray,
    coordinates: FloatArray,
    rates: FloatArray,
    mode: int,
    step: float,
    parts: int,
    out: FloatArray,
) -> None:
    """Advance all drives by one `step` [s] of the engine; fill `out` (n,) with forces on the legs.

    Args:
        drives: `(n, CONSTANTS)`.
        states: `(n, STATES)`, advanced in place.
        gains: `(n, 2)` of the velocity loop: gain, and gain per integral time.
        commands: `(n,)` forces, speeds or positions; position drives take no forces.
        feedforward: `(n,)` forces added to the velocity loop's.
        brakes: `(n,)` 1 to hold.
        coordinates: `(n,)` of the legs at the start of the step.
        rates: `(n,)` theirs.
        mode: `FORCE`, `VELOCITY` or `PLACE`.
        step: [s].
        parts: steps of the motors within `step`.
        out: `(n,)`, overwritten.
    """
    for i in range(drives.shape[0]):
        drive, state = drives[i], states[i]
        if drive[INERTIA] == 0.0:
            state[POSITION], state[SPEED] = coordinates[i], rates[i]
        mean = 0.0
        if drive[POSITIONING] > 0.0:
            follow_position(drive, state, mode, commands[i], step)
        else:
            effort = motor_command(
                drive,
                state,
                mode == VELOCITY,
                commands[i],
                feedforward[i],
                gains[i, 0],
                gains[i, 1],
                step,
            )
            behind = state[EFFORT] - effort
            mean = effort + drive[LAG_MEAN] * behind
            state[EFFORT] = effort + drive[LAG] * behind
        state[HEAT] += drive[WARMING] * (state[EFFORT] * state[EFFORT] - state[HEAT])
        if drive[INERTIA] > 0.0:
            brake(drive, state, brakes[i])
            force = transmit(drive, state, mean, coordinates[i], rates[i], step, parts)
        else:
            force = mean - drive[VISCOUS] * rates[i]
        out[i] = force + end_stop(drive, coordinates[i] + 0.5 * step * rates[i], rates[i])
