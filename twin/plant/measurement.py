"""What the sensors of a machine tell its controller."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only

NOTHING = read_only(np.empty(0))
"""Of machines without the sensor."""


class Measurement(NamedTuple):
    """One reading of all sensors; arrays are copies that the controller may keep."""

    time: float
    """[s] of the reading"""
    coordinates: FloatArray
    """`(n,)` of what the actuators move [m, rad], as their encoders tell; without series springs"""
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
