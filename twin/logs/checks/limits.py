"""Saturation: samples at a limit of the machine or of its inertial sensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.logs.log import Finding, Log
from twin.logs.signals import signal_units
from twin.model.machine_model import MachineModel

SHARE = 1e-3
"""Part of the samples that may be at a limit."""

ROUNDING = 1e-6
"""Part of a limit that counts as reaching it."""


def saturation_findings(log: Log, machine: MachineModel) -> list[Finding]:
    """Return the channels that are at a limit for more than `SHARE` of their samples."""
    found = []
    units = signal_units(machine)
    for name, (low, high) in _limits(machine).items():
        if name not in log or not len(log[name]) or log[name].units != units[name]:
            continue
        channel = log[name]
        slack = ROUNDING * np.maximum(np.abs(low), np.abs(high))
        reached = (channel.values <= low + slack) | (channel.values >= high - slack)
        shares = reached.mean(axis=0)
        columns = np.flatnonzero(shares > SHARE)
        if columns.size:
            row = int(reached[:, columns].any(axis=1).argmax())
            parts = ", ".join(f"{k + 1} ({100 * shares[k]:.3g} %)" for k in columns)
            message = f"at the limit, by column: {parts} of the samples"
            found.append(Finding("saturation", name, message, float(channel.time[row])))
    return found


def _limits(machine: MachineModel) -> dict[str, tuple[Any, Any]]:
    """Return the least and the largest value of signals whose limits are known."""
    actuators = [leg.actuator for leg in machine.parameters.legs]
    limits: dict[str, tuple[Any, Any]] = {}
    for name, values in (
        ("forces", [actuator.effort for actuator in actuators]),
        ("motor_forces", [actuator.effort for actuator in actuators]),
        ("rates", [actuator.speed for actuator in actuators]),
    ):
        if None not in values:
            most = np.array(values, dtype=float)
            limits[name] = (-most, most)
    for name in ("coordinates", "measured"):
        limits[name] = (machine.minimum_coordinates, machine.maximum_coordinates)
    sensor = machine.parameters.imu
    triads = (
        {"accelerometer": None, "gyroscope": None}
        if sensor is None
        else {"accelerometer": sensor.accelerometers, "gyroscope": sensor.gyroscopes}
    )
    for name, triad in triads.items():
        if triad is not None and triad.range is not None:
            limits[name] = (-np.full(3, triad.range), np.full(3, triad.range))
    return limits
