"""Signals of the platform beside the encoders: poses of a tracker, readings of inertial sensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.identification.parameters.parameter import Parameter
from twin.logs import Log
from twin.model.machine_model import MachineModel

SIGNALS = ("pose", "accelerometer", "gyroscope")

NOISE = {"pose": (20e-6, 50e-6), "accelerometer": (0.05,), "gyroscope": (1e-3,)}
"""[m, rad; m/s2; rad/s] Of signals whose noise neither the log nor the file says. Adopted."""

OWN = ("imu.", *(f"signal.{name}." for name in SIGNALS))
"""First words of the paths of parameters on which no motion depends."""


class Slots(NamedTuple):
    """Samples of a signal by window; windows with fewer than others have empty slots."""

    index: Any
    """`(W, q)`"""
    filled: Any
    """`(W, q)`"""


class PlatformSignal(NamedTuple):
    """Samples of one signal, at times of its own."""

    name: str
    time: FloatArray
    """`(k,)` [s]"""
    values: FloatArray
    """`(k, 7)` poses, or `(k, 3)`"""
    noise: FloatArray
    """`(6,)` standard deviations [m], [rad] of poses; `(3,)` of readings"""

    def slots(self, begin: FloatArray, length: float) -> Slots:
        """Return which samples are in windows `(W,)` of a length [s] that begin at times [s]."""
        first, stop = np.searchsorted(self.time, [begin, begin + length])
        index = first[:, None] + np.arange(max(int((stop - first).max(initial=0)), 1))
        return Slots(np.minimum(index, len(self.time) - 1), index < stop[:, None])


def platform_signals(log: Log, machine: MachineModel) -> tuple[PlatformSignal, ...]:
    """Return signals of a log that show the platform; of inertial sensors that a machine has."""
    found = []
    for name in SIGNALS:
        has_sensor = name == "pose" or machine.parameters.imu is not None
        if name not in log or not len(log[name]) or not has_sensor:
            continue
        channel = log[name]
        found.append(PlatformSignal(name, channel.time, channel.values, _noise(name, log, machine)))
    return tuple(found)


def _noise(name: str, log: Log, machine: MachineModel) -> FloatArray:
    """Return what the log says of a tracker, or the file of a sensor; else usual numbers."""
    given = [0.0]
    if name == "pose":
        names = ("position_noise", "angle_noise")
        given = [float(log[each].values.mean()) if each in log else 0.0 for each in names]
    elif (imu := machine.parameters.imu) is not None:
        triad = imu.accelerometers if name == "accelerometer" else imu.gyroscopes
        given = [triad.noise if triad is not None else 0.0]
    return np.repeat([own or usual for own, usual in zip(given, NOISE[name], strict=True)], 3)


def used_signals(
    signals: Sequence[PlatformSignal], parameters: Sequence[Parameter]
) -> list[PlatformSignal]:
    """Return the signals of which errors are among the parameters: others are not exact enough.

    Raises:
        InputError: one of them has times that do not increase, or a wrong number of columns.
    """
    used = []
    for signal in signals:
        own = (f"signal.{signal.name}.", *(() if signal.name == "pose" else ("imu.",)))
        if not any(each.path.startswith(own) for each in parameters):
            continue
        width = 7 if signal.name == "pose" else 3
        if signal.values.shape[1] != width:
            columns = signal.values.shape[1]
            raise InputError(signal.name, f"has {columns} columns, not {width}")
        if not (np.diff(signal.time) > 0.0).all():
            raise InputError(signal.name, "has times that repeat or step back; see check_log")
        used.append(signal)
    return used
