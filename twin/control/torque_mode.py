"""Limits of torque mode: the controller itself closes loops through delay and transmission.

In torque mode the delay is inside the velocity loop. Above the frequencies at which the platform
swings on the transmissions a motor moves its own inertia alone; without transmissions the lightest
mode of the legs together is the fastest, the heaviest the slowest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.control.drive_model import drive_model
from twin.control.gains import (
    burden,
    derived_velocity_loop,
    loop_lag,
    own_gains,
    suitable_position_loop,
    suitable_velocity_loop,
)
from twin.model.machine_model import MachineModel

LEAST_DAMPING = 0.25
"""Adopted: of the velocity loop in the heaviest mode."""

SLOWER = 8.0
"""Adopted: by how much the position loop is slower than the velocity loop of the heaviest mode."""


class TorqueLoops(NamedTuple):
    """Gains of loops in torque mode."""

    velocity_gain: FloatArray
    """`(n,)`"""
    velocity_time: FloatArray
    """`(n,)` [s]"""
    position_gain: float
    """[1/s]"""
    position_integral: float
    """[1/s2]"""


def torque_loops(platform: MachineModel, period: float) -> TorqueLoops:
    """Return the machine's own gains where its motors have no inertia, else derived ones.

    The velocity gain is that of the symmetrical optimum for the lightest mass, its integral time at
    least what leaves the heaviest one `LEAST_DAMPING`.
    """
    moved = burden(platform)
    lag = loop_lag(platform, period)
    gain, integral = suitable_position_loop(platform, period)
    own = own_gains(platform)
    if own is not None and not drive_model(platform).inertia.any():
        return TorqueLoops(*suitable_velocity_loop(platform, period), gain, integral)
    usual, time = derived_velocity_loop(platform, period)
    velocity = np.minimum(usual, moved.lightest / (2.0 * lag))
    slowest = float(velocity.min()) / moved.heaviest
    time = np.maximum(time, 4.0 * LEAST_DAMPING**2 / slowest)
    if own is None:
        gain = min(gain, slowest / SLOWER)
        integral = gain**2 / 10.0
    return TorqueLoops(read_only(velocity), read_only(time), gain, integral)


def transmission_ratio(platform: MachineModel) -> float:
    """Return the ratio of the heaviest motion to the motor that swings on the legs.

    One where motors have no transmissions: they move with their legs.
    """
    drives = drive_model(platform)
    if not (drives.compliance.any() and drives.inertia.all()):
        return 1.0
    moved = burden(platform)
    return moved.heaviest / moved.lightest
