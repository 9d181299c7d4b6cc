"""Columns and entries of the arrays of an inertial sensor."""

from __future__ import annotations

BIAS, NOISE, INSTABILITY, FORGETTING, RANGE = 6, 7, 8, 9, 10
"""Columns of the model `(6, COLUMN_COUNT)` after the matrix from true quantities to read ones."""

COLUMN_COUNT = 11

FREQUENCY, DAMPING, PERIOD, GRAVITY, PLACE, AXES = 0, 1, 2, 3, 4, 7
"""Entries of the settings `(SETTING_COUNT,)`: natural frequency [rad/s] and damping ratio of the
filter, output period [s], gravity [m/s2], position and axes of the mounting."""

SETTING_COUNT = 16

VALUE, SLOPE, DRIFT, READING, TRUTH, POSE, TWIST, CLOCK = 0, 6, 12, 18, 24, 30, 37, 43
"""Entries of the states `(STATE_COUNT,)`; the clock is the time and that of the next reading."""

STATE_COUNT = 45

DRAW_COUNT = 18
"""Normal numbers that one step takes."""

EARLY_FRACTION = 1e-6
"""Fraction of a step by which a reading may come early: rounding of times."""
