"""Directions of a search in which all legs share their numbers: one gain for each channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.envs.channels import channel_slices
from twin.errors import InputError


def shared_directions(env: Any) -> FloatArray:
    """Return directions `(k, p)` in the numbers of a linear policy: weights, then biases.

    A channel with a number for every leg has the same gain in all legs. One along the axes of the
    platform reaches the legs through the Jacobian at home, as the laws of the tasks do. The last
    direction moves all legs alike. Each adds about 1 to the actions where observations are 1.

    Args:
        env: vector environment of a task whose actions are of the actuators.

    Raises:
        InputError: actions of another kind.
    """
    task = getattr(env.unwrapped, "task", None)
    legs = 0 if task is None else task.platform.n_actuators
    if task is None or len(task.actions) != 1 or task.actions[0].size != legs:
        raise InputError("shared", "is for actions that are those of the actuators")
    jacobian = task.platform.jacobian(task.platform.home)
    where = channel_slices(task.observations)
    moved = np.broadcast_to(task.actions[0].scale, (legs,))
    found = []
    for channel in task.observations:
        gains = np.eye(legs)
        if channel.size == 3:
            gains = jacobian[:, 3:] if channel.unit.startswith("rad") else jacobian[:, :3]
        elif channel.size != legs:
            continue
        weights = np.zeros((legs, env.single_observation_space.shape[0]))
        part = gains * np.broadcast_to(channel.scale, (channel.size,)) / moved[:, None]
        weights[:, where[channel.name]] = part / np.sqrt(np.square(part).sum(axis=1).mean())
        found.append(np.concatenate([weights.ravel(), np.zeros(legs)]))
    found.append(np.concatenate([np.zeros(weights.size), np.ones(legs)]))
    return np.array(found)
