"""Arrays that the kernels of motion cueing read and write: the machine, its drivers, episodes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.envs.scales import Scales
from twin.errors import InputError
from twin.kernels.tasks.motion_cueing.command import ACCELERATIONS, INCREMENTS
from twin.motion.cueing.machine_ranges import machine_ranges
from twin.motion.cueing.perceived_error import THRESHOLDS
from twin.simulation.platform import Platform

POSE_ACTIONS = {"increments": INCREMENTS, "accelerations": ACCELERATIONS}
"""Kinds of actions on the pose."""

FULL_SPEED = 0.1
"""[s] in which the largest accelerations that can be asked for lead to full speed."""


class Axes(NamedTuple):
    """What the machine has along x, y, z, yaw, pitch, roll."""

    free: Any
    """`(k,)` numbers of those it has"""
    travel: FloatArray
    """`(6,)` [m, rad] to either side; 1 where it has none"""
    speed: FloatArray
    """`(6,)` [m/s, rad/s]; 0 where it has none"""


class Command(NamedTuple):
    """What turns actions into the actuators' speeds."""

    legs: Any
    """constants of the machine's kinematics"""
    home: FloatArray
    """`(7,)`"""
    free: Any
    """`(k,)` numbers of the axes"""
    mode: int
    """what an action means"""
    period: float
    """[s]"""
    scale: FloatArray
    """`(6,)` what 1 in an action means"""
    speed: FloatArray
    """`(6,)` most of each axis"""
    reach: FloatArray
    """`(n,)` way of each actuator in a period at full speed"""
    brake: FloatArray
    """`(n,)` deceleration of each actuator as it comes to its end"""
    low: FloatArray
    """`(n,)` least coordinates of a command"""
    high: FloatArray
    """`(n,)` greatest"""
    gain: float
    """[1/s] of the correction of position"""


class Frame(NamedTuple):
    """What outcome and observations refer to."""

    head: FloatArray
    """`(3,)` [m]"""
    home: FloatArray
    """`(7,)`"""
    free: Any
    """`(k,)` numbers of the axes"""
    travel: FloatArray
    """`(6,)`"""
    threshold: FloatArray
    """`(6,)` of perception"""
    period: float
    """[s]"""
    low: FloatArray
    """`(N, n)` least coordinates of the actuators"""
    high: FloatArray
    """`(N, n)` greatest"""
    middle: FloatArray
    """`(n,)` between both"""
    ahead: Any
    """`(s,)` periods after which the manoeuvre is shown, the first 0"""
    scale: FloatArray
    """`(o,)` what 1 in an observation means"""
    weights: FloatArray
    """`(t,)` of the reward's terms"""


class Senses(NamedTuple):
    """Manoeuvres and what the drivers of vehicle and platform sense, by row."""

    table: FloatArray
    """`(N, L, 6)` manoeuvres: specific force less rest, angular rate"""
    index: Any
    """`(N,)` periods since the begin"""
    vehicle_states: FloatArray
    """`(N, 6, 2)` of perception"""
    platform_states: FloatArray
    """`(N, 6, 2)`"""
    vehicle: FloatArray
    """`(N, 6)` perceived in the vehicle [m/s2, rad/s]"""
    platform: FloatArray
    """`(N, 6)` perceived on the platform"""
    left: FloatArray
    """`(N, 6)` what the platform's driver feels as a period begins, less rest"""
    right: FloatArray
    """`(N, 6)` the same as it ends"""
    before: FloatArray
    """`(N, 7)` velocity of the head and attitude one period ago"""
    turning: FloatArray
    """`(N, 6)` twist one period ago"""
    sums: FloatArray
    """`(N, 2)` of the squares of errors and of false cues, in thresholds"""


class Signals(NamedTuple):
    """What `info` shows beside the senses, by row."""

    axes: FloatArray
    """`(N, 6)` about home"""
    error: FloatArray
    """`(N, 6)` perceived on the platform less perceived in the vehicle"""
    score: FloatArray
    """`(N,)` `PerceivedError.total` since the begin"""
    false_cues: FloatArray
    """`(N,)` `PerceivedError.total_false_cue` since the begin"""


class Results(NamedTuple):
    """Arrays of the task that the outcome fills."""

    term: FloatArray
    """`(N, t)`"""
    reward: FloatArray
    """`(N,)`"""
    reason: Any
    """`(N,)`"""
    observation: Any
    """`(N, o)`, float32"""


def machine_axes(platform: Platform) -> Axes:
    """Return the axes of a machine; without a limit of speed, all the travel in 1 / (2 pi) s.

    Raises:
        InputError: a machine that hardly moves cannot cue.
    """
    ranges = machine_ranges(platform)
    if not (ranges.free & (ranges.travel > 0.0)).any() or not (ranges.travel[ranges.free]).all():
        raise InputError("platform", f"{platform.name} moves less than 5 mm or 5 mrad: no cueing")
    speed = np.where(np.isfinite(ranges.speed), ranges.speed, 2.0 * np.pi * ranges.travel)
    travel = np.where(ranges.free, ranges.travel, 1.0)
    return Axes(np.flatnonzero(ranges.free), travel, np.where(ranges.free, speed, 0.0))


def make_command(
    platform: Platform,
    axes: Axes,
    scales: Scales,
    *,
    mode: int,
    period: float,
    margin: float,
    gain: float,
) -> Command:
    """Return what turns actions into speeds of a machine's actuators.

    Args:
        platform: the machine.
        axes: its own.
        scales: of its actuators.
        mode: a value of `POSE_ACTIONS`.
        period: of control [s].
        margin: share of the actuators' range that commands keep off at either end.
        gain: [1/s] of the correction of position.
    """
    kept = 2.0 * margin * scales.half
    return Command(
        platform.constants.legs,
        platform.home.copy(),
        axes.free,
        mode,
        period,
        axes.speed * period if mode == INCREMENTS else axes.speed / FULL_SPEED,
        axes.speed,
        scales.speed * period,
        scales.speed / FULL_SPEED,
        scales.lower + kept,
        scales.upper - kept,
        gain,
    )


def make_frame(
    platform: Platform,
    axes: Axes,
    scales: Scales,
    size: int,
    *,
    head: FloatArray,
    period: float,
    ahead: list[int],
    scale: FloatArray,
    weights: FloatArray,
) -> Frame:
    """Return what outcome and observations of `size` rows refer to; see `Frame`."""
    return Frame(
        head,
        platform.home.copy(),
        axes.free,
        axes.travel,
        THRESHOLDS.copy(),
        period,
        np.tile(scales.lower, (size, 1)),
        np.tile(scales.upper, (size, 1)),
        scales.middle.copy(),
        np.array(ahead),
        scale.copy(),
        weights,
    )


def make_senses(size: int, length: int) -> Senses:
    """Return empty arrays for `size` rows and manoeuvres of `length` periods."""
    rows = (size, 6)
    return Senses(
        table=np.zeros((size, length, 6)),
        index=np.zeros(size, dtype=np.int64),
        vehicle_states=np.zeros((size, 6, 2)),
        platform_states=np.zeros((size, 6, 2)),
        vehicle=np.zeros(rows),
        platform=np.zeros(rows),
        left=np.zeros(rows),
        right=np.zeros(rows),
        before=np.zeros((size, 7)),
        turning=np.zeros(rows),
        sums=np.zeros((size, 2)),
    )


def make_signals(size: int) -> Signals:
    """Return empty arrays for `size` rows."""
    rows = (size, 6)
    return Signals(np.zeros(rows), np.zeros(rows), np.zeros(size), np.zeros(size))
