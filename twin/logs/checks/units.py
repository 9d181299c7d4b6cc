"""Wrong units: values that the machine cannot have."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import listed
from twin.logs.channel import Channel
from twin.logs.log import Finding, Log
from twin.logs.signals import signal_units
from twin.machine.units import GRAVITY, UNITS
from twin.model.machine_model import MachineModel

BEYOND = 10.0
"""Median over the machine's limit above which a unit is taken to be wrong."""


def unit_findings(log: Log, machine: MachineModel) -> list[Finding]:
    """Return the channels whose values fit the machine only in another unit, or not at all."""
    known = signal_units(machine)
    found = []
    for channel in log.channels:
        expected = known.get(channel.name)
        if expected is None or not len(channel):
            continue
        if channel.units != expected:
            given, right = (listed(dict.fromkeys(units)) for units in (channel.units, expected))
            message = f"has {channel.width} columns in {given}, not {len(expected)} in {right}"
            found.append(Finding("unit", channel.name, f"{message}; map it by a LogMapping"))
        else:
            found += _implausible(channel, machine)
    return found


def _implausible(channel: Channel, machine: MachineModel) -> list[Finding]:
    """Return a finding where typical values of a channel are outside their range."""
    bounds = _range(channel, machine)
    if bounds is None:
        return []
    typical, low, high = bounds
    unit = channel.units[0]
    if ((low <= typical) & (typical <= high)).all():
        return []
    factors = {
        text: size
        for name, factor in UNITS[unit].items()
        if factor != 1.0
        for text, size in (
            (f"{name} taken for {unit}", factor),
            (f"{unit} taken for {name}", 1.0 / factor),
        )
    }
    fitting = [
        text
        for text, size in factors.items()
        if ((low <= size * typical) & (size * typical <= high)).all()
    ]
    worst = float(typical[np.argmax(np.abs(typical))])
    reach = f"{np.min(low):.4g} to {np.max(high):.4g} {unit}"
    guess = f": maybe {' or '.join(fitting[:2])}" if fitting else ": wrong unit or offset"
    return [Finding("unit", channel.name, f"{worst:.6g} {unit} is not in {reach}{guess}")]


def _range(
    channel: Channel, machine: MachineModel
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return typical values `(c,)` of a channel, and the least and most that they can be."""
    name, values = channel.name, channel.values
    actuators = [leg.actuator for leg in machine.parameters.legs]
    median = np.median(values, axis=0)
    large = np.quantile(np.abs(values), 0.9, axis=0)
    if name in ("coordinates", "setpoint", "measured"):
        low, high = machine.minimum_coordinates, machine.maximum_coordinates
        slack = 0.5 * (high - low)
        return median, low - slack, high + slack
    limits = {
        "forces": [actuator.effort for actuator in actuators],
        "motor_forces": [actuator.effort for actuator in actuators],
        "command_forces": [actuator.effort for actuator in actuators],
        "rates": [actuator.speed for actuator in actuators],
        "command_rates": [actuator.speed for actuator in actuators],
    }.get(name, [None])
    if None not in limits:
        most = BEYOND * np.array(limits, dtype=float)
        return large, np.zeros(len(most)), most
    if name in ("pose", "reference_pose"):
        reach = 2.0 * (np.linalg.norm(machine.home[:3]) + float(np.max(machine.home_reaches)))
        least = 0.05 * np.linalg.norm(machine.home[:3])
        size = np.median(np.linalg.norm(values[:, :3], axis=1))
        return np.array([size]), np.array([least]), np.array([reach])
    if name == "accelerometer":
        size = np.median(np.linalg.norm(values, axis=1))
        return np.array([size]), np.array([0.3 * GRAVITY]), np.array([3.0 * GRAVITY])
    return None
