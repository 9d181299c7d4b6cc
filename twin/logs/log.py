"""A log of a machine: named channels with their own times, texts, and findings of its checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import NamedTuple, Self

import numpy as np

from twin.basics.arrays import as_instance, as_text
from twin.errors import InputError, brief, listed
from twin.logs.channel import Channel


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Channels of one recording."""

    channels: tuple[Channel, ...]
    """any iterable of channels with different names"""
    metadata: dict[str, str] = field(default_factory=dict)
    """texts, such as the name of the machine"""

    def __post_init__(self) -> None:
        """Check that names differ and metadata are texts."""
        if isinstance(self.channels, str) or not isinstance(self.channels, Iterable):
            raise InputError("channels", f"must be a list of Channel, not {brief(self.channels)}")
        channels = tuple(as_instance(each, "channels", Channel) for each in self.channels)
        names = [channel.name for channel in channels]
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        if twice:
            raise InputError("channels", f"{listed(twice)} is there twice; names must differ")
        if not isinstance(self.metadata, Mapping):
            raise InputError("metadata", f"must map texts to texts, not {brief(self.metadata)}")
        metadata = {
            as_text(key, "metadata"): as_text(value, f"metadata[{key!r}]")
            for key, value in self.metadata.items()
        }
        object.__setattr__(self, "channels", channels)
        object.__setattr__(self, "metadata", metadata)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the channels."""
        return tuple(channel.name for channel in self.channels)

    @property
    def span(self) -> tuple[float, float]:
        """Earliest and latest time of all channels [s]; (0, 0) of a log without samples."""
        times = [channel.time for channel in self.channels if len(channel)]
        if not times:
            return 0.0, 0.0
        return min(float(time.min()) for time in times), max(float(time.max()) for time in times)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Channel:
        for channel in self.channels:
            if channel.name == name:
                return channel
        close = get_close_matches(str(name), self.names, 1)
        guess = f" (did you mean {close[0]!r}?)" if close else ""
        raise InputError("channel", f"no channel {brief(name)}{guess}; it has {listed(self.names)}")

    def __repr__(self) -> str:
        start, stop = self.span
        return f"<Log of {len(self.channels)} channels, {start:.6g} to {stop:.6g} s>"

    def between(self, start: float, stop: float) -> Self:
        """Return all samples with start <= time < stop [s]."""
        return replace(self, channels=tuple(each.between(start, stop) for each in self.channels))

    def with_channels(self, *channels: Channel) -> Self:
        """Return the log with channels added, or put in place of those of their names."""
        new = {channel.name: channel for channel in channels}
        merged = {channel.name: channel for channel in self.channels} | new
        return replace(self, channels=tuple(merged.values()))


def join(logs: Iterable[Log]) -> Log:
    """Return logs one after the other as one; a channel may be missing in some.

    Raises:
        InputError: a channel changes its units or number of columns.
    """
    parts: dict[str, list[Channel]] = {}
    metadata: dict[str, str] = {}
    for log in logs:
        metadata |= log.metadata
        for channel in log.channels:
            parts.setdefault(channel.name, []).append(channel)
    return Log(tuple(map(_joined, parts.values())), metadata)


def _joined(parts: list[Channel]) -> Channel:
    first = parts[0]
    if any(part.units != first.units for part in parts):
        raise InputError(first.name, "changes its units or columns on the way")
    time = np.concatenate([part.time for part in parts])
    values = np.concatenate([part.values for part in parts])
    return Channel(first.name, time, values, first.units)


class Finding(NamedTuple):
    """One fault of a log."""

    check: str
    """"empty", "gap", "clock", "unit", "legs" or "saturation\""""
    channel: str
    message: str
    """what is wrong and what to do"""
    time: float | None = None
    """[s] of the first sample that it concerns; None for all"""

    def __str__(self) -> str:
        when = "" if self.time is None else f" at {self.time:.9g} s"
        return f"{self.check}: {self.channel}{when}: {self.message}"
