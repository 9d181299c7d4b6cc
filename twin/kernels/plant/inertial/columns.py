"""Columns and entries of the arrays of an inertial sensor."""

from __future__ import annotations

BIAS, NOISE, INSTABILITY, FORGETTING, RANGE = 6, 7, 8, 9, 10
"""Columns of the model `(6, COLUMNS)` after the matrix from true quantities to read ones."""

COLUMNS = 11

FREQUENCY, DAMPING, PERIOD, GRAVITY, PLACE, AXES = 0, 1, 2, 3, 4, 7
"""Entries of the settings `(SETTINGS,)`: filter [rad/s], output period [s], gravity, mounting."""

SETTINGS = 16

VALUE, SLOPE, DRIFT, READING, TRUTH, POSE, TWIST, CLOCK = 0, 6, 12, 18, 24, 30, 37, 43
"""Entries of the states `(STATES,)`; the clock is the time and the time of the next reading."""

STATES = 45

DRAWS = 18
"""Normal numbers that one step takes."""

EARLY = 1e-6
"""Part of a step by which a reading may come early: rounding of times."""
