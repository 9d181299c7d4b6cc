"""Commands and measured motion of one log, as predictions need them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.identification.prediction.platform_signals import PlatformSignal, platform_signals
from twin.logs import Channel, Log
from twin.model.machine_model import MachineModel

UNEVEN = 1e-3
"""Largest departure of a sample's time, in sampling periods, that is taken for even."""

FEWEST_SAMPLES = 200
"""Samples that a log needs."""


@dataclass(frozen=True, eq=False)
class Recording:
    """Commands and measured motion of one log."""

    time: FloatArray
    """`(T,)` [s] of the samples, evenly spaced"""
    position: FloatArray
    """`(T, n)` measured coordinates of the motors [m, rad]"""
    mode: Literal["force", "velocity"]
    """of the commands"""
    command_time: FloatArray
    """`(C,)` [s] when the commands were given"""
    commands: FloatArray
    """`(C, n)` forces or speeds, held until the next one"""
    feedforward: FloatArray | None = None
    """`(C, n)` forces beside commanded speeds"""
    platform: tuple[PlatformSignal, ...] = ()
    """poses of a tracker and readings of an inertial sensor"""

    @property
    def period(self) -> float:
        """Sampling period [s]."""
        return float(self.time[-1] - self.time[0]) / (len(self.time) - 1)


def recording_of(log: Log, machine: MachineModel) -> Recording:
    """Return what a log in signals of a machine holds for predictions.

    Commands are `command_rates`, with `command_forces` as feedforward where there are both, or
    `command_forces` alone. Positions are `measured`, or `coordinates` where that is missing. Poses
    and readings of an inertial sensor are taken along.

    Raises:
        InputError: signals are missing or have too few columns, or the log is too short.
    """
    name = "measured" if "measured" in log else "coordinates"
    kind = "command_rates" if "command_rates" in log else "command_forces"
    for wanted, words in ((kind, "commands"), (name, "encoders")):
        if wanted not in log:
            raise InputError(
                "log",
                f"has no {wanted}: the {words} are needed; map their channels to it with a mapping "
                "file (docs/logs.md)",
            )
        if log[wanted].values.shape[1] != machine.n_actuators:
            columns = log[wanted].values.shape[1]
            raise InputError(wanted, f"has {columns} columns, not {machine.n_actuators}: one a leg")
    position, commands = log[name], log[kind]
    if min(len(position), len(commands)) < FEWEST_SAMPLES:
        raise InputError(
            "log",
            f"has {len(position)} positions and {len(commands)} commands; {FEWEST_SAMPLES} needed",
        )
    for channel in (position, commands):
        if not (np.diff(channel.time) > 0.0).all():
            raise InputError(channel.name, "has times that repeat or step back; see check_log")
    time = _even_times(position.time)
    with_force = kind == "command_rates" and "command_forces" in log
    return Recording(
        time,
        _sampled(position, time),
        "velocity" if kind == "command_rates" else "force",
        commands.time,
        commands.values,
        _sampled(log["command_forces"], commands.time) if with_force else None,
        platform_signals(log, machine),
    )


def _even_times(time: FloatArray) -> FloatArray:
    """Return evenly spaced times [s] over the same span, at the median period."""
    period = float(np.median(np.diff(time)))
    return np.linspace(time[0], time[-1], round((time[-1] - time[0]) / period) + 1)


def _sampled(channel: Channel, time: FloatArray) -> FloatArray:
    """Return a channel at other times: its own values where the times agree, else splines."""
    near = UNEVEN * float(time[1] - time[0])
    if len(channel) == len(time) and np.abs(channel.time - time).max() < near:
        return channel.values
    from scipy.interpolate import make_interp_spline

    return np.asarray(make_interp_spline(channel.time, channel.values, k=3)(time))
