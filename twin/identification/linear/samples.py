"""Samples of motion and forces for the linear stage: from arrays, or from a log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.signal import butter, lfilter, sosfiltfilt

from twin.basics.arrays import FloatArray, as_floats, as_instance, one_of, positive
from twin.errors import InputError
from twin.logs.log import POSE_UNITS, Channel, Log, check_increasing
from twin.model.forward_kinematics import poses_along
from twin.model.integrate import static_deflection
from twin.model.machine_model import MachineModel, as_model
from twin.motion.motion import AxisSample, motion_of_axes
from twin.rotations import displacement

Where = Literal["legs", "motors"]

FORCE_SIGNALS: dict[str, Where] = {
    "forces": "legs",
    "motor_forces": "motors",
    "currents": "motors",
    "command_forces": "motors",
}
"""Signals with forces, the best first, and where these act."""

MOTION_SIGNALS = ("coordinates", "measured", "pose")
"""Signals with the motion, the best first."""

MAX_SAMPLE_RATE = 500.0
"""[Hz] Largest rate of the samples of which the model is made: dry friction jumps between two of
them.
"""

MOTION_CUTOFF_RATIO = 2.0
"""Cutoff of the motion over that of the forces, so that its filter does not show in the forces."""

EDGE_PERIODS = 2.0
"""Number of periods of the cutoff at each end that are cut off, as the filter is wrong there."""


@dataclass(frozen=True, eq=False)
class ForceSamples:
    """Motion in k states, with the forces measured in them."""

    pose: FloatArray
    """poses of the platform `(k, 7)`: position [m], unit quaternion, base frame"""
    twist: FloatArray
    """twists `(k, 6)` [m/s], [rad/s], base axes"""
    acceleration: FloatArray
    """time derivatives of the twists `(k, 6)` [m/s2], [rad/s2]"""
    forces: FloatArray
    """measured forces `(k, n)` [N] or [N m]"""
    where: Where = "legs"
    """whether forces are those on the legs, or those of the motors: with the drives' friction"""
    rate: float | None = None
    """samples per second; None for states in no order"""
    cutoff: float | None = None
    """frequency [Hz] above which forces and their model are filtered out; None for no filter"""
    deflection: FloatArray | None = None
    """`(k, 2m)` deflections of springs in series; None where they do not oscillate"""
    motors: FloatArray | None = None
    """`(k, 2n)` rates and accelerations of the motors; None where they move as their legs"""

    def __post_init__(self) -> None:
        """Check shapes and numbers."""
        one_of(self.where, "where", ("legs", "motors"))
        for name, width in (("pose", 7), ("twist", 6), ("acceleration", 6), ("forces", None)):
            values = as_floats(getattr(self, name), name, width)
            if values.ndim != 2 or len(values) != len(self.pose) or not len(values):
                raise InputError(name, f"must have shape (k, {width or 'n'}), got {values.shape}")
            object.__setattr__(self, name, values)

    def part(self, rows: slice) -> Self:
        """Return some of the samples, in their order."""
        arrays = ("pose", "twist", "acceleration", "forces", "deflection", "motors")
        selected = {name: getattr(self, name) for name in arrays}
        return replace(self, **{k: v[rows] for k, v in selected.items() if v is not None})

    def series_deflection(self, platform: MachineModel) -> FloatArray:
        """Return the deflections `(k, 2m)` of the springs in series with the actuators."""
        if not platform.n_deflections:
            return np.zeros((len(self.pose), 0))
        if self.deflection is not None:
            return self.deflection
        return static_deflection(platform, self.pose, self.twist, self.acceleration)


def samples_of_log(
    platform: MachineModel,
    log: Log,
    *,
    cutoff: Any = 10.0,
    force_per_current: Any = None,
) -> ForceSamples:
    """Return the samples of a log of signals, on an even grid.

    The motion is low-passed without phase shift at twice the cutoff, and its derivatives are those
    of a spline; forces are left to the estimate, which filters them together with their model. Of
    motors that are measured, forces on the legs tell how far they are ahead of these.

    Args:
        platform: the machine.
        log: with `coordinates`, `measured` or `pose`, and `forces`, `motor_forces`, `currents` or
            `command_forces`; the first of each counts.
        cutoff: frequency [Hz] above which motion and forces are left out.
        force_per_current: [N/A] or [N m/A], for currents.

    Raises:
        InputError: a signal is missing, times do not increase, the log is too short, or no
            force_per_current for currents.
        ForwardKinematicsError: coordinates that no pose has.
    """
    machine, frequency = as_model(platform), positive(cutoff, "cutoff")
    names = as_instance(log, "log", Log).names
    motion_signal = next((name for name in MOTION_SIGNALS if name in names), None)
    force_signal = next((name for name in FORCE_SIGNALS if name in names), None)
    if motion_signal is None or force_signal is None:
        kinds = (", ".join(MOTION_SIGNALS), ", ".join(FORCE_SIGNALS))
        raise InputError("log", f"needs one of {kinds[0]} and one of {kinds[1]}")
    channels = [log[motion_signal], log[force_signal]]
    for channel in channels:
        check_increasing(channel)
    start = max(channel.time[0] for channel in channels)
    end = min(channel.time[-1] for channel in channels)
    step = float(max(np.median(np.diff(channel.time)) for channel in channels))
    step = max(step, 1.0 / MAX_SAMPLE_RATE)
    grid = np.arange(start, end, step)
    if len(grid) * step * frequency < 4.0 * EDGE_PERIODS:
        raise InputError("log", f"is too short: {end - start:.3g} s in which both signals are")
    # From 80 % of the Nyquist frequency on `low_passed` does not filter.
    force_cutoff = min(frequency, 0.4 / step)
    motion_cutoff, edge = MOTION_CUTOFF_RATIO * force_cutoff, EDGE_PERIODS / force_cutoff
    values, motors = _resampled(channels[0], grid, step), None
    time = grid[(grid > start + edge) & (grid < end - edge)]
    if motion_signal == "measured" and FORCE_SIGNALS[force_signal] == "legs":
        values = values - _motor_lead(machine, _resampled(channels[1], grid, step), step)
    elif motion_signal != "pose" and FORCE_SIGNALS[force_signal] == "motors":
        poses = _poses(machine, values, motion_signal)
        state = _motion_at(machine, poses, grid, motion_cutoff, grid)
        deflection = ForceSamples(*state, np.zeros_like(values)).series_deflection(machine)
        loads = machine.inverse_dynamics(*state, deflection=deflection)
        spline = make_interp_spline(grid, low_passed(values, step, motion_cutoff), k=5)
        motors = np.hstack([spline(time, order) for order in (1, 2)])
        values = values - _motor_lead(machine, loads, step)
    poses = _poses(machine, values, motion_signal)
    state = _motion_at(machine, poses, grid, motion_cutoff, time)
    forces = _resampled(channels[1], time, step)
    if force_signal == "currents":
        if force_per_current is None:
            raise InputError("force_per_current", "is needed for a log of currents")
        forces = forces * positive(force_per_current, "force_per_current")
    return ForceSamples(
        *state, forces, FORCE_SIGNALS[force_signal], 1.0 / step, force_cutoff, motors=motors
    )


def _motion_at(
    machine: MachineModel, poses: FloatArray, given: FloatArray, cutoff: float, times: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return pose, twist and acceleration at times of poses at even times that are given [s]."""
    displacements = low_passed(displacement(poses, machine.home), given[1] - given[0], cutoff)
    spline = make_interp_spline(given, displacements, k=5)
    axes = AxisSample(*(spline(times, order) for order in range(3)))
    return machine.constrain(*motion_of_axes(axes, machine.home, "rotation_vector"))


def _resampled(channel: Channel, times: FloatArray, step: float) -> FloatArray:
    """Return a channel resampled at a period `step` [s], low-passed against aliasing."""
    period = float(np.median(np.diff(channel.time)))
    if step < 2.0 * period or channel.units == POSE_UNITS:
        return channel.at(times)
    # 40 % of the Nyquist frequency of the new samples: a low-pass against aliasing.
    return replace(channel, values=low_passed(channel.values, period, 0.2 / step)).at(times)


def _motor_lead(machine: MachineModel, forces: FloatArray, step: float) -> FloatArray:
    """Return the lead of motors over their legs under forces: deflection and half the backlash.

    With a damper in parallel, force = k d + c d', the deflection lags the force by c / k.

    Args:
        machine: with its drives.
        forces: `(k, n)` on the legs.
        step: [s] between them.
    """
    leads = np.zeros_like(forces)
    for k, leg in enumerate(machine.parameters.legs):
        drive = None if leg.drive is None else leg.drive.reflected()
        if drive is not None and drive.inertia > 0.0 and drive.stiffness > 0.0:
            double_time_constant = 2.0 * drive.damping / drive.stiffness
            input_gain = step / (double_time_constant + step)
            feedback = [1.0, (step - double_time_constant) / (step + double_time_constant)]
            spring_deflection = forces[:, k] / drive.stiffness
            leads[:, k], _ = lfilter(
                [input_gain, input_gain],
                feedback,
                spring_deflection,
                zi=spring_deflection[:1] * (1.0 - input_gain),
            )
            leads[:, k] += 0.5 * drive.backlash * np.sign(forces[:, k])
    return leads


def _poses(machine: MachineModel, values: FloatArray, motion: str) -> FloatArray:
    if motion == "pose":
        return values
    return poses_along(machine, values)


def low_passed(
    values: FloatArray, step: float, cutoff: float, ends: Literal["odd", "even"] = "odd"
) -> FloatArray:
    """Return columns low-passed at a cutoff without phase shift.

    Continued beyond their ends they go on as they go ("odd"), or turn back ("even"): then noise of
    the last sample does not stay.
    """
    if cutoff * step >= 0.4:
        return values
    sections = butter(4, cutoff, fs=1.0 / step, output="sos")
    padding = min(len(values) - 1, int(EDGE_PERIODS / (cutoff * step)))
    return np.asarray(sosfiltfilt(sections, values, axis=0, padtype=ends, padlen=padding))
