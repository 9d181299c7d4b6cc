"""Channels: what the numbers of a space mean, in physical units; rows of the docstrings' tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only


class Channel(NamedTuple):
    """Some neighbouring numbers of an action or an observation."""

    name: str
    size: int
    unit: str
    scale: Any
    """physical value that 1 in the space means, one number or `(size,)`"""


def channel_scales(channels: Sequence[Channel]) -> FloatArray:
    """Return the scales of all numbers of a space, in order, read-only."""
    parts = [np.broadcast_to(np.asarray(c.scale, dtype=float), (c.size,)) for c in channels]
    return read_only(np.concatenate(parts))


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
