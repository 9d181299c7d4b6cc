"""Motions as words, of the command line and of sweeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.motion import (
    ChirpMotion,
    Motion,
    SineMotion,
    StepMotion,
    TankTrackMotion,
    axis_names,
    read_recording,
)
from twin.motion.fitted_ride import fitted_tank_ride

WORDS = ("still", "sine", "step", "lift", "chirp", "tank")
"""Motions that need no file."""

STROKE_SHARE = 0.1
"""Of an actuator's range that a motion uses unless told otherwise."""

FADES = 0.1
"""Of the duration over which oscillations rise and fall."""


def convention_of(platform: MachineModel) -> str:
    """Return the angle convention that suits a machine's degrees of freedom."""
    return "roll_pitch" if platform.dof < 6 else "yaw_pitch_roll"


def motion_of(
    platform: MachineModel,
    word: str,
    axis: str,
    amplitude: float | None,
    frequency: float,
    duration: float,
) -> Motion | None:
    """Return the motion that a word of `WORDS` or the path of a recording means; None for still.

    Args:
        platform: the machine, which moves about its home.
        word: one of `WORDS`, or a CSV file.
        axis: that moves.
        amplitude: [m] or [rad]; default a tenth of an actuator's range, and for a tank ride less
            where an actuator would need more than 80 % of its speed or of its range about home.
        frequency: [Hz] of the sine, the highest of the chirp.
        duration: [s].

    Raises:
        InputError: unknown word or axis, numbers out of range, or a file that cannot be read.
    """
    if word == "still":
        return None
    convention = convention_of(platform)
    if word not in WORDS:
        if not Path(word).suffix:
            raise InputError("motion", f"must be one of {', '.join(WORDS)}, or a CSV file")
        return read_recording(word, platform.home, convention=convention)
    if word == "tank":
        if amplitude is None:
            return fitted_tank_ride(platform, usual_amplitude(platform, "pitch"), duration)
        return TankTrackMotion(platform.home, duration=duration, peak_pitch=amplitude)
    if axis not in axis_names(convention):
        known = ", ".join(axis_names(convention))
        raise InputError("axis", f"must be one of {known}, not {axis!r}")
    size = {axis: usual_amplitude(platform, axis) if amplitude is None else amplitude}
    fade = FADES * duration
    if word == "sine":
        return SineMotion(
            platform.home,
            amplitude=size,
            frequency=frequency,
            duration=duration,
            convention=convention,
            fade_in=fade,
            fade_out=fade,
        )
    if word == "chirp":
        return ChirpMotion(
            platform.home,
            amplitude=size,
            start_frequency=0.1 * frequency,
            end_frequency=frequency,
            duration=duration,
            convention=convention,
            fade_in=fade,
            fade_out=fade,
        )
    rise = 0.4 * duration if word == "lift" else 0.0
    return StepMotion(
        platform.home,
        displacement=size,
        rise=rise,
        start=0.1 * duration,
        duration=duration,
        convention=convention,
    )


def usual_amplitude(platform: MachineModel, axis: str) -> float:
    """Return a displacement [m] or angle [rad] along an axis that suits the actuators."""
    stroke = float(np.min(platform.maximum_coordinates - platform.minimum_coordinates))
    angles = axis not in ("x", "y", "z")
    radius = float(np.linalg.norm(platform.platform_joints, axis=1).mean())
    rotary = platform.coordinate_unit == "rad"
    length = STROKE_SHARE * stroke * (radius if rotary else 1.0)
    return length / radius if angles else length
