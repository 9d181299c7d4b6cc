"""Options of `MotionCueing`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from twin.basics.arrays import positive
from twin.envs.motion_cueing.manoeuvres import DRIVE
from twin.envs.task import TaskSettings
from twin.errors import InputError

LEAST, MOST = 1e-3, 10.0
"""Of an intensity; of random drives it is at most 1."""


class MotionCueingSettings(TaskSettings):
    """Settings of motion cueing: manoeuvre, actions, preview."""

    action: Literal["accelerations", "increments", "velocities"] = Field(
        "accelerations",
        description="accelerations or increments of the commanded pose, or speeds of the actuators",
    )
    manoeuvre: Any = Field(
        DRIVE,
        description="'drive' for random drives, a manoeuvre's name, the path of a CSV file, or a "
        "`Manoeuvre`",
    )
    intensity: float = Field(
        1.0,
        ge=1e-3,
        le=10.0,
        description="factor of the manoeuvre's departure from rest; for random drives the largest, "
        "at most 1",
    )
    lowest_intensity: float = Field(
        0.4, ge=1e-3, le=1.0, description="of random drives, where it is below `intensity`"
    )
    head: Any = Field(
        None,
        description="[m] the driver's head from the reference point, platform axes; default "
        "`twin.motion.cueing.default_head`",
    )
    preview: int = Field(0, ge=0, le=50, description="further samples of the manoeuvre observed")
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


def intensity_bounds(drives: bool, largest: Any, lowest: Any) -> tuple[float, float]:
    """Return the bounds between which the intensity of an episode is drawn.

    Args:
        drives: whether manoeuvres are random drives; others have the largest.
        largest: of it.
        lowest: of random drives, where it is below the largest.

    Raises:
        InputError: no numbers, or out of range.
    """
    high, low = positive(largest, "intensity"), positive(lowest, "lowest_intensity")
    most = 1.0 if drives else MOST
    if not LEAST <= high <= most:
        raise InputError("intensity", f"must lie from {LEAST:g} to {most:g}")
    if not LEAST <= low <= 1.0:
        raise InputError("lowest_intensity", f"must lie from {LEAST:g} to 1")
    return (min(low, high) if drives else high), high
