"""Options of `MotionCueing`."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field

from twin.arrays import as_floats
from twin.envs.motion_cueing_rides import DRIVE
from twin.envs.task import TaskSettings
from twin.errors import InputError

LEAST, MOST = 1e-3, 10.0
"""Of an intensity; of random drives it is at most 1."""

DRIVES = (0.4, 1.0)
"""Bounds of the intensity of random drives, where none is given."""


class MotionCueingSettings(TaskSettings):
    """What is cued, with which actions, and what is known of the ride."""

    action: Literal["accelerations", "increments", "velocities"] = Field(
        "accelerations",
        description="accelerations or increments of the commanded pose, or speeds of the actuators",
    )
    ride: Any = Field(
        DRIVE,
        description="'drive' for random drives, a manoeuvre's name, the path of a ride's CSV file, "
        "or a `Ride`",
    )
    intensity: Any = Field(
        None,
        description="factor of the ride's departure from rest, one number or the bounds of what is "
        "drawn; default 0.4 to 1 for random drives, else 1",
    )
    head: Any = Field(
        None,
        description="[m] the driver's head from the reference point, platform axes; default "
        "`twin.motion.cueing.default_head`",
    )
    preview: int = Field(0, ge=0, le=50, description="further samples of the ride observed")
    preview_spacing: int = Field(
        10, ge=1, le=100, description="control periods between these samples"
    )
    margin: float = Field(
        0.02,
        ge=0.0,
        lt=0.4,
        description="share of the actuators' range that commands keep off at either end",
    )
    gain: float = Field(
        10.0,
        ge=0.0,
        le=100.0,
        description="[1/s] by which the speeds correct what the actuators are off the command",
    )


def intensity_bounds(drives: bool, value: Any) -> tuple[float, float]:
    """Return the bounds between which the intensity of an episode is drawn.

    Args:
        drives: whether rides are random drives.
        value: one number, a pair of bounds, or None for the usual.

    Raises:
        InputError: neither, or out of range.
    """
    usual = DRIVES if drives else 1.0
    bounds = as_floats(usual if value is None else value, "intensity")
    if bounds.shape not in ((), (2,)):
        raise InputError("intensity", "must be one number, or a pair of bounds")
    low, high = (float(bound) for bound in np.broadcast_to(bounds, 2))
    most = 1.0 if drives else MOST
    if not LEAST <= low <= high <= most:
        raise InputError("intensity", f"must lie from {LEAST:g} to {most:g}, low before high")
    return low, high
