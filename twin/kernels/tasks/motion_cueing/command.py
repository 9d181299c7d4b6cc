"""From actions to leg speeds: the commanded pose, kept inside the actuators' range and speed."""

from __future__ import annotations

from math import cos, isfinite, sin, sqrt
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.bundle import unbundled
from twin.kernels.jit import compiled, device
from twin.kernels.kinematics.inverse import inverse_kinematics
from twin.kernels.legs.dispatch import project_onto_constraints
from twin.kernels.tasks.motion_cueing.arrays import Command, CommandState

INCREMENTS, ACCELERATIONS = 0, 1
"""Kinds of actions on the pose."""

CURVED = 1.001
"""Excess of a way of the actuators over its straight estimate that is let pass."""


@device
def pose_of_axes(legs: Any, home: FloatArray, axes: FloatArray, y: FloatArray) -> None:
    """Fill `y` (13,) with the pose at `axes` (6,) about `home` (7,), at rest, that the legs allow.

    Yaw, pitch, roll as in `twin.motion.cueing`: the platform turned from home by Rz Ry Rx.
    """
    cy, cp, cr = cos(0.5 * axes[3]), cos(0.5 * axes[4]), cos(0.5 * axes[5])
    sy, sp, sr = sin(0.5 * axes[3]), sin(0.5 * axes[4]), sin(0.5 * axes[5])
    w, x = cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy
    v, z = cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy
    a, b, c, d = home[3], home[4], home[5], home[6]
    y[3] = w * a - x * b - v * c - z * d
    y[4] = w * b + x * a + v * d - z * c
    y[5] = w * c - x * d + v * a + z * b
    y[6] = w * d + x * c - v * b + z * a
    for j in range(3):
        y[j] = home[j] + axes[j]
    for j in range(7, 13):
        y[j] = 0.0
    project_onto_constraints(legs, y)


@device
def legs_at(
    machine: Command,
    axes: FloatArray,
    offset: FloatArray,
    y: FloatArray,
    coordinates: FloatArray,
) -> bool:
    """Fill `coordinates` (n,) of the actuators at `axes`; False where a leg does not reach."""
    pose_of_axes(machine.legs, machine.home, axes, y)
    reached = inverse_kinematics(machine.legs, y[:7], coordinates)
    for j in range(coordinates.shape[0]):
        coordinates[j] += offset[j]
    return reached


@device
def allowance(machine: Command, j: int, start: float, moved: float) -> float:
    """Return how far actuator j may go on in a period from `start`, in the direction of `moved`.

    No faster than it can, and so far that it can still stop before its end with the largest
    deceleration of commands.
    """
    room = machine.high[j] - start if moved > 0.0 else start - machine.low[j]
    room = max(room, 0.0)
    stopping = machine.period * sqrt(2.0 * machine.brake[j] * room)
    return float(min(room, stopping, machine.reach[j]))


@device
def speed_share(machine: Command, coordinates: FloatArray, target: FloatArray) -> float:
    """Return the largest share of its speed that an actuator needs from `target` on."""
    most = 0.0
    for j in range(coordinates.shape[0]):
        most = max(most, abs(coordinates[j] - target[j]) / machine.reach[j])
    return most


@device
def keeps_range(machine: Command, coordinates: FloatArray, target: FloatArray) -> bool:
    """Return whether actuators can go from `target` to `coordinates` and stop before their ends."""
    for j in range(coordinates.shape[0]):
        moved = coordinates[j] - target[j]
        if not abs(moved) <= CURVED * allowance(machine, j, target[j], moved):
            return False
    return True


@device
def kept_share(
    machine: Command, coordinates: FloatArray, last: FloatArray, target: FloatArray
) -> float:
    """Return the share of the way from `last` to `coordinates` that keeps actuators in range.

    `last` lies already some way from `target`, where the period begins; the actuators' way is
    taken as straight.
    """
    share = 1.0
    for j in range(coordinates.shape[0]):
        moved = coordinates[j] - last[j]
        if not isfinite(moved):
            return 0.0
        total = coordinates[j] - target[j]
        if moved * total <= 0.0:
            continue
        most = allowance(machine, j, target[j], total)
        if abs(total) > most:
            room = most - abs(last[j] - target[j])
            if (last[j] - target[j]) * total < 0.0:
                room = most + abs(last[j] - target[j])
            share = min(share, max(room, 0.0) / abs(moved))
    return share


@device
def advance_command(
    machine: Command, state: CommandState, i: int, step: FloatArray, work: Any
) -> None:
    """Move the command of environment i by `step` (6,) as far as the actuators allow.

    They keep their range and their speed.

    A step that is too fast for an actuator is shortened as a whole. One after which an actuator
    could not stop before its end is made axis by axis, each by the share that keeps the range, so
    that the platform comes to its limits softly and slides along them.

    Args:
        machine: constants.
        state: of the commands; axes, rates and targets are overwritten by those that are kept.
        i: environment.
        step: `(6,)` along the axes, overwritten.
        work: `(13,)`, `(6,)`, `(n,)`, `(n,)`, overwritten.
    """
    y, trial, coordinates, last = work
    command, rates = state.axes[i], state.rates[i]
    offset, target = state.offsets[i], state.targets[i]
    kept = False
    for _ in range(2):
        for j in range(6):
            trial[j] = command[j] + step[j]
        kept = legs_at(machine, trial, offset, y, coordinates)
        share = speed_share(machine, coordinates, target) if kept else 0.0
        if not share > 1.0:
            break
        for j in range(6):
            step[j] /= share
            rates[j] /= share
    if not (kept and keeps_range(machine, coordinates, target)):
        for j in range(6):
            trial[j] = command[j]
        for j in range(coordinates.shape[0]):
            last[j] = target[j]
        for axis in machine.free:
            trial[axis] = command[axis] + step[axis]
            legs_at(machine, trial, offset, y, coordinates)
            part = kept_share(machine, coordinates, last, target)
            trial[axis] = command[axis] + part * step[axis]
            rates[axis] *= part
            legs_at(machine, trial, offset, y, last)
        for j in range(coordinates.shape[0]):
            coordinates[j] = last[j]
    for j in range(6):
        command[j] = trial[j]
    for j in range(coordinates.shape[0]):
        target[j] = coordinates[j]


@compiled
def fill_pose_command(actions: FloatArray, bundle: Any) -> None:
    """Fill `command` (N, n) with the actuators' speeds that follow actions on the pose.

    The speeds are those of the command's own coordinates over the period, exact for any size of
    step, and a correction in proportion to what the actuators were off it when the period began.

    Args:
        actions: `(N, k)` in -1 to 1.
        bundle: of `Command`, `CommandState` (advanced in place), measured coordinates `(N, n)`, and
            the command, overwritten.
    """
    machine, state, measured, command = unbundled(bundle)
    n = command.shape[1]
    work = (np.empty(13), np.empty(6), np.empty(n), np.empty(n))
    step, start = np.empty(6), np.empty(n)
    period, rates, targets = machine.period, state.rates, state.targets
    for i in range(actions.shape[0]):
        for j in range(6):
            step[j] = 0.0
        for k in range(machine.free.shape[0]):
            axis = machine.free[k]
            if machine.mode == ACCELERATIONS:
                before = rates[i, axis]
                setpoint = before + period * machine.scale[axis] * actions[i, k]
                most = machine.speed[axis]
                rates[i, axis] = min(max(setpoint, -most), most)
                step[axis] = 0.5 * period * (before + rates[i, axis])
            else:
                rates[i, axis] = machine.scale[axis] * actions[i, k] / period
                step[axis] = machine.scale[axis] * actions[i, k]
        for j in range(n):
            start[j] = targets[i, j]
        advance_command(machine, state, i, step, work)
        for j in range(n):
            moved = (targets[i, j] - start[j]) / period
            most = machine.reach[j] / period
            setpoint = moved + machine.gain * (start[j] - measured[i, j])
            command[i, j] = min(max(setpoint, -most), most)


@compiled
def begin_commands(
    machine: Command, indices: IndexArray, state: CommandState, measured: FloatArray
) -> None:
    """Set the commands of the environments `indices` (m,) to home, at rest.

    What the readings then differ from kinematics stays, as the calibration of a real machine.
    """
    y, coordinates = np.empty(13), np.empty(measured.shape[1])
    for i in indices:
        for j in range(6):
            state.axes[i, j] = 0.0
            state.rates[i, j] = 0.0
        pose_of_axes(machine.legs, machine.home, state.axes[i], y)
        inverse_kinematics(machine.legs, y[:7], coordinates)
        for j in range(measured.shape[1]):
            state.offsets[i, j] = measured[i, j] - coordinates[j]
            state.targets[i, j] = measured[i, j]


@compiled
def fill_speed_command(actions: FloatArray, bundle: Any) -> None:
    """Fill `command` (N, n) with the actuators' speeds of actions on them, stopped at the limits.

    Args:
        actions: `(N, n)` in -1 to 1.
        bundle: as of `fill_pose_command`.
    """
    machine, _, measured, command = unbundled(bundle)
    for i in range(actions.shape[0]):
        for j in range(command.shape[1]):
            least = min(machine.low[j] - measured[i, j], 0.0)
            most = max(machine.high[j] - measured[i, j], 0.0)
            setpoint = actions[i, j] * machine.reach[j]
            command[i, j] = min(max(setpoint, least), most) / machine.period
