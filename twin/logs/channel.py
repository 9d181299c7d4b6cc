"""A channel of a log: samples at times of its own, with units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_text, read_only
from twin.errors import InputError, brief, listed

LONGEST_NAME = 200

POSE_UNITS = ("m", "m", "m", "1", "1", "1", "1")
"""Units of a pose: position, then unit quaternion with the scalar first."""


@dataclass(frozen=True, eq=False, repr=False)
class Channel:
    """Samples of one signal. Arrays are read-only; times are as recorded, in any order."""

    name: str
    time: FloatArray
    """`(k,)` [s]"""
    values: FloatArray
    """`(k, w)`; a list `(k,)` becomes `(k, 1)`"""
    units: tuple[str, ...]
    """of the w columns; one text is for all of them; empty where unknown, "1" for no unit"""

    def __post_init__(self) -> None:
        """Check shapes and texts; make the arrays read-only."""
        name = as_text(self.name, "name")
        if not 0 < len(name) <= LONGEST_NAME or set(name) & set("[]\n\r\0"):
            raise InputError("name", f"must be a short text without brackets, not {brief(name)}")
        time = as_floats(self.time, f"{name}.time")
        values = as_floats(self.values, f"{name}.values")
        if time.ndim != 1:
            raise InputError(f"{name}.time", f"must have shape (k,), got {time.shape}")
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or len(values) != len(time) or not values.shape[1]:
            expected = f"must have shape ({len(time)},) or ({len(time)}, w), one row per time"
            raise InputError(f"{name}.values", f"{expected}, got {values.shape}")
        width = values.shape[1]
        if not isinstance(self.units, str | tuple | list):
            raise InputError(
                f"{name}.units", f"must be one or {width} texts, not {brief(self.units)}"
            )
        units = (self.units,) * width if isinstance(self.units, str) else tuple(self.units)
        for unit in units:
            if set(as_text(unit, f"{name}.units")) & set("[]\n\r\0"):
                raise InputError(f"{name}.units", f"must be units without brackets, not {unit!r}")
        if len(units) != width:
            raise InputError(f"{name}.units", f"must be one or {width} texts, got {len(units)}")
        for field, value in (("time", read_only(time)), ("values", read_only(values))):
            object.__setattr__(self, field, value)
        object.__setattr__(self, "units", units)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        units = listed(dict.fromkeys(self.units))
        return f"<Channel {self.name!r}: {len(self)} samples of {self.width} [{units}]>"

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.units)

    def kept(self, rows: Any) -> Self:
        """Return the channel with some of its samples: a slice, a mask or indices."""
        return replace(self, time=self.time[rows], values=self.values[rows])

    def between(self, start: float, stop: float) -> Self:
        """Return the samples with start <= time < stop [s]."""
        return self.kept((self.time >= start) & (self.time < stop))

    def delayed(self, seconds: float) -> Self:
        """Return the channel with all times later by `seconds`."""
        return replace(self, time=self.time + seconds)

    def at(self, times: Any) -> FloatArray:
        """Return values `(m, w)` at times `(m,)` [s], linear between samples; poses stay poses.

        Raises:
            InputError: fewer than two samples, times that do not increase, or outside them.
        """
        given = as_floats(times, "times")
        check_increasing(self)
        if given.ndim != 1 or (
            given.size and not self.time[0] <= given.min() <= given.max() <= self.time[-1]
        ):
            span = f"{self.time[0]:.9g} to {self.time[-1]:.9g} s"
            raise InputError("times", f"must be a list (m,) inside {self.name!r}: {span}")
        values, turned = self.values, self.units == POSE_UNITS
        if turned:  # q and -q are the same attitude
            jumps = np.einsum("ki,ki->k", values[1:, 3:], values[:-1, 3:]) < 0.0
            signs = np.cumprod(np.where(np.concatenate([[False], jumps]), -1.0, 1.0))
            values = np.hstack([values[:, :3], values[:, 3:] * signs[:, None]])
        found = np.column_stack([np.interp(given, self.time, column) for column in values.T])
        if turned:
            found[:, 3:] /= np.linalg.norm(found[:, 3:], axis=1, keepdims=True)
        return found


def check_increasing(channel: Channel) -> None:
    """Check that a channel has two samples or more, each later than the one before.

    Raises:
        InputError: says at which sample.
    """
    field = f"{channel.name}.time"
    if len(channel) < 2:
        raise InputError(field, f"needs two samples or more, has {len(channel)}")
    late = np.diff(channel.time) > 0.0
    if not late.all():
        row = int(np.argmin(late)) + 1
        raise InputError(
            f"{field}[{row}]",
            f"{channel.time[row]:.9g} s is not later than the sample before; see check_log",
        )
