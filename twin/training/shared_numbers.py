"""Directions of a search in which all legs share their numbers: one gain for each channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, one_of
from twin.envs.channels import channel_slices
from twin.errors import InputError

CONSTANT_DIRECTION = "constant"
"""Name of the direction that moves all legs alike, whatever is observed."""


def shared_directions(env: Any, channels: Sequence[str]) -> FloatArray:
    """Return directions `(k, p)` in the numbers of a linear policy: weights, then biases.

    A channel with a number for every leg has the same gain in all legs. One along the axes of the
    platform reaches the legs through the Jacobian at home, as the laws of the tasks do. Each adds
    about 1 to the actions where its observations are 1.

    Args:
        env: vector environment of a task whose actions are of the actuators.
        channels: names of observations, or `CONSTANT_DIRECTION`; one direction each.

    Raises:
        InputError: actions of another kind, or a name of no such channel.
    """
    task = getattr(env.unwrapped, "task", None)
    legs = 0 if task is None else task.platform.n_actuators
    if task is None or len(task.actions) != 1 or task.actions[0].size != legs:
        raise InputError("shared", "is for actions that are those of the actuators")
    jacobian = task.platform.jacobian(task.platform.home)
    where = channel_slices(task.observations)
    sizes = {each.name: each for each in task.observations if each.size in (3, legs)}
    moved = np.broadcast_to(task.actions[0].scale, (legs,))
    found = np.zeros((len(channels), legs, env.single_observation_space.shape[0] + 1))
    for weights, name in zip(found, channels, strict=True):
        if name == CONSTANT_DIRECTION:
            weights[:, -1] = 1.0
            continue
        channel = sizes[one_of(name, "shared", (*sizes, CONSTANT_DIRECTION))]
        gains = np.eye(legs)
        if channel.size == 3:
            gains = jacobian[:, 3:] if channel.unit.startswith("rad") else jacobian[:, :3]
        part = gains * np.broadcast_to(channel.scale, (channel.size,)) / moved[:, None]
        weights[:, where[name]] = part / np.sqrt(np.square(part).sum(axis=1).mean())
    flat = found[:, :, :-1].reshape(len(channels), -1), found[:, :, -1]
    return np.concatenate(flat, axis=1)
