"""Constants of servos and steppers for the kernels, and how they hold a load."""

from __future__ import annotations

from math import inf

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.plant import columns as column
from twin.machine.hardware.drive import AnyDrive


def fill_positioning(row: FloatArray, drive: AnyDrive, step: float) -> None:
    """Fill what draws the motor of a position drive to its position."""
    found = drive.positioning()
    if found is None:
        return
    row[column.POSITIONING] = column.STEPPER if found.stepper else column.SERVO
    row[column.DEAD], row[column.SPAN] = found.half_dead_band, found.span
    row[column.DIGIT], row[column.FIELD_DAMPING] = found.digit, found.field_damping
    row[column.UPDATE] = max(1, round(1.0 / (found.update_rate * step)))
    row[column.TOP_SPEED] = found.top_speed
    row[column.FASTEST] = min(row[column.FASTEST], found.top_speed)


def drawing_stiffness(drives: FloatArray) -> FloatArray:
    """Return the stiffness `(m,)` with which position drives draw their motors, zero for others."""
    span = np.where(drives[:, column.SPAN] > 0.0, drives[:, column.SPAN], inf)
    slope = np.where(drives[:, column.POSITIONING] == column.STEPPER, 0.5 * np.pi, 1.0)
    peak = np.where(np.isfinite(drives[:, column.PEAK]), drives[:, column.PEAK], 0.0)
    return np.asarray(slope * peak / span)


def drawn_lead(drives: FloatArray, efforts: FloatArray) -> FloatArray:
    """Return how far ahead of its motor `(n,)` a position drive aims to give `efforts` `(n,)`."""
    share = np.clip(efforts / drives[:, column.PEAK], -1.0, 1.0)
    span, sign = drives[:, column.SPAN], np.sign(share)
    stepper = drives[:, column.POSITIONING] == column.STEPPER
    lag = np.where(stepper, 2.0 / np.pi * np.arcsin(share), share)
    return np.asarray(sign * drives[:, column.DEAD] + span * lag)
