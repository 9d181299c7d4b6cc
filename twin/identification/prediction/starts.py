"""States of a machine at the beginnings of windows, legs resting on their transmissions."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.identification.prediction.rollouts import Starts
from twin.identification.prediction.windows import Windows
from twin.kernels.plant import columns as column
from twin.model.machine_model import MachineModel

STEPS = (1e-6, 1e-4, 1.0)
"""[m, rad], [m/s, rad/s], [N, N m] Differences of the free numbers of a start."""


def free_starts(machine: MachineModel, windows: Windows, drives: FloatArray) -> FloatArray:
    """Return the free numbers `(W, 3, n)` of the starts: the motors' coordinates, rates, efforts.

    The efforts are what moves motors and legs as the smoothed motion has it.
    """
    speed = windows.speed
    force = machine.inverse_dynamics(windows.pose, windows.twist, windows.acceleration)
    rubbing = np.clip(speed / drives[:, column.STRIBECK], -1.0, 1.0) * drives[:, column.FRICTION]
    moving = drives[:, column.INERTIA] * windows.motor_acceleration
    effort = force + moving + rubbing + drives[:, column.VISCOUS] * speed
    return np.stack([windows.position, speed, effort], axis=1)


def placed(machine: MachineModel, windows: Windows, drives: FloatArray, free: FloatArray) -> Starts:
    """Return the states of a machine whose motors are at `free` `(W, 3, n)`.

    Args:
        machine: with the parameters of these rollouts.
        windows: of a recording.
        drives: `(n, CONSTANTS)` of the machine.
        free: see `free_starts`.
    """
    stiffness, half = drives[:, column.STIFFNESS], drives[:, column.HALF_PLAY]
    moves = drives[:, column.INERTIA] > 0.0
    compliance = np.divide(1.0, stiffness, out=np.zeros_like(stiffness), where=moves)
    force = machine.inverse_dynamics(windows.pose, windows.twist, windows.acceleration)
    gap = np.where(moves, np.sign(force) * half, 0.0) + force * compliance
    position, speed, effort = np.moveaxis(free, 1, 0)
    pose = machine.forward_kinematics(position - gap, windows.pose)
    rates = speed - windows.force_rate * compliance
    twist = np.linalg.solve(machine.jacobian(pose), rates[..., None])[..., 0]
    return Starts(position, speed, effort, pose, twist, position - gap, rates)
