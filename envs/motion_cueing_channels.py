"""Channels of MotionCueing: what the numbers of its actions and observations mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.arrays import FloatArray
from twin.envs.channels import Channel
from twin.envs.motion_cueing_arrays import Axes, Command
from twin.envs.scales import Scales
from twin.motion.cueing.perceived_error import THRESHOLDS
from twin.platform import Platform

FORCE = 5.0
"""[m/s2] of a ride that counts as one, less rest."""

RATE = 0.5
"""[rad/s]"""

OBSERVED = 10.0
"""Thresholds of perception that count as one."""

ACTIONS = {
    "increments": ("increment", "m", "rad"),
    "accelerations": ("acceleration", "m/s2", "rad/s2"),
}
"""Kinds of actions on the pose: name, units along and about axes."""


def action_channels(
    platform: Platform, scales: Scales, machine: Command, settings: Any
) -> tuple[Channel, ...]:
    """Return what the numbers of an action are."""
    if settings.action == "velocities":
        unit = f"{platform.coordinate_unit}/s"
        return (Channel("actuator speeds", platform.n_actuators, unit, scales.speed),)
    name, along, about = ACTIONS[settings.action]
    return _on_axes(machine.free, machine.scale, (name, f"angular {name}"), (along, about))


def observation_channels(
    platform: Platform, scales: Scales, axes: Axes, actions: tuple[Channel, ...], settings: Any
) -> tuple[Channel, ...]:
    """Return what the numbers of an observation are, in the order of `observe_rows`."""
    felt = OBSERVED * THRESHOLDS
    channels = [
        Channel("force perceived in the vehicle", 3, "m/s2", felt[:3]),
        Channel("rotation perceived in the vehicle", 3, "rad/s", felt[3:]),
        Channel("force perceived on the platform", 3, "m/s2", felt[:3]),
        Channel("rotation perceived on the platform", 3, "rad/s", felt[3:]),
        Channel("specific force of the vehicle", 3, "m/s2", FORCE),
        Channel("angular rate of the vehicle", 3, "rad/s", RATE),
    ]
    for k in range(1, settings.preview + 1):
        channels.append(Channel(f"specific force ahead {k}", 3, "m/s2", FORCE))
        channels.append(Channel(f"angular rate ahead {k}", 3, "rad/s", RATE))
    free, places, rates = axes.free, ("m", "rad"), ("m/s", "rad/s")
    channels += _on_axes(free, axes.travel, ("position", "attitude"), places)
    channels += _on_axes(free, axes.speed, ("velocity", "angular velocity"), rates)
    if settings.action != "velocities":
        names = ("commanded position", "commanded attitude")
        channels += _on_axes(free, axes.travel, names, places)
        names = ("commanded velocity", "commanded angular velocity")
        channels += _on_axes(free, axes.speed, names, rates)
    unit, n = platform.coordinate_unit, platform.n_actuators
    channels.append(Channel("actuators from mid-range", n, unit, scales.half))
    channels += [Channel(f"last {each.name}", each.size, "1", 1.0) for each in actions]
    return tuple(channels)


def _on_axes(
    free: Any, scale: FloatArray, names: tuple[str, str], units: tuple[str, str]
) -> tuple[Channel, ...]:
    """Return channels of the free axes: those along x, y, z and those of yaw, pitch, roll."""
    parts = (free[free < 3], free[free >= 3])
    return tuple(
        Channel(name, len(part), unit, np.asarray(scale[part]))
        for name, part, unit in zip(names, parts, units, strict=True)
        if len(part)
    )
