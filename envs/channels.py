"""Channels: what the numbers of actions and observations mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from twin.basics.arrays import FloatArray, read_only, whole_number
from twin.envs.registration import register_all
from twin.errors import InputError
from twin.kernels.tasks.task import OBSERVATION_BOUND


class Channel(NamedTuple):
    """Consecutive numbers of an action or an observation with one meaning."""

    name: str
    size: int
    unit: str
    scale: Any
    """physical value that corresponds to 1 in the space, one number or `(size,)`"""


def channel_scales(channels: Sequence[Channel]) -> FloatArray:
    """Return the scales of all numbers of a space, in order, read-only."""
    arrays = [np.broadcast_to(np.asarray(c.scale, dtype=float), (c.size,)) for c in channels]
    return read_only(np.concatenate(arrays))


def width(channels: Sequence[Channel]) -> int:
    """Return the sum of the channels' sizes."""
    return sum(channel.size for channel in channels)


def channel_slices(channels: Sequence[Channel]) -> dict[str, slice]:
    """Return the slice of each channel in the space, by name."""
    ends = np.cumsum([channel.size for channel in channels]).tolist()
    return {
        channel.name: slice(end - channel.size, end)
        for channel, end in zip(channels, ends, strict=True)
    }


def rescaled(channels: Sequence[Channel], scales: Mapping[str, Any]) -> tuple[Channel, ...]:
    """Return channels with the given scales in place of their default ones.

    Args:
        channels: channels of observations or of actions.
        scales: name -> one number or `(size,)`; other names are passed over.

    Raises:
        InputError: another count of numbers than the channel has.
    """
    rescaled_channels = []
    for channel in channels:
        scale = np.asarray(scales.get(channel.name, channel.scale), dtype=float)
        if scale.shape not in ((), (channel.size,)):
            raise InputError(
                "scales",
                f"{channel.name} needs one number or {channel.size}, not an array {scale.shape}",
            )
        rescaled_channels.append(
            channel._replace(scale=read_only(scale) if scale.ndim else float(scale))
        )
    return tuple(rescaled_channels)


def saturated_shares(
    environment: str, *, steps: int = 200, envs: int = 8, seed: int = 0, **options: Any
) -> dict[str, float]:
    """Return the share of entries at a bound under random actions, by the names of observations.

    A learner cannot tell apart what lies beyond the bounds: a share of some percent asks for
    another scale, which the option `scales` takes.

    Args:
        environment: id of one of the package's environments.
        steps: control periods.
        envs: environments side by side.
        seed: seed of episodes and actions.
        options: options of the environment, such as the machine.

    Raises:
        InputError: counts below one, or options that cannot be used.
    """
    whole_number(steps, "steps", 1)
    whole_number(envs, "envs", 1)
    register_all()
    env: Any = gymnasium.make_vec(
        environment,
        envs,
        vectorization_mode="vector_entry_point",
        **{**options, "autoreset_mode": "SameStep"},
    )
    try:
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        bound_fraction = np.zeros(env.single_observation_space.shape)
        for _ in range(steps):
            observation, *_ = env.step(rng.uniform(-1.0, 1.0, env.action_space.shape))
            bound_fraction += (np.abs(observation) >= OBSERVATION_BOUND).mean(axis=0) / steps
        slices = channel_slices(env.task.observations)
        return {name: float(bound_fraction[columns].mean()) for name, columns in slices.items()}
    finally:
        env.close()
