"""Motions specified by name, as in commands and sweeps, of a size that suits a machine."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_text, positive, quaternion_product, rotated
from twin.errors import InputError, brief
from twin.model.machine_model import MachineModel, as_model
from twin.motion import ChirpMotion, Motion, SineMotion, StepMotion, TankTrackMotion
from twin.motion.motion import POSITION_AXES
from twin.motion.recording import BASE_AXES, FITTED_LIMIT_USE, fitted_motion, free_axes
from twin.rotations import angles_from_quaternion

MOTION_NAMES = ("still", "sine", "step", "lift", "chirp", "tank")
"""Motions that need no file."""

STROKE_FRACTION = 0.1
"""Default amplitude as a fraction of an actuator's range."""

DEFAULT_DURATION = 4.0
"""[s] Default duration of motions that need no file."""

FADE_FRACTION = 0.1
"""Rise and fall of oscillations as a fraction of their duration, where no fade is given."""

ONE_SIDED = ("step", "lift")
"""Motions to one side of home; they go to the other side where there is more travel."""

OPPOSITE_SIZE_RATIO = 1.5
"""A one-sided motion goes to the other side if it can be larger there by this factor."""


class MotionSpecification(NamedTuple):
    """Name and size of a motion."""

    name: str = "sine"
    """one of `MOTION_NAMES`"""
    axis: str = "z"
    """axis that moves"""
    amplitude: float | None = None
    """[m] or [rad]; default a tenth of an actuator's range, or less where an actuator would need
    more than 80 % of its travel about home, its speed or its force; see `twin.motion.recording`"""
    frequency: float = 1.0
    """[Hz] frequency of the sine, and the highest of the chirp"""
    duration: float | None = None
    """[s]; default `DEFAULT_DURATION`"""
    fade: float | None = None
    """[s] time in which a sine or a chirp rises from rest and falls to rest; default a tenth of its
    duration
    """

    def seconds(self, motion: Motion | None) -> float:
        """Return how long the machine follows `motion` [s]: by default to its end."""
        if self.duration is not None:
            return self.duration
        return DEFAULT_DURATION if motion is None else motion.duration

    def motion_of(self, platform: MachineModel) -> Motion | None:
        """Return the motion of a machine about its home; None for still.

        Raises:
            InputError: unknown name or axis, or numbers out of range.
        """
        name, axis = as_text(self.name, "motion"), as_text(self.axis, "axis")
        if self.duration is not None:
            positive(self.duration, "duration")
        positive(self.frequency, "frequency")
        if name == "still":
            return None
        if name not in MOTION_NAMES:
            raise InputError("motion", f"must be one of {', '.join(MOTION_NAMES)}, or a file")
        free = free_axes(platform)
        if name != "tank" and axis not in free:
            raise InputError(
                "axis",
                f"must be one of {', '.join(free)}, in which {platform.name} moves, "
                f"not {brief(axis)}",
            )
        if self.amplitude is not None:
            return self.motion_of_size(platform, self.amplitude)
        default = default_amplitude(platform, "pitch" if name == "tank" else axis)
        motion, size = fitted_motion(platform, partial(self.motion_of_size, platform), default)
        if name in ONE_SIDED and size < default:
            opposite_motion, opposite_size = fitted_motion(
                platform, lambda s: self.motion_of_size(platform, -s), default
            )
            return opposite_motion if opposite_size > OPPOSITE_SIZE_RATIO * size else motion
        return motion

    def motion_of_size(self, platform: MachineModel, size: float) -> Motion:
        """Return the motion of that name with an amplitude `size` [m] or [rad]."""
        name, home, duration = self.name, platform.home, self.duration or DEFAULT_DURATION
        options: dict[str, Any] = {"duration": duration, "convention": convention_of(platform)}
        if name == "tank":
            return TankTrackMotion(home, peak_pitch=size, **options)
        if name in ONE_SIDED:
            rise = 0.4 * duration if name == "lift" else 0.0
            options |= {"rise": rise, "start": 0.1 * duration}
            return StepMotion(home, displacement={self.axis: size}, **options)
        fade_time = FADE_FRACTION * duration if self.fade is None else self.fade
        options |= {"amplitude": {self.axis: size}, "fade_in": fade_time, "fade_out": fade_time}
        if name == "sine":
            return SineMotion(home, frequency=self.frequency, **options)
        low, high = 0.1 * self.frequency, self.frequency
        return ChirpMotion(home, start_frequency=low, end_frequency=high, **options)


def convention_of(platform: MachineModel) -> str:
    """Return the angle convention that suits a machine's degrees of freedom."""
    return "roll_pitch" if platform.dof < 6 else "yaw_pitch_roll"


def axes_from_home(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return displacements `(m, k)` [m, rad] from home to poses `(m, 7)`, along a machine's axes.

    They are x, y, z and the angles of `convention_of`. Of machines with three degrees of freedom,
    roll and pitch are those that turn the normal at home to that of a pose; the small turn about
    the normal follows from them.
    """
    home = platform.home
    if platform.dof == 6:
        turns = quaternion_product(poses[:, 3:], home[3:] * [1.0, -1.0, -1.0, -1.0])
        return np.hstack([poses[:, :3] - home[:3], angles_from_quaternion(turns)])
    vertical = np.array([[0.0, 0.0, 1.0]])
    normals, (x, y, z) = rotated(poses[:, 3:], vertical), rotated(home[None, 3:], vertical)[0]
    pitch = np.arctan2(z, x) - np.arccos(np.clip(normals[:, 0] / np.hypot(x, z), -1.0, 1.0))
    pitched = z * np.cos(pitch) - x * np.sin(pitch)
    roll = np.arctan2(normals[:, 2], normals[:, 1]) - np.arctan2(pitched, y)
    return np.column_stack([poses[:, :3] - home[:3], roll, pitch])


def default_amplitude(platform: MachineModel, axis: str) -> float:
    """Return a displacement [m] or angle [rad] along an axis that suits the actuators."""
    if platform.coordinate_unit == "rad":
        column = BASE_AXES.index(axis)
        rates = np.abs(platform.jacobian(platform.home)[:, column])
        return float(
            STROKE_FRACTION * (platform.stroke / np.maximum(rates, rates.max() * 1e-3)).min()
        )
    length = STROKE_FRACTION * float(platform.stroke.min())
    return length if axis in POSITION_AXES else length / platform.joint_radius


def sine_amplitude(platform: MachineModel, axis: str) -> float:
    """Return the default sine amplitude; the general default where home leaves no travel."""
    fallback_amplitude = default_amplitude(platform, axis)
    sine = MotionSpecification("sine", axis, frequency=1.0)
    try:
        return fitted_motion(platform, partial(sine.motion_of_size, platform), fallback_amplitude)[
            1
        ]
    except InputError:
        return fallback_amplitude


def fitted_tank_course(
    platform: MachineModel, peak_pitch: Any, duration: Any, fraction: Any = FITTED_LIMIT_USE
) -> TankTrackMotion:
    """Return a tank course about home, made smaller until the actuators can follow it.

    Args:
        platform: the machine; it follows the course as far as its degrees of freedom allow.
        peak_pitch: [rad] largest pitch of the course unless an actuator needs less.
        duration: [s], from 4 to 600.
        fraction: fraction of the travel from home, the speed and the force margin at rest that may
            be used.

    Raises:
        InputError: not a machine, or numbers out of range.
    """
    home, pitch = as_model(platform).home, positive(peak_pitch, "peak_pitch")
    common = {"duration": duration, "convention": convention_of(platform)}
    motion, _ = fitted_motion(
        platform, lambda size: TankTrackMotion(home, peak_pitch=size, **common), pitch, fraction
    )
    return motion
