"""Legs that are swapped, doubled or of the wrong sign."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import linear_sum_assignment

from twin.basics.arrays import FloatArray
from twin.errors import TwinError
from twin.logs.channel import Channel, check_increasing
from twin.logs.log import Finding, Log
from twin.logs.signals import is_per_leg
from twin.model.machine_model import MachineModel

MOST_SAMPLES = 2000
CLEARLY = 3.0
"""How many times better another leg must fit to be named."""


def leg_coordinates(log: Log, machine: MachineModel) -> Channel:
    """Return the actuator coordinates of the recorded poses, as a channel at their times.

    With `time_offset` they give the time between a tracker and the encoders.

    Raises:
        InputError: no channel `pose`, or poses that the machine cannot have.
        UnreachablePoseError: a leg cannot reach a pose.
    """
    pose = log["pose"]
    values = machine.inverse_kinematics(pose.values)
    return Channel("coordinates", pose.time, values, (machine.coordinate_unit,) * values.shape[1])


def leg_findings(log: Log, machine: MachineModel | None) -> list[Finding]:
    """Return legs that copy each other, and with a machine and poses those in the wrong place."""
    found = []
    for channel in log.channels:
        if channel.width > 2 and (machine is None or is_per_leg(channel.name, machine)):
            found += _copies(channel)
    if machine is not None and {"coordinates", "pose"} <= set(log.names):
        found += _misplaced(log, machine)
    return found


def _copies(channel: Channel) -> list[Finding]:
    """Return columns that are equal sample by sample while they move and others differ."""
    values = channel.values
    if len(values) < 3 or (np.ptp(values, axis=1) == 0.0).all():
        return []
    pairs = [
        (a + 1, b + 1)
        for a, b in combinations(range(channel.width), 2)
        if np.ptp(values[:, a]) > 0.0 and np.array_equal(values[:, a], values[:, b])
    ]
    message = "columns {} and {} are equal in every sample; is one recorded twice?"
    return [Finding("legs", channel.name, message.format(*pair)) for pair in pairs]


def _misplaced(log: Log, machine: MachineModel) -> list[Finding]:
    """Return a finding where other legs than those of the mapping fit the poses better."""
    measured, pose = log["coordinates"], log["pose"]
    try:
        check_increasing(pose)
        inside = measured.between(pose.time[0], np.nextafter(pose.time[-1], np.inf))
        inside = inside.kept(slice(None, None, max(1, len(inside) // MOST_SAMPLES)))
        if len(inside) < 3:
            return []
        predicted = machine.inverse_kinematics(pose.at(inside.time))
    except TwinError as error:
        return [Finding("legs", "pose", f"cannot be compared with the legs: {error}")]
    return _compared(inside.values, predicted)


def _compared(measured: FloatArray, predicted: FloatArray) -> list[Finding]:
    """Return findings from coordinates `(k, n)` as measured and as the poses require them."""
    a, b = (values - values.mean(axis=0) for values in (measured, predicted))
    plain = np.sqrt(((a[:, :, None] - b[:, None, :]) ** 2).mean(axis=0))
    turned = np.sqrt(((a[:, :, None] + b[:, None, :]) ** 2).mean(axis=0))
    cost = np.minimum(plain, turned)
    own = np.diagonal(plain)
    least = 1e-9 + 0.02 * np.sqrt((b**2).mean())
    rows, best = linear_sum_assignment(cost)
    wrong = (own > CLEARLY * cost[rows, best]) & (own > least)
    swapped = np.flatnonzero(wrong & (best != rows))
    found = []
    if swapped.size:
        pairs = ", ".join(f"column {k + 1} moves as leg {best[k] + 1}" for k in swapped)
        order = [int(leg) + 1 for leg in np.where(wrong, best, rows)]
        hint = f"; legs = {order}" if len(set(order)) == len(order) else ""
        found.append(Finding("legs", "coordinates", pairs + hint))
    signs = np.flatnonzero(wrong & (turned[rows, best] < plain[rows, best]))
    if signs.size:
        columns = ", ".join(str(k + 1) for k in signs)
        found.append(Finding("legs", "coordinates", f"the sign of column {columns} is wrong"))
    return found
