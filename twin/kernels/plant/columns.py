"""Columns of the constants and of the states of a drive, limits and modes of commands."""

from __future__ import annotations

(
    INERTIA,
    FRICTION,
    BREAKAWAY,
    STRIBECK_SPEED,
    VISCOUS,
    HALF_BACKLASH,
    STIFFNESS,
    DAMPING,
    LAG_FACTOR,
    MEAN_LAG_FACTOR,
    PEAK_EFFORT,
    CONTINUOUS_EFFORT,
    HEATING_FRACTION,
    MAX_SPEED,
    LOWER_SWITCH,
    UPPER_SWITCH,
    LOWER_STOP,
    UPPER_STOP,
    STOP_STIFFNESS,
    STOP_DAMPING,
    BRAKE_EFFORT,
    ENGAGE_FRACTION,
    RELEASE_FRACTION,
    SPEED_RESOLUTION,
    EFFORT_RESOLUTION,
    POSITIONING,
    DEAD_BAND,
    SPAN_OR_FULL_STEP,
    POSITION_RESOLUTION,
    UPDATE_STEPS,
    TOP_SPEED,
    FIELD_DAMPING,
) = range(32)
"""Columns of a drive's constants: motor inertia; dry, breakaway and viscous friction; transmission;
fraction of an effort's error left by the current's lag at the end of a step of the engine and in
its mean; efforts and the fraction by which heat settles in a step; switches and end stops; brake
and how far it moves in a step. Of position drives: span of the servo's law or full step, steps of
the engine per update, speed without effort, damping of the field. docs/plant.md has their units."""

CONSTANT_COUNT = 32

EFFORT, INTEGRAL, POSITION, SPEED, HEAT, BRAKE_CLOSURE, BRAKE_HOLDS, LIMITED = range(8)
(
    COMMANDED_POSITION,
    FIELD_POSITION,
    FIELD_RATE,
    STEPS_TO_UPDATE,
    SPEED_CHANGE,
    LEG_RATE,
    EARLIER_LEG_RATE,
) = range(8, 15)
"""Columns of a drive's state: motor effort, velocity loop's integral, motor's coordinate and rate,
mean square of the effort, how far the brake has closed, whether it holds, and which limit it is at:
`AT_EFFORT`, `AT_SPEED`, `OUT_OF_STEP` or 0. Of position drives: commanded position, position that
the motor is drawn to, its rate, and steps of the engine until the next update. Of all motors: the
change of their rate over the last step. Of all legs: their rates one and two steps ago."""

STATE_COUNT = 15

AT_EFFORT, AT_SPEED, OUT_OF_STEP = 1.0, 2.0, 3.0
"""Limits that keep a drive below its command; the last one is of stepper motors."""

FORCE_MODE, VELOCITY_MODE, POSITION_MODE = 0, 1, 2
"""Modes of a command: a force, a speed, a position."""

SERVO_DRIVE, STEPPER_DRIVE = 1.0, 2.0
"""Values of `POSITIONING`; 0 for drives that take speeds and forces."""
