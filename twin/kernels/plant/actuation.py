"""Drives, electronics, friction, end stops and sensors: forces on the legs, readings of sensors.

A step of all drives leads from commands to the effort of the motors, and through motors and
transmissions to the forces on the legs. The motor's side is integrated in small steps of its own
within a step of the engine, against a leg that moves on at its rate; the leg takes the mean of the
transmission's force, so that both sides exchange the same impulse.

RC servos and stepper motors take positions. Both draw their motor to a position inside each of the
motor's own steps, as a servo's loop and a stepper's field do.

docs/theory.md has the scheme and the laws.
"""

from __future__ import annotations

from math import exp, pi, sin

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device
from twin.kernels.plant.columns import (
    AT_EFFORT,
    AT_SPEED,
    BRAKE_CLOSURE,
    BRAKE_EFFORT,
    BRAKE_HOLDS,
    BREAKAWAY,
    COMMANDED_POSITION,
    CONTINUOUS_EFFORT,
    DAMPING,
    DEAD_BAND,
    EARLIER_LEG_RATE,
    EFFORT,
    EFFORT_RESOLUTION,
    ENGAGE_FRACTION,
    FIELD_DAMPING,
    FIELD_POSITION,
    FIELD_RATE,
    FRICTION,
    HALF_BACKLASH,
    HEAT,
    HEATING_FRACTION,
    INERTIA,
    INTEGRAL,
    LAG_FACTOR,
    LEG_RATE,
    LIMITED,
    LOWER_STOP,
    LOWER_SWITCH,
    MAX_SPEED,
    MEAN_LAG_FACTOR,
    OUT_OF_STEP,
    PEAK_EFFORT,
    POSITION,
    POSITION_MODE,
    POSITION_RESOLUTION,
    POSITIONING,
    RELEASE_FRACTION,
    SPAN_OR_FULL_STEP,
    SPEED,
    SPEED_CHANGE,
    SPEED_RESOLUTION,
    STEPPER_DRIVE,
    STEPS_TO_UPDATE,
    STIFFNESS,
    STOP_DAMPING,
    STOP_STIFFNESS,
    STRIBECK_SPEED,
    TOP_SPEED,
    UPDATE_STEPS,
    UPPER_STOP,
    UPPER_SWITCH,
    VELOCITY_MODE,
    VISCOUS,
)

COORDINATE_ROW, RATE_ROW, AT_MINIMUM_ROW, AT_MAXIMUM_ROW = range(4)
"""Rows of a reading: coordinate, rate, and 1 where the lower or the upper switch is pressed."""

READING_ROW_COUNT = 4


@device
def end_stop(drive: FloatArray, coordinate: float, rate: float) -> float:
    """Return the force of an end stop on a leg at a coordinate; it pushes and never pulls."""
    if coordinate < drive[LOWER_STOP]:
        depth = drive[LOWER_STOP] - coordinate
        return max(drive[STOP_STIFFNESS] * depth - drive[STOP_DAMPING] * rate, 0.0)
    if coordinate > drive[UPPER_STOP]:
        depth = drive[UPPER_STOP] - coordinate
        return min(drive[STOP_STIFFNESS] * depth - drive[STOP_DAMPING] * rate, 0.0)
    return 0.0


@device
def limited(value: float, low: float, high: float) -> float:
    """Return `value` limited to `low` and `high`."""
    return min(max(value, low), high)


@device
def rounded(value: float, resolution: float) -> float:
    """Return the multiple of `resolution` nearest to `value`; 0 for exact."""
    return value if resolution == 0.0 else resolution * round(value / resolution)


@device
def largest_effort(drive: FloatArray, state: FloatArray) -> float:
    """Return the largest effort of a motor: of a hot one the continuous effort, else the peak."""
    if state[HEAT] > drive[CONTINUOUS_EFFORT] * drive[CONTINUOUS_EFFORT]:
        return min(drive[PEAK_EFFORT], drive[CONTINUOUS_EFFORT])
    return drive[PEAK_EFFORT]


@device
def follow_position(
    drive: FloatArray, state: FloatArray, mode: int, command: float, step: float
) -> None:
    """Advance the setpoint that a position drive pulls its motor to by one `step` [s].

    A commanded speed moves the target; a commanded position is the target. Every `UPDATE_STEPS`
    steps a servo takes the target, which is its `FIELD_POSITION`, and a stepper the speed that
    reaches it until the next update. `LIMITED` says what holds the motor back: a stepper that is
    half a period of its field away is out of step. A servo beyond its dead band is at its speed
    from half its top speed on (engineering choice), else at its effort.
    """
    if mode == POSITION_MODE:
        state[COMMANDED_POSITION] = command
    else:
        state[COMMANDED_POSITION] += step * limited(command, -drive[MAX_SPEED], drive[MAX_SPEED])
    state[COMMANDED_POSITION] = limited(
        state[COMMANDED_POSITION], drive[LOWER_SWITCH], drive[UPPER_SWITCH]
    )
    update_due = state[STEPS_TO_UPDATE] <= 0.0
    state[STEPS_TO_UPDATE] = (
        drive[UPDATE_STEPS] - 1.0 if update_due else state[STEPS_TO_UPDATE] - 1.0
    )
    if drive[POSITIONING] == STEPPER_DRIVE:
        if update_due:
            rate = (state[COMMANDED_POSITION] - state[FIELD_POSITION]) / (
                drive[UPDATE_STEPS] * step
            )
            state[FIELD_RATE] = limited(rate, -drive[MAX_SPEED], drive[MAX_SPEED])
        state[FIELD_POSITION] += step * state[FIELD_RATE]
    elif update_due:
        state[FIELD_POSITION] = rounded(state[COMMANDED_POSITION], drive[POSITION_RESOLUTION])
    state[LIMITED] = 0.0
    position_lead = state[FIELD_POSITION] - state[POSITION]
    if drive[POSITIONING] == STEPPER_DRIVE:
        if abs(position_lead) > 2.0 * drive[SPAN_OR_FULL_STEP]:
            state[LIMITED] = OUT_OF_STEP
    elif abs(position_lead) > drive[DEAD_BAND] + drive[SPAN_OR_FULL_STEP]:
        near_top_speed = state[SPEED] * position_lead > 0.5 * drive[TOP_SPEED] * abs(position_lead)
        state[LIMITED] = AT_SPEED if near_top_speed else AT_EFFORT


@device
def positioning_effort(
    drive: FloatArray, state: FloatArray, coordinate: float, speed: float, remaining_time: float
) -> float:
    """Return the effort of a motor at a coordinate, `remaining_time` [s] before a step's end.

    A servo gives its stall effort in proportion to the error beyond its dead band; what its speed
    takes away is viscous. A stepper gives the sine of its lag behind the field, with a period of
    four full steps, under the pull-out effort, which falls with speed to zero.
    """
    peak_effort = largest_effort(drive, state)
    if drive[POSITIONING] == STEPPER_DRIVE:
        pull_out = peak_effort * max(0.0, 1.0 - abs(speed) / drive[TOP_SPEED])
        field = rounded(
            state[FIELD_POSITION] - remaining_time * state[FIELD_RATE], drive[POSITION_RESOLUTION]
        )
        effort = pull_out * sin(0.5 * pi * (field - coordinate) / drive[SPAN_OR_FULL_STEP])
        effort += drive[FIELD_DAMPING] * (state[FIELD_RATE] - speed)
        return limited(effort, -pull_out, pull_out)
    field_lead = state[FIELD_POSITION] - coordinate
    excess_lead = max(0.0, abs(field_lead) - drive[DEAD_BAND])
    fraction = min(1.0, excess_lead / drive[SPAN_OR_FULL_STEP])
    return peak_effort * fraction if field_lead > 0.0 else -peak_effort * fraction


@device
def converted(value: float, full_range: float, resolution: float) -> float:
    """Return `value` as a converter of range `full_range` outputs it; a `resolution` of 0 is exact.

    The codes of a converter end one below its full range: -2048 to 2047 with 12 bits.
    """
    if resolution == 0.0:
        return value
    top = full_range / resolution
    return resolution * round(limited(value / resolution, -top, top - 1.0))


@device
def gated(command: float, at_lower: bool, at_upper: bool) -> float:
    """Return a speed or force command; zero if it points beyond a pressed limit switch.

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
    lead: float, lead_rate: float, half_backlash: float, stiffness: float, damping: float
) -> float:
    """Return the force of the transmission of a motor that is ahead of its leg by `lead`."""
    if half_backlash == 0.0:
        return stiffness * lead + damping * lead_rate
    if lead > half_backlash:
        return max(stiffness * (lead - half_backlash) + damping * lead_rate, 0.0)
    if lead < -half_backlash:
        return min(stiffness * (lead + half_backlash) + damping * lead_rate, 0.0)
    return 0.0


@device
def motor_command(
    drive: FloatArray,
    state: FloatArray,
    velocity_mode: bool,
    command: float,
    feedforward: float,
    gain: float,
    integral_gain: float,
    step: float,
) -> float:
    """Return the effort of a motor; the velocity loop's integral stops at the limits.

    The loop of a motor with inertia takes speed and integral at the middle of the step, so that it
    acts like a loop in continuous time.
    """
    position, speed = state[POSITION], state[SPEED]
    peak_effort, limit = largest_effort(drive, state), 0.0
    if velocity_mode:
        if abs(command) >= drive[MAX_SPEED]:
            limit = AT_SPEED
        setpoint = converted(command, drive[MAX_SPEED], drive[SPEED_RESOLUTION])
        setpoint = limited(setpoint, -drive[MAX_SPEED], drive[MAX_SPEED])
        setpoint = gated(setpoint, position <= drive[LOWER_SWITCH], position >= drive[UPPER_SWITCH])
        error = setpoint - speed - 0.5 * state[SPEED_CHANGE]
        feedforward_effort = converted(feedforward, drive[PEAK_EFFORT], drive[EFFORT_RESOLUTION])
        if drive[INERTIA] > 0.0:
            gain += 0.5 * step * integral_gain
        unlimited = gain * error + state[INTEGRAL] + feedforward_effort
        effort = limited(unlimited, -peak_effort, peak_effort)
        if effort == unlimited or (unlimited - effort) * error < 0.0:
            state[INTEGRAL] += integral_gain * error * step
    else:
        unlimited = command
        effort = converted(command, drive[PEAK_EFFORT], drive[EFFORT_RESOLUTION])
        # At a limit switch no more outwards than what brings the motor to rest.
        if position <= drive[LOWER_SWITCH]:
            effort = max(effort, -gain * speed)
        if position >= drive[UPPER_SWITCH]:
            effort = min(effort, -gain * speed)
        if abs(speed) > drive[MAX_SPEED] and effort * speed > 0.0:
            effort, limit = 0.0, AT_SPEED
        effort = limited(effort, -peak_effort, peak_effort)
        state[INTEGRAL] = effort
    state[LIMITED] = AT_EFFORT if abs(unlimited) > peak_effort else limit
    return effort


@device
def brake(drive: FloatArray, state: FloatArray, command: float) -> None:
    """Move a brake for one step; once fully closed it holds until it is fully open."""
    engagement_step = drive[ENGAGE_FRACTION] if command > 0.0 else -drive[RELEASE_FRACTION]
    state[BRAKE_CLOSURE] = limited(state[BRAKE_CLOSURE] + engagement_step, 0.0, 1.0)
    if state[BRAKE_CLOSURE] == 1.0:
        state[BRAKE_HOLDS] = 1.0
    elif state[BRAKE_CLOSURE] == 0.0:
        state[BRAKE_HOLDS] = 0.0


@device
def speed_under_friction(
    speed: float, acceleration: float, deceleration: float, time: float
) -> float:
    """Return a speed after `time` [s] under an acceleration, braked by dry friction.

    Friction decelerates by `deceleration` at most. A motor that stops within the time stays, or
    turns back from that moment on.
    """
    if speed != 0.0:
        net_acceleration = acceleration + (-deceleration if speed > 0.0 else deceleration)
        new_speed = speed + time * net_acceleration
        if new_speed * speed >= 0.0:
            return new_speed
        time += speed / net_acceleration
    if abs(acceleration) <= deceleration:
        return 0.0
    return time * (acceleration + (-deceleration if acceleration > 0.0 else deceleration))


@device
def rate_within_step(state: FloatArray, rate: float) -> float:
    """Return the rate of a leg in the middle of a step, and note the `rate` at its start.

    The acceleration is that of the last two steps. Of one step alone, the steps of the engine would
    have to be up to half as long: a leg that swings from step to step would be damped twice.
    """
    middle_rate = rate + 0.25 * (rate - state[EARLIER_LEG_RATE])
    state[EARLIER_LEG_RATE], state[LEG_RATE] = state[LEG_RATE], rate
    return middle_rate


@device
def transmit(
    drive: FloatArray,
    state: FloatArray,
    effort: float,
    coordinate: float,
    rate: float,
    middle_rate: float,
    step: float,
    substeps: int,
) -> float:
    """Move a motor under `effort` through one step of the engine; return its mean force.

    The spring is stretched by a leg that goes on at its `rate`, and damped by the `middle_rate`.
    Motors of position drives are drawn to their positions in each of their own steps.
    """
    substep, mobility, is_positioning = (
        step / substeps,
        1.0 / drive[INERTIA],
        drive[POSITIONING] > 0.0,
    )
    brake_effort = drive[BRAKE_EFFORT] * state[BRAKE_HOLDS]
    position, speed, force_sum = state[POSITION], state[SPEED], 0.0
    half_change, half_viscous = 0.5 * state[SPEED_CHANGE] / substeps, 0.5 * drive[VISCOUS]
    remaining_fraction = 1.0 / (1.0 + half_viscous * substep * mobility)
    for substep_index in range(substeps):
        leg_coordinate = coordinate + rate * (substep_index + 0.5) * substep
        force = contact(
            position + 0.5 * substep * speed - leg_coordinate,
            speed + half_change - middle_rate,
            drive[HALF_BACKLASH],
            drive[STIFFNESS],
            drive[DAMPING],
        )
        if is_positioning:
            effort = positioning_effort(
                drive, state, position, speed, step - (substep_index + 0.5) * substep
            )
        dry_friction = drive[FRICTION] + brake_effort
        if drive[BREAKAWAY] > drive[FRICTION]:
            speed_ratio = (speed + half_change) / drive[STRIBECK_SPEED] if speed != 0.0 else 0.0
            dry_friction += (drive[BREAKAWAY] - drive[FRICTION]) * exp(-speed_ratio * speed_ratio)
        acceleration = mobility * (effort - force - half_viscous * speed)
        new_speed = speed_under_friction(speed, acceleration, mobility * dry_friction, substep)
        new_speed *= remaining_fraction
        half_change = 0.5 * (new_speed - speed)
        position += substep * (speed + half_change)
        speed = new_speed
        force_sum += force
    state[SPEED_CHANGE] = speed - state[SPEED]
    state[POSITION], state[SPEED] = position, speed
    if is_positioning:
        state[EFFORT] = effort
    return force_sum / substeps


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
    substeps: int,
    out: FloatArray,
) -> None:
    """Advance all drives by one `step` [s] of the engine; fill `out` (n,) with forces on the legs.

    Args:
        drives: `(n, CONSTANTS)`.
        states: `(n, STATES)`, advanced in place.
        gains: `(n, 2)` of the velocity loop: gain, and integral gain (gain over integral time).
        commands: `(n,)` forces, speeds or positions; position drives take no forces.
        feedforward: `(n,)` forces added to the velocity loop's.
        brakes: `(n,)` 1 to hold.
        coordinates: `(n,)` of the legs at the start of the step.
        rates: `(n,)` of the actuators.
        mode: `FORCE_MODE`, `VELOCITY_MODE` or `POSITION_MODE`.
        step: [s].
        substeps: steps of the motors within `step`.
        out: `(n,)`, overwritten.
    """
    for i in range(drives.shape[0]):
        drive, state = drives[i], states[i]
        if drive[INERTIA] == 0.0:
            state[POSITION], state[SPEED] = coordinates[i], rates[i]
        mean_effort, middle_rate = 0.0, rate_within_step(state, rates[i])
        if drive[POSITIONING] > 0.0:
            follow_position(drive, state, mode, commands[i], step)
        else:
            effort = motor_command(
                drive,
                state,
                mode == VELOCITY_MODE,
                commands[i],
                feedforward[i],
                gains[i, 0],
                gains[i, 1],
                step,
            )
            effort_error = state[EFFORT] - effort
            mean_effort = effort + drive[MEAN_LAG_FACTOR] * effort_error
            state[EFFORT] = effort + drive[LAG_FACTOR] * effort_error
        state[HEAT] += drive[HEATING_FRACTION] * (state[EFFORT] * state[EFFORT] - state[HEAT])
        if drive[INERTIA] > 0.0:
            brake(drive, state, brakes[i])
            force = transmit(
                drive, state, mean_effort, coordinates[i], rates[i], middle_rate, step, substeps
            )
        else:
            force = mean_effort - drive[VISCOUS] * middle_rate
        out[i] = force + end_stop(drive, coordinates[i] + 0.5 * step * rates[i], rates[i])


@compiled
def read_actuators(
    drives: FloatArray,
    states: FloatArray,
    resolution: FloatArray,
    last_coordinates: FloatArray,
    span: float,
    coordinates: FloatArray,
    rates: FloatArray,
    out: FloatArray,
) -> None:
    """Fill `out` with coordinates, rates and switches as the sensors measure them.

    Args:
        drives: `(n, CONSTANTS)`.
        states: `(n, STATES)`; sensors sit on the motors. Those without inertia are where their legs
            are, and are put there.
        resolution: `(n,)` one count in the actuator's coordinate; 0 for an exact sensor. Position
            drives have no exact one: they report the commanded position, at rest.
        last_coordinates: `(n,)` the last reading of the encoders, overwritten by this one.
        span: [s] since then; 0 for none: rates of encoders are then zero.
        coordinates: `(n,)` of the legs.
        rates: `(n,)` of the actuators.
        out: overwritten.
    """
    for i in range(drives.shape[0]):
        if drives[i, INERTIA] == 0.0:
            states[i, POSITION], states[i, SPEED] = coordinates[i], rates[i]
        coordinate, speed = states[i, POSITION], states[i, SPEED]
        if resolution[i] > 0.0:
            coordinate = resolution[i] * round(coordinate / resolution[i])
            speed = (coordinate - last_coordinates[i]) / span if span > 0.0 else 0.0
            last_coordinates[i] = coordinate
        elif drives[i, POSITIONING] > 0.0:
            coordinate, speed = states[i, COMMANDED_POSITION], 0.0
        out[COORDINATE_ROW, i], out[RATE_ROW, i] = coordinate, speed
        out[AT_MINIMUM_ROW, i] = 1.0 if coordinate <= drives[i, LOWER_SWITCH] else 0.0
        out[AT_MAXIMUM_ROW, i] = 1.0 if coordinate >= drives[i, UPPER_SWITCH] else 0.0
