"""Motions specified by name, as in commands and sweeps, of a size that suits a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import positive
from twin.errors import InputError, brief
from twin.model.machine_model import MachineModel, as_model
from twin.motion import (
    ChirpMotion,
    Motion,
    SineMotion,
    StepMotion,
    TankTrackMotion,
    axis_names,
    read_recording,
)

MOTION_NAMES = ("still", "sine", "step", "lift", "chirp", "tank")
"""Motions that need no file."""

STROKE_SHARE = 0.1
"""Default amplitude per actuator's range."""

FADES = 0.1
"""Rise and fall of oscillations, per duration."""

LIMIT_SHARE = 0.8
"""Largest use of the actuators' speed, and of their range on one side of home, by a tank course."""

TIMESTEP = 1e-3
"""[s] between the samples of a tank course, which has up to 70 Hz."""


class MotionSpecification(NamedTuple):
    """Name and size of a motion."""

    name: str
    """one of `MOTION_NAMES`, or the path of a CSV file"""
    axis: str = "z"
    """that moves"""
    amplitude: float | None = None
    """[m] or [rad]; default a tenth of an actuator's range, and for a tank course less where an
    actuator would need more than 80 % of its speed or of its range about home"""
    frequency: float = 1.0
    """[Hz] of the sine, the highest of the chirp"""
    duration: float = 4.0
    """[s]"""

    def motion_of(self, platform: MachineModel) -> Motion | None:
        """Return the motion of a machine about its home; None for still.

        Raises:
            InputError: unknown name or axis, numbers out of range, or a file that cannot be read.
        """
        name, axis = self.name, self.axis
        if name == "still":
            return None
        convention = convention_of(platform)
        if name not in MOTION_NAMES:
            if not Path(name).suffix:
                known = ", ".join(MOTION_NAMES)
                raise InputError("motion", f"must be one of {known}, or a CSV file")
            return read_recording(name, platform.home, convention=convention)
        if name == "tank":
            if self.amplitude is None:
                largest = usual_amplitude(platform, "pitch")
                return fitted_tank_course(platform, largest, self.duration)
            return TankTrackMotion(platform.home, duration=self.duration, peak_pitch=self.amplitude)
        if axis not in axis_names(convention):
            known = ", ".join(axis_names(convention))
            raise InputError("axis", f"must be one of {known}, not {brief(axis)}")
        size = usual_amplitude(platform, axis) if self.amplitude is None else self.amplitude
        common: dict[str, Any] = {"duration": self.duration, "convention": convention}
        if name in ("step", "lift"):
            rise = 0.4 * self.duration if name == "lift" else 0.0
            start = 0.1 * self.duration
            step: dict[str, Any] = {"displacement": {axis: size}, "rise": rise, "start": start}
            return StepMotion(platform.home, **step, **common)
        fade = FADES * self.duration
        common |= {"amplitude": {axis: size}, "fade_in": fade, "fade_out": fade}
        if name == "sine":
            return SineMotion(platform.home, frequency=self.frequency, **common)
        low, high = 0.1 * self.frequency, self.frequency
        return ChirpMotion(platform.home, start_frequency=low, end_frequency=high, **common)


def convention_of(platform: MachineModel) -> str:
    """Return the angle convention that suits a machine's degrees of freedom."""
    return "roll_pitch" if platform.dof < 6 else "yaw_pitch_roll"


def usual_amplitude(platform: MachineModel, axis: str) -> float:
    """Return a displacement [m] or angle [rad] along an axis that suits the actuators."""
    stroke = float(np.min(platform.maximum_coordinates - platform.minimum_coordinates))
    angles = axis not in ("x", "y", "z")
    radius = float(np.linalg.norm(platform.platform_joints, axis=1).mean())
    rotary = platform.coordinate_unit == "rad"
    length = STROKE_SHARE * stroke * (radius if rotary else 1.0)
    return length / radius if angles else length


def fitted_tank_course(
    platform: MachineModel, peak_pitch: Any, duration: Any, share: Any = LIMIT_SHARE
) -> TankTrackMotion:
    """Return a tank course about home, made smaller until the actuators can follow it.

    The deflection of springs in series with actuators is left out.

    Args:
        platform: the machine; it follows the course as far as its degrees of freedom allow.
        peak_pitch: [rad] largest pitch of the course unless an actuator needs less.
        duration: [s], from 4 to 600.
        share: of the actuators' speed and of their range on one side of home that may be used.

    Raises:
        InputError: not a machine, or numbers out of range.
        UnreachablePoseError: a leg cannot reach a pose of the course with `peak_pitch`.
    """
    machine = as_model(platform)
    pitch, most = positive(peak_pitch, "peak_pitch"), positive(share, "share")
    course = TankTrackMotion(machine.home, duration=duration, peak_pitch=pitch)
    time = np.arange(round(course.duration / TIMESTEP) + 1.0) * TIMESTEP
    fitted = machine.constrain(*course(time))
    home = machine.home_coordinates
    low, high = machine.minimum_coordinates, machine.maximum_coordinates
    away = np.abs(machine.inverse_kinematics(fitted.pose) - home).max(axis=0)
    rates = np.abs(np.einsum("kij,kj->ki", machine.jacobian(fitted.pose), fitted.twist)).max(axis=0)
    room = float(np.minimum(high - home, home - low).min() / away.max())
    speeds = [leg.actuator.speed for leg in machine.parameters.legs]
    shares = [v / rate for v, rate in zip(speeds, rates, strict=True) if v is not None]
    smaller = min(1.0, most * float(min([room, *shares])))
    return TankTrackMotion(machine.home, duration=duration, peak_pitch=smaller * pitch)
