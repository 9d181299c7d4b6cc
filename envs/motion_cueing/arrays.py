"""Arrays that the kernels of motion cueing read and write: the machine, its drivers, episodes.

Its channels say what the numbers of actions and observations mean.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, positive
from twin.envs.channels import Channel, rescaled
from twin.envs.motion_cueing.settings import MotionCueingSettings
from twin.errors import InputError
from twin.kernels.tasks.arrays import Scales
from twin.kernels.tasks.motion_cueing.arrays import (
    Command,
    CommandState,
    Constants,
    Senses,
    Signals,
)
from twin.kernels.tasks.motion_cueing.command import ACCELERATIONS, INCREMENTS
from twin.kernels.tasks.motion_cueing.senses import MODEL_SIZE
from twin.motion.cueing.perception import THRESHOLDS
from twin.motion.cueing.platform_axes import machine_ranges
from twin.motion.cueing.prediction import CANALS, OTOLITHS

POSE_ACTIONS = {"increments": INCREMENTS, "accelerations": ACCELERATIONS}
"""Kinds of actions on the pose."""

FULL_SPEED = 0.1
"""[s] in which the largest accelerations that can be commanded lead to full speed."""


class Axes(NamedTuple):
    """Axes x, y, z, yaw, pitch, roll of the machine, with their travel."""

    free: Any
    """`(k,)` numbers of those it has"""
    travel: FloatArray
    """`(6,)` [m, rad] to either side; 1 where it has none"""
    speed: FloatArray
    """`(6,)` [m/s, rad/s]; 0 where it has none"""


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


def perception_models(period: float) -> FloatArray:
    """Return otoliths and canals `(2, MODEL_SIZE)` over one period, for `sense`.

    With an input u that runs in a straight line from u_0 to u_1 the state x' = A x + B u after
    the period T is exactly x_1 = E x + F u_0 + G (u_1 - u_0) / T, where (E, F, G) are the upper
    rows of the exponential of T (A, B, 0; 0, 0, 1; 0, 0, 0): the first-order hold that
    `twin.motion.cueing.perceived` uses.

    Args:
        period: [s].

    Raises:
        InputError: period not above zero.
    """
    from scipy.linalg import expm

    step = positive(period, "period")
    rows = np.empty((2, MODEL_SIZE))
    for row, model in zip(rows, (OTOLITHS, CANALS), strict=True):
        exact = expm(step * model.with_input())[:2]
        right = exact[:, 3] / step
        left = exact[:, 2] - right
        row[:] = [*exact[:, :2].ravel(), *left, *right, *model.output, model.through]
    return rows


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


def make_constants(
    platform: Platform,
    axes: Axes,
    scales: Scales,
    size: int,
    *,
    head: FloatArray,
    period: float,
    ahead: list[int],
    on_pose: bool,
) -> Constants:
    """Return the constants of `size` environments; see `Constants`."""
    return Constants(
        perception_models(period),
        head,
        platform.home.copy(),
        axes.free,
        axes.travel,
        THRESHOLDS.copy(),
        period,
        np.tile(scales.lower, (size, 1)),
        np.tile(scales.upper, (size, 1)),
        scales.middle,
        np.array(ahead),
        on_pose,
    )


def make_senses(size: int, length: int) -> Senses:
    """Return empty arrays for `size` environments and manoeuvres of `length` periods."""
    rows = (size, 6)
    return Senses(
        table=np.zeros((size, length, 6)),
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
    """Return empty arrays for `size` environments."""
    axes, error = np.zeros((2, size, 6))
    return Signals(axes, error, np.zeros(size), np.zeros(size))


def make_command_state(size: int, actuators: int) -> CommandState:
    """Return empty arrays for `size` environments of machines with so many actuators."""
    return CommandState(*np.zeros((2, size, 6)), *np.zeros((2, size, actuators)))


FORCE = 5.0
"""[m/s2] of a manoeuvre that counts as one, less rest."""

RATE = 0.5
"""[rad/s]"""

OBSERVED = 10.0
"""Thresholds of perception that count as one."""

ACTIONS = {
    "accelerations": ("pose acceleration", "/s2"),
    "increments": ("pose increment", ""),
}
"""Kinds of actions on the pose: name, and what their units end with."""


def action_channel(
    platform: Platform, scales: Scales, machine: Command, settings: MotionCueingSettings
) -> Channel:
    """Return the channel of an action.

    Raises:
        InputError: other scales for speeds of the actuators, which take all of their speed.
    """
    if settings.action == "velocities":
        unit = f"{platform.coordinate_unit}/s"
        speed = Channel("actuator velocity", platform.n_actuators, unit, scales.speed)
        if not np.allclose(rescaled([speed], settings.scales)[0].scale, speed.scale, rtol=1e-6):
            raise InputError("scales", f"{speed.name} is the whole speed of the actuators")
        return speed
    name, end = ACTIONS[settings.action]
    channel = rescaled([_on_axes(name, machine.free, machine.scale, end)], settings.scales)[0]
    machine.scale[machine.free] = channel.scale
    return channel


def observation_channels(
    platform: Platform, scales: Scales, axes: Axes, action: Channel, settings: MotionCueingSettings
) -> tuple[Channel, ...]:
    """Return what the numbers of an observation are, in the order of the kernel."""
    felt, free = OBSERVED * THRESHOLDS, axes.free
    channels = [
        Channel("force perceived in the vehicle", 3, "m/s2", felt[:3]),
        Channel("rotation perceived in the vehicle", 3, "rad/s", felt[3:]),
        Channel("force perceived on the platform", 3, "m/s2", felt[:3]),
        Channel("rotation perceived on the platform", 3, "rad/s", felt[3:]),
    ]
    for k in range(settings.preview + 1):
        channels.append(Channel(f"specific force {k}", 3, "m/s2", FORCE))
        channels.append(Channel(f"angular rate {k}", 3, "rad/s", RATE))
    channels.append(_on_axes("displacement", free, axes.travel))
    channels.append(_on_axes("velocity", free, axes.speed, "/s"))
    if settings.action != "velocities":
        channels.append(_on_axes("commanded displacement", free, axes.travel))
        channels.append(_on_axes("commanded velocity", free, axes.speed, "/s"))
    n, unit = platform.n_actuators, platform.coordinate_unit
    channels.append(Channel("coordinate", n, unit, scales.half))
    channels.append(Channel("last action", action.size, "1", 1.0))
    return tuple(channels)


def _on_axes(name: str, free: Any, scale: FloatArray, end: str = "") -> Channel:
    """Return a channel of the free axes; `end` of the units."""
    parts = (("m", (free < 3).any()), ("rad", (free >= 3).any()))
    unit = ", ".join(f"{each}{end}" for each, there in parts if there)
    return Channel(name, len(free), unit, scale[free])
