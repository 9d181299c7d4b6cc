"""A tank ride of a size that a machine's actuators can follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import positive
from twin.model.machine_model import MachineModel, as_model
from twin.motion.tank_track import TankTrackMotion

LIMIT_SHARE = 0.8
"""Of the actuators' speed and of their range on one side of home that a ride may use."""

TIMESTEP = 1e-3
"""[s] between the instants looked at; the fastest part of a ride has 70 Hz."""


def fitted_tank_ride(
    platform: MachineModel, peak_pitch: Any, duration: Any, share: Any = LIMIT_SHARE
) -> TankTrackMotion:
    """Return a tank ride about home, made smaller until the actuators can follow it.

    What springs in series with actuators yield is left out.

    Args:
        platform: the machine; what it cannot follow of the ride is left out.
        peak_pitch: [rad] largest pitch of the ride unless an actuator needs less.
        duration: [s], from 4 to 600.
        share: of the actuators' speed and of their range on one side of home that may be used.

    Raises:
        InputError: not a machine, or numbers out of range.
        UnreachablePoseError: a leg cannot reach a pose of the ride with `peak_pitch`.
    """
    machine = as_model(platform)
    pitch, most = positive(peak_pitch, "peak_pitch"), positive(share, "share")
    ride = TankTrackMotion(machine.home, duration=duration, peak_pitch=pitch)
    time = np.arange(round(ride.duration / TIMESTEP) + 1.0) * TIMESTEP
    fitted = machine.constrain(*ride(time))
    home = machine.home_coordinates
    low, high = machine.minimum_coordinates, machine.maximum_coordinates
    away = np.abs(machine.inverse_kinematics(fitted.pose) - home).max(axis=0)
    rates = np.abs(np.einsum("kij,kj->ki", machine.jacobian(fitted.pose), fitted.twist)).max(axis=0)
    room = float(np.minimum(high - home, home - low).min() / away.max())
    speeds = [leg.actuator.speed for leg in machine.parameters.legs]
    shares = [v / rate for v, rate in zip(speeds, rates, strict=True) if v is not None]
    smaller = min(1.0, most * float(min([room, *shares])))
    return TankTrackMotion(machine.home, duration=duration, peak_pitch=smaller * pitch)
