"""The manoeuvre that a motion of the platform makes for its driver."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, positive
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.model.machine_model import MachineModel, as_model
from twin.motion.cueing.manoeuvre import Manoeuvre
from twin.motion.motion import Motion
from twin.rotations import cross, rotated


def felt_manoeuvre(
    platform: MachineModel, motion: Motion, head: Any = (0.0, 0.0, 0.0), period: Any = 5e-3
) -> Manoeuvre:
    """Return specific force and angular rate at the head, in platform axes, along a motion.

    The motion is first fitted to what the machine can do. Specific force is the acceleration of
    the head minus gravity, turned into the platform's axes by its true attitude.

    Args:
        platform: the machine.
        motion: of its reference point.
        head: `(3,)` [m] from the reference point, platform axes.
        period: [s] between samples.

    Raises:
        InputError: not a machine, no point, period not above zero, longer than a third of the
            motion.
    """
    machine = as_model(platform)
    point = as_vector(head, "head", 3)
    time = sample_times(motion, positive(period, "period"))
    pose, twist, acceleration = machine.constrain(*motion.sample(time))
    arm = rotated(pose[:, 3:], np.broadcast_to(point, (len(time), 3)))
    spin = twist[:, 3:]
    total = acceleration[:, :3] + cross(acceleration[:, 3:], arm) + cross(spin, cross(spin, arm))
    total[:, 2] += GRAVITY
    to_platform = pose[:, 3:] * [1.0, -1.0, -1.0, -1.0]
    return Manoeuvre("platform", time, rotated(to_platform, total), rotated(to_platform, spin))


def sample_times(motion: Motion, period: float) -> FloatArray:
    """Return times [s] at an even period from 0 to the end of a motion or just before."""
    count = int(motion.duration / period * (1.0 + 1e-12)) + 1
    return np.arange(count, dtype=np.float64) * period
