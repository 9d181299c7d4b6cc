"""Sines about home as a reference: poses at the control instants, and what actuators have to do."""

from __future__ import annotations

from math import cos, sin
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device
from twin.kernels.lanes.groups import Width, lanes_memory
from twin.kernels.legs.dispatch import actuation, project_onto_constraints
from twin.kernels.legs.interface import Legs
from twin.kernels.numbers.arrays import as_lanes
from twin.kernels.numbers.columns import write_column
from twin.kernels.platform_state import platform_state
from twin.kernels.quaternions import quaternion_product
from twin.kernels.tasks.arrays import Scales
from twin.kernels.tasks.shaking import FRESH, rise, turned_on
from twin.kernels.vectors import add, cross, dot


class Sines(NamedTuple):
    """Sum of `cosine` cos(omega t) + `sine` sin(omega t), faded in and out."""

    omega: FloatArray
    """`(m,)` [rad/s]"""
    cosine: FloatArray
    """`(m, 6)` displacements [m], angles about fixed axes x, y, z [rad]"""
    sine: FloatArray
    """`(m, 6)`"""
    duration: float
    """[s]"""
    fade: float
    """[s] at either end, above zero"""


SLACK = 1e-9
"""Of the actuators' range, for rounding."""


@device
def fill_axes(
    sines: Sines,
    time: float,
    cosines: FloatArray,
    of_sines: FloatArray,
    value: FloatArray,
    rate: FloatArray,
) -> None:
    """Fill displacements and angles `value` (6,) and their rates (6,) at a time [s].

    `cosines` and `of_sines` (m,) are those of omega times the time.
    """
    into, into_slope = rise(time / sines.fade)
    out, out_slope = rise((sines.duration - time) / sines.fade)
    window, slope = into + out - 1.0, (into_slope - out_slope) / sines.fade
    for k in range(6):
        value[k] = 0.0
        rate[k] = 0.0
    for j in range(sines.omega.shape[0]):
        omega = sines.omega[j]
        of_cosine, of_sine = cosines[j], of_sines[j]
        for k in range(6):
            a, b = sines.cosine[j, k], sines.sine[j, k]
            value[k] += a * of_cosine + b * of_sine
            rate[k] += omega * (b * of_cosine - a * of_sine)
    for k in range(6):
        rate[k] = slope * value[k] + window * rate[k]
        value[k] = window * value[k]


@device
def fill_state(home: FloatArray, value: FloatArray, rate: FloatArray, y: FloatArray) -> None:
    """Fill `y` (13,): pose and twist of displacements and angles about home.

    The rotation is Rz Ry Rx; each axis is carried by the rotations after it.
    """
    a, b, c = 0.5 * value[3], 0.5 * value[4], 0.5 * value[5]
    cx, sx, cy, sy, cz, sz = cos(a), sin(a), cos(b), sin(b), cos(c), sin(c)
    turn = (
        cz * cy * cx + sz * sy * sx,
        cz * cy * sx - sz * sy * cx,
        cz * sy * cx + sz * cy * sx,
        sz * cy * cx - cz * sy * sx,
    )
    for k in range(3):
        y[k] = home[k] + value[k]
        y[7 + k] = rate[k]
    y[3], y[4], y[5], y[6] = quaternion_product(turn, (home[3], home[4], home[5], home[6]))
    # cos and sin of the whole angles, from those of half of them
    cos_y, sin_y = cy * cy - sy * sy, 2.0 * sy * cy
    cos_z, sin_z = cz * cz - sz * sz, 2.0 * sz * cz
    y[10] = cos_z * cos_y * rate[3] - sin_z * rate[4]
    y[11] = sin_z * cos_y * rate[3] + cos_z * rate[4]
    y[12] = rate[5] - sin_y * rate[3]


@compiled
def fill_motion(
    legs: Legs,
    home: FloatArray,
    sines: Sines,
    scales: Scales,
    period: float,
    rows: tuple[FloatArray, FloatArray, FloatArray],
    width: Width,
) -> bool:
    """Fill poses (k, 7), coordinates (k, n) and rates (k, n) at instants a period [s] apart.

    Legs that constrain the platform leave out what it cannot follow. Returns whether all
    coordinates and rates are within the limits.
    """
    pose, coordinates, rates = rows
    time, count = np.empty((2, len(width))), sines.omega.shape[0]
    turns, span = np.empty((2, count)), len(width) * period
    for j in range(count):
        turns[0, j], turns[1, j] = cos(sines.omega[j] * span), sin(sines.omega[j] * span)
    cosines, of_sines = lanes_memory(count, width), lanes_memory(count, width)
    value, rate, y = lanes_memory(6, width), lanes_memory(6, width), lanes_memory(13, width)
    within = True
    for first in range(0, pose.shape[0], len(width)):
        for lane in range(len(width)):
            time[0, lane] = (first + lane) * period
            time[1, lane] = min(time[0, lane], sines.duration)
        times = as_lanes(time, width)
        for j in range(count):
            cosine, sine, angle = cosines[j], of_sines[j], sines.omega[j] * times[0]
            if first % (FRESH * len(width)) == 0:
                cosines[j], of_sines[j] = cos(angle), sin(angle)
            else:
                cosines[j], of_sines[j] = turned_on(cosine, sine, turns[0, j], turns[1, j])
        fill_axes(sines, times[1], cosines, of_sines, value, rate)
        fill_state(home, value, rate, y)
        project_onto_constraints(legs, y)
        for k in range(7):
            write_column(pose, first, k, y[k])
        state = platform_state(y[:7], y[7:13])
        for i in range(legs.rows.shape[0]):
            arm, w, coordinate = actuation(legs, i, state.position, state.matrix)
            speed = dot(w, add(state.velocity, cross(state.omega, arm)))
            write_column(coordinates, first, i, coordinate)
            write_column(rates, first, i, speed)
            off, reach = abs(coordinate - scales.middle[i]), (1.0 + 2.0 * SLACK) * scales.half[i]
            if not (off <= reach and abs(speed) <= scales.speed[i]):
                within = False
    return within
