"""Numbers inside messages of any kind, collected to channels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.size_limits import check_columns
from twin.logs.channel import Channel
from twin.logs.log import Log

LONGEST_LIST = 64
"""Entries; longer lists, such as pictures, are left out."""

STAMPS = ("timestamp", "header", "_header")
"""Fields that are no samples."""

AT_ONCE = 20_000
"""Samples that make a block."""


def numbers(value: Any, path: str) -> Iterator[tuple[str, float]]:
    """Yield the path and value of every finite number inside a message, depth first."""
    if isinstance(value, bool | np.bool_ | Real | np.number):
        if math.isfinite(value):
            yield path, float(value)
        return
    fields = value if isinstance(value, dict) else getattr(value, "__dataclass_fields__", None)
    if fields is not None:
        for name in fields:
            if not str(name).startswith("__") and name not in STAMPS:
                inner = value[name] if isinstance(value, dict) else getattr(value, name)
                yield from numbers(inner, f"{path}.{name}")
    elif isinstance(value, list | tuple | np.ndarray) and len(value) <= LONGEST_LIST:
        for k, entry in enumerate(value, 1):
            yield from numbers(entry, f"{path} {k}")


class Collector:
    """Samples of channels on their way from messages to blocks."""

    def __init__(self, path: Path, metadata: dict[str, str]) -> None:
        """Begin without channels; `path` names the file in errors."""
        self._path, self._metadata = path, metadata
        self._units: dict[str, tuple[str, ...]] = {}
        self._times: dict[str, list[float]] = {}
        self._values: dict[str, list[Sequence[float]]] = {}
        self._count = 0

    def declare(self, name: str, units: Sequence[str]) -> None:
        """Add a channel, which may stay without samples.

        Raises:
            InputError: too many channels.
        """
        self._units[name] = tuple(units)
        check_columns(self._path, self._units)
        self._times[name], self._values[name] = [], []

    def add(self, name: str, time: float, values: Sequence[float]) -> None:
        """Add a sample; a channel that was not declared has no units."""
        if name not in self._units:
            self.declare(name, ("",) * len(values))
        self._times[name].append(time)
        self._values[name].append(values)
        self._count += 1

    @property
    def full(self) -> bool:
        """Whether the samples make a block."""
        return self._count >= AT_ONCE

    def take(self) -> Log:
        """Return the samples as a log, and begin anew with the same channels."""
        channels = []
        for name, units in self._units.items():
            values = np.array(self._values[name], dtype=float).reshape(-1, len(units))
            channels.append(Channel(name, np.array(self._times[name], dtype=float), values, units))
            self._times[name], self._values[name] = [], []
        self._count = 0
        return Log(tuple(channels), self._metadata)
