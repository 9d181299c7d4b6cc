"""Windows of a recording, and the smoothed motion at their beginnings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.identification.prediction.recording import Recording
from twin.model.machine_model import MachineModel

SMOOTHING, ORDER = 0.015, 4
"""[s] over which polynomials of this order give speeds and accelerations."""

TOUCHING = 0.25
"""Least force in a leg at a window's beginning, per mean force: play lies on a known side."""

FEWEST = 3
"""Windows."""


class Windows(NamedTuple):
    """Windows of a recording; first axis W windows."""

    first: Any
    """`(W,)` index of the first sample of each"""
    position: FloatArray
    """`(W, n)` smoothed coordinates of the motors there"""
    speed: FloatArray
    """`(W, n)`"""
    pose: FloatArray
    """`(W, 7)` and twist, as if nothing yielded"""
    twist: FloatArray
    """`(W, 6)`"""
    acceleration: FloatArray
    """`(W, 6)`"""
    motor_acceleration: FloatArray
    """`(W, n)`"""
    force_rate: FloatArray
    """`(W, n)` rates of the forces in the legs"""

    def part(self, indices: Any) -> Windows:
        """Return some of the windows."""
        return Windows(*(values[indices] for values in self))


def windows_of(recording: Recording, machine: MachineModel, samples: int) -> Windows:
    """Return windows of `samples` intervals one after the other.

    Each begins where all legs are under load, so that it is known on which side their play lies.

    Raises:
        InputError: fewer than `FEWEST` windows.
    """
    from scipy.signal import savgol_filter

    period = recording.period
    width = max(2 * round(0.5 * SMOOTHING / period) + 1, ORDER + 3)
    position, speed, change = (
        savgol_filter(recording.position, width, ORDER, deriv=k, delta=period, axis=0)
        for k in range(3)
    )
    pose = machine.forward_kinematics(position)
    jacobian = machine.jacobian(pose)
    twist = np.linalg.solve(jacobian, speed[..., None])[..., 0]
    slope = machine.jacobian_derivative(pose, twist)
    bent = change - np.einsum("...ij,...j->...i", slope, twist)
    acceleration = np.linalg.solve(jacobian, bent[..., None])[..., 0]
    force = machine.inverse_dynamics(pose, twist, acceleration)
    rate = savgol_filter(force, width, 2, deriv=1, delta=period, axis=0)
    loaded = np.abs(force).min(axis=1) > TOUCHING * np.abs(force).mean()
    drives = [leg.drive for leg in machine.parameters.legs]
    if not any(drive is not None and drive.reflected().backlash > 0.0 for drive in drives):
        loaded[:] = True
    first, at = [], width
    while at + samples < len(position) - width:
        first += [at] if loaded[at] else []
        at += samples if loaded[at] else 1
    if len(first) < FEWEST:
        raise InputError(
            "log",
            f"has {len(first)} windows of {samples * period:g} s that begin with all legs under "
            "load; record a longer motion, or take shorter windows",
        )
    found = (position, speed, pose, twist, acceleration, change, rate)
    return Windows(np.array(first), *(values[first] for values in found))
