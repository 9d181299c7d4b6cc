"""What the numbers of an environment's observations and actions are."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.training.policy import PolicyChannel


def channels(env: Any) -> tuple[tuple[PolicyChannel, ...], tuple[PolicyChannel, ...]]:
    """Return the channels of observations and actions; none where the environment has no names."""
    task = getattr(env.unwrapped, "task", None)
    if task is None:
        return (), ()
    return _channels(task.observations), _channels(task.actions)


def _channels(table: Any) -> tuple[PolicyChannel, ...]:
    return tuple(
        PolicyChannel(
            name=channel.name, size=channel.size, unit=channel.unit, scale=_scale(channel.scale)
        )
        for channel in table
    )


def _scale(scale: Any) -> float | tuple[float, ...]:
    values = np.asarray(scale, dtype=float)
    return float(values) if values.ndim == 0 else tuple(values.tolist())
