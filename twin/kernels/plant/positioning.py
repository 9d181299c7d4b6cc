"""Drives that take positions: RC servos and stepper motors.

Both draw their motor to a position inside each of the motor's own steps, as a servo's loop and a
stepper's field do. docs/plant.md derives the laws.
"""

from __future__ import annotations

from math import pi, sin

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.plant.columns import (
    AT_EFFORT,
    AT_SPEED,
    CLOCK,
    CONTINUOUS,
    DEAD,
    DIGIT,
    FASTEST,
    FIELD,
    FIELD_DAMPING,
    FIELD_RATE,
    HEAT,
    LIMITED,
    LOWER,
    OUT_OF_STEP,
    PEAK,
    PLACE,
    POSITION,
    POSITIONING,
    SPAN,
    SPEED,
    STEPPER,
    TARGET,
    TOP_SPEED,
    UPDATE,
    UPPER,
)


@device
def between(value: float, low: float, high: float) -> float:
    """Return `value` limited to `low` and `high`."""
    return min(max(value, low), high)


@device
def rounded(value: float, digit: float) -> float:
    """Return the multiple of `digit` nearest to `value`; 0 for exact."""
    return value if digit == 0.0 else digit * round(value / digit)


@device
def follow_position(
    drive: FloatArray, state: FloatArray, mode: int, command: float, step: float
) -> None:
    """Move the position that a motor is drawn to by one `step` [s] of the engine.

    A commanded speed moves the target; a commanded position is the target. Every `UPDATE` steps a
    servo takes the target, and a stepper the speed that reaches it until the next update.
    """
    if mode == PLACE:
        state[TARGET] = command
    else:
        state[TARGET] += step * between(command, -drive[FASTEST], drive[FASTEST])
    state[TARGET] = between(state[TARGET], drive[LOWER], drive[UPPER])
    fresh = state[CLOCK] <= 0.0
    state[CLOCK] = drive[UPDATE] - 1.0 if fresh else state[CLOCK] - 1.0
    if drive[POSITIONING] == STEPPER:
        if fresh:
            rate = (state[TARGET] - state[FIELD]) / (drive[UPDATE] * step)
            state[FIELD_RATE] = between(rate, -drive[FASTEST], drive[FASTEST])
        state[FIELD] += step * state[FIELD_RATE]
    elif fresh:
        state[FIELD] = rounded(state[TARGET], drive[DIGIT])
    state[LIMITED] = 0.0
    lead = state[FIELD] - state[POSITION]
    if drive[POSITIONING] == STEPPER:
        if abs(lead) > 2.0 * drive[SPAN]:
            state[LIMITED] = OUT_OF_STEP
    elif abs(lead) > drive[DEAD] + drive[SPAN]:
        fast = state[SPEED] * lead > 0.5 * drive[TOP_SPEED] * abs(lead)
        state[LIMITED] = AT_SPEED if fast else AT_EFFORT


@device
def draw(drive: FloatArray, state: FloatArray, at: float, speed: float, left: float) -> float:
    """Return the effort of a motor `at` a coordinate, `left` [s] before the end of the step.

    A servo gives its stall effort in proportion to the error beyond its dead band; what its speed
    takes away is viscous. A stepper gives the sine of its lag behind the field, with a period of
    four full steps, under the pull-out effort, which falls with speed to zero.
    """
    most = drive[PEAK]
    if state[HEAT] > drive[CONTINUOUS] * drive[CONTINUOUS]:
        most = min(most, drive[CONTINUOUS])
    if drive[POSITIONING] == STEPPER:
        pull_out = most * max(0.0, 1.0 - abs(speed) / drive[TOP_SPEED])
        field = rounded(state[FIELD] - left * state[FIELD_RATE], drive[DIGIT])
        effort = pull_out * sin(0.5 * pi * (field - at) / drive[SPAN])
        effort += drive[FIELD_DAMPING] * (state[FIELD_RATE] - speed)
        return between(effort, -pull_out, pull_out)
    lead = state[FIELD] - at
    beyond = max(0.0, abs(lead) - drive[DEAD])
    share = min(1.0, beyond / drive[SPAN])
    return most * share if lead > 0.0 else -most * share
