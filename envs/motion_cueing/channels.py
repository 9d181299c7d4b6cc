"""Channels of MotionCueing: what the numbers of its actions and observations mean."""

from __future__ import annotations

from typing import Any

from twin.basics.arrays import FloatArray
from twin.envs.channels import Channel
from twin.envs.motion_cueing.arrays import Axes
from twin.envs.motion_cueing.settings import MotionCueingSettings
from twin.kernels.tasks.arrays import Scales
from twin.kernels.tasks.motion_cueing.arrays import Command
from twin.motion.cueing.perceived_error import THRESHOLDS
from twin.simulation.platform import Platform

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
    """Return what the numbers of an action are."""
    if settings.action == "velocities":
        unit = f"{platform.coordinate_unit}/s"
        return Channel("actuator velocity", platform.n_actuators, unit, scales.speed)
    name, end = ACTIONS[settings.action]
    return _on_axes(name, machine.free, machine.scale, end)


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
