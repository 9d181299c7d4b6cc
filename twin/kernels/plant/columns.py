"""Columns of the constants and of the states of a drive, limits and modes of commands."""

from __future__ import annotations

(
    INERTIA,
    FRICTION,
    BREAKAWAY,
    STRIBECK,
    VISCOUS,
    HALF_BACKLASH,
    STIFFNESS,
    DAMPING,
    LAG,
    LAG_MEAN,
    PEAK,
    CONTINUOUS,
    WARMING,
    FASTEST,
    LOWER,
    UPPER,
    LOWER_STOP,
    UPPER_STOP,
    STOP_STIFFNESS,
    STOP_DAMPING,
    BRAKE,
    ENGAGING,
    RELEASING,
    SPEED_DIGIT,
    EFFORT_DIGIT,
    POSITIONING,
    DEAD,
    SPAN,
    DIGIT,
    UPDATE,
    TOP_SPEED,
    FIELD_DAMPING,
) = range(32)
"""Columns of a drive's constants: motor inertia; dry, breakaway and viscous friction with the
Stribeck speed; transmission; share of an effort's error left after a step of the engine, at its end
and in its mean; peak and continuous effort and the rate of warming; largest speed; limit switches;
end stops; brake; resolutions of commands. Of position drives: dead band, span of the servo's law or
full step, resolution, steps of the engine per update, speed without effort, damping of the field.
docs/plant.md has their units."""

CONSTANT_COUNT = 32

EFFORT, INTEGRAL, POSITION, SPEED, HEAT, CLOSING, HOLDING, LIMITED = range(8)
TARGET, FIELD, FIELD_RATE, CLOCK, SPEED_CHANGE, LEG_RATE, EARLIER_LEG_RATE = range(8, 15)
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
