"""Laws that are linear in the observation: baselines, and what residual policies correct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.envs.channels import channel_scales, channel_slices
from twin.envs.task import Task


class LinearLaw:
    """Actions in proportion to the observation, within 1.

    Attributes:
        gains: `(a, o)`; the action is gains @ observation, within 1.
    """

    gains: FloatArray

    def __init__(self, task: Task, parts: Mapping[str, Any]) -> None:
        """Take the gains in physical units.

        Args:
            task: whose channels are meant.
            parts: name of an observation -> `(a, size)` action's unit per observation's unit.
        """
        scales, where = channel_scales(task.observations), channel_slices(task.observations)
        moved = channel_scales(task.actions)
        gains = np.zeros((len(moved), len(scales)))
        for name, part in parts.items():
            gains[:, where[name]] = part
        self.gains = read_only(gains * scales / moved[:, None])

    def __call__(self, observation: Any) -> FloatArray:
        """Return actions `(..., a)` for observations `(..., o)`."""
        action = np.asarray(observation, dtype=float) @ self.gains.T
        return np.asarray(action.clip(-1.0, 1.0))
