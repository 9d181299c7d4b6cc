"""Signals between controller and plant: commands and measurements."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only

Mode = Literal["velocity", "force"]
MODES: tuple[Mode, ...] = ("velocity", "force")


class Command(NamedTuple):
    """Command of the drives, in force until the next one."""

    values: FloatArray
    """`(n,)` speeds [m/s, rad/s] or forces [N, N m]"""
    mode: Mode = "velocity"
    """"velocity": each drive closes a PI loop around its motor's speed; "force": none"""
    feedforward: FloatArray | None = None
    """`(n,)` force added to that of the velocity loop"""
    brakes: FloatArray | None = None
    """`(n,)` 1 where the brake shall hold, 0 where it shall be free; None for free"""


NOTHING = read_only(np.empty(0))
"""Of machines without the sensor."""


class Measurement(NamedTuple):
    """One reading of all sensors; arrays are copies that the controller may keep."""

    time: float
    """[s] of the reading"""
    coordinates: FloatArray
    """`(n,)` of what the actuators move [m, rad], measured by encoders; without series springs"""
    rates: FloatArray
    """`(n,)` [m/s, rad/s]: differences of encoder readings, or exact where there is no encoder"""
    forces: FloatArray
    """`(n,)` on the legs over the last step of the engine [N, N m]"""
    valid: bool = True
    """False: the sensors gave nothing, and these are the last good readings"""
    inertial: FloatArray = NOTHING
    """`(6,)` of an inertial sensor: specific force [m/s2], angular rate [rad/s], sensor axes"""
    counts: FloatArray = NOTHING
    """`(n,)` raw encoder counts since power-up or the last index pulse"""
    at_minimum: FloatArray = NOTHING
    """`(n,)` 1 where the switch at the shorter limit is pressed, else 0"""
    at_maximum: FloatArray = NOTHING
    """`(n,)` the same of the longer limit"""
