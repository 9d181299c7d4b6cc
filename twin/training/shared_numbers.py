"""Directions of a search in which all legs share their numbers: one gain for each channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, one_of
from twin.envs.channels import channel_slices
from twin.errors import InputError

CONSTANT_DIRECTION = "constant"
"""Name of the direction that moves all legs equally, whatever is observed."""


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
    slices = channel_slices(task.observations)
    usable_channels = {
        channel_info.name: channel_info
        for channel_info in task.observations
        if channel_info.size in (3, legs)
    }
    action_scale = np.broadcast_to(task.actions[0].scale, (legs,))
    directions = np.zeros((len(channels), legs, env.single_observation_space.shape[0] + 1))
    for weights, name in zip(directions, channels, strict=True):
        if name == CONSTANT_DIRECTION:
            weights[:, -1] = 1.0
            continue
        channel = usable_channels[one_of(name, "shared", (*usable_channels, CONSTANT_DIRECTION))]
        gains = np.eye(legs)
        if channel.size == 3:
            gains = jacobian[:, 3:] if channel.unit.startswith("rad") else jacobian[:, :3]
        gain_in_spaces = (
            gains * np.broadcast_to(channel.scale, (channel.size,)) / action_scale[:, None]
        )
        weights[:, slices[name]] = gain_in_spaces / np.sqrt(
            np.square(gain_in_spaces).sum(axis=1).mean()
        )
    weights_and_biases = directions[:, :, :-1].reshape(len(channels), -1), directions[:, :, -1]
    return np.concatenate(weights_and_biases, axis=1)
