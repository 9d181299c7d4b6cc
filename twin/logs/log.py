"""A log of a machine: named channels with their own times, texts, and findings of its checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, NamedTuple, Self

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_instance, as_text, read_only
from twin.errors import InputError, brief, listed
from twin.model.machine_model import MachineModel

MAX_NAME_LENGTH = 200

POSE_UNITS = ("m", "m", "m", "1", "1", "1", "1")
"""Units of a pose: position, then unit quaternion with the scalar first."""

TWIST_UNITS = ("m/s",) * 3 + ("rad/s",) * 3

POSE_COMPONENTS = {
    **dict.fromkeys(("x", "y", "z", "position_noise"), ("m",)),
    **dict.fromkeys(("yaw", "pitch", "roll", "angle_noise"), ("rad",)),
}
"""Units of the components of a partly measured pose (angles of `yaw_pitch_roll`) and of their
noise.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Channel:
    """Samples of one signal. Arrays are read-only; times are as recorded, in any order."""

    name: str
    time: FloatArray
    """times of the samples `(k,)` [s], as recorded"""
    values: FloatArray
    """`(k, w)`; a list `(k,)` becomes `(k, 1)`"""
    units: tuple[str, ...]
    """units of the w columns, one text for all or one each; empty if unknown, "1" for no unit"""

    def __post_init__(self) -> None:
        """Check shapes and texts; make the arrays read-only."""
        name = as_text(self.name, "name")
        if not 0 < len(name) <= MAX_NAME_LENGTH or set(name) & set("[]\n\r\0"):
            raise InputError("name", f"must be a short text without brackets, not {brief(name)}")
        time = as_floats(self.time, f"{name}.time")
        values = as_floats(self.values, f"{name}.values")
        if time.ndim != 1:
            raise InputError(f"{name}.time", f"must have shape (k,), got {time.shape}")
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or len(values) != len(time) or not values.shape[1]:
            shape_text = f"must have shape ({len(time)},) or ({len(time)}, w), one row per time"
            raise InputError(f"{name}.values", f"{shape_text}, got {values.shape}")
        width = values.shape[1]
        if not isinstance(self.units, str | tuple | list):
            raise InputError(
                f"{name}.units", f"must be one or {width} texts, not {brief(self.units)}"
            )
        units = (self.units,) if isinstance(self.units, str) else tuple(self.units)
        units = units * width if len(units) == 1 else units
        for unit in units:
            if set(as_text(unit, f"{name}.units")) & set("[]\n\r\0"):
                raise InputError(f"{name}.units", f"must be units without brackets, not {unit!r}")
        if len(units) != width:
            raise InputError(f"{name}.units", f"must be one or {width} texts, got {len(units)}")
        for attribute, value in (("time", read_only(time)), ("values", read_only(values))):
            object.__setattr__(self, attribute, value)
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
        """Return linearly interpolated values `(m, w)` at times `(m,)` [s], quaternions normalised.

        Raises:
            InputError: fewer than two samples, times that do not increase, or outside them.
        """
        checked_times = as_floats(times, "times")
        check_increasing(self)
        if checked_times.ndim != 1 or (
            checked_times.size
            and not self.time[0] <= checked_times.min() <= checked_times.max() <= self.time[-1]
        ):
            span_text = f"{self.time[0]:.9g} to {self.time[-1]:.9g} s"
            raise InputError("times", f"must be a list (m,) inside {self.name!r}: {span_text}")
        values, is_pose = self.values, self.units == POSE_UNITS
        if is_pose:  # q and -q are the same attitude
            jumps = np.einsum("ki,ki->k", values[1:, 3:], values[:-1, 3:]) < 0.0
            signs = np.cumprod(np.where(np.concatenate([[False], jumps]), -1.0, 1.0))
            values = np.hstack([values[:, :3], values[:, 3:] * signs[:, None]])
        interpolated = np.column_stack(
            [np.interp(checked_times, self.time, column) for column in values.T]
        )
        if is_pose:
            interpolated[:, 3:] /= np.linalg.norm(interpolated[:, 3:], axis=1, keepdims=True)
        return interpolated


def check_increasing(channel: Channel) -> None:
    """Check that a channel has two samples or more, each later than the one before.

    Raises:
        InputError: says at which sample.
    """
    field = f"{channel.name}.time"
    if len(channel) < 2:
        raise InputError(field, f"needs two samples or more, has {len(channel)}")
    increasing = np.diff(channel.time) > 0.0
    if not increasing.all():
        row = int(np.argmin(increasing)) + 1
        raise InputError(
            f"{field}[{row}]",
            f"{channel.time[row]:.9g} s is not later than the sample before; see check_log",
        )


def signal_units(machine: MachineModel) -> dict[str, tuple[str, ...]]:
    """Return the units of the columns of every signal; leg by leg, the n legs of the machine."""
    n, coordinate, force = machine.n_actuators, machine.coordinate_unit, machine.force_unit
    return {
        **dict.fromkeys(("coordinates", "setpoint", "measured"), (coordinate,) * n),
        **dict.fromkeys(("rates", "command_rates"), (f"{coordinate}/s",) * n),
        **dict.fromkeys(("forces", "motor_forces", "command_forces"), (force,) * n),
        "currents": ("A",) * n,
        "temperatures": ("degC",) * n,
        **dict.fromkeys(("pose", "reference_pose"), POSE_UNITS),
        "twist": TWIST_UNITS,
        "wrench": ("N",) * 3 + ("N m",) * 3,
        "accelerometer": ("m/s2",) * 3,
        "gyroscope": ("rad/s",) * 3,
        **POSE_COMPONENTS,
        "coordinate_noise": (coordinate,),
    }


def is_per_leg(name: str, machine: MachineModel) -> bool:
    """Return whether a signal has one column per leg."""
    platform_signals = ("pose", "reference_pose", "twist", "wrench", "accelerometer", "gyroscope")
    scalar_signals = (*POSE_COMPONENTS, "coordinate_noise")
    return name in signal_units(machine) and name not in (*platform_signals, *scalar_signals)


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
        channels = tuple(as_instance(item, "channels", Channel) for item in self.channels)
        names = [channel.name for channel in channels]
        repeated = sorted(name for name, count in Counter(names).items() if count > 1)
        if repeated:
            raise InputError("channels", f"{listed(repeated)} is there twice; names must differ")
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

    @property
    def duration(self) -> float:
        """Time between the earliest and the latest sample [s]."""
        start, stop = self.span
        return stop - start

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Channel:
        for channel in self.channels:
            if channel.name == name:
                return channel
        close_names = get_close_matches(str(name), self.names, 1)
        guess = f" (did you mean {close_names[0]!r}?)" if close_names else ""
        raise InputError("channel", f"no channel {brief(name)}{guess}; it has {listed(self.names)}")

    def __repr__(self) -> str:
        start, stop = self.span
        return f"<Log of {len(self.channels)} channels, {start:.6g} to {stop:.6g} s>"

    def between(self, start: float, stop: float) -> Self:
        """Return all samples with start <= time < stop [s]."""
        return replace(
            self, channels=tuple(channel.between(start, stop) for channel in self.channels)
        )

    def with_channels(self, *channels: Channel) -> Self:
        """Return the log with channels added; they replace channels of the same name."""
        new_channels = {channel.name: channel for channel in channels}
        merged = {channel.name: channel for channel in self.channels} | new_channels
        return replace(self, channels=tuple(merged.values()))


def join(logs: Iterable[Log]) -> Log:
    """Return logs one after the other as one; a channel may be missing in some.

    Raises:
        InputError: a channel changes its units or number of columns.
    """
    channels_by_name: dict[str, list[Channel]] = {}
    metadata: dict[str, str] = {}
    for log in logs:
        metadata |= log.metadata
        for channel in log.channels:
            channels_by_name.setdefault(channel.name, []).append(channel)
    return Log(tuple(map(_join, channels_by_name.values())), metadata)


def with_whole_signals(log: Log, signals: Collection[str]) -> Log:
    """Return a log in which columns such as `rates 1` and `rates 2` are one channel, `rates`.

    Tables of this program name the columns of a signal so. Those of other signals, with a number
    missing, or with different times, stay alone.
    """
    complete_channels = []
    for name in signals:
        beginnings = [title.rpartition(" ") for title in log.names]
        count = sum(start == name and number.isdecimal() for start, _, number in beginnings)
        titles = [f"{name} {k + 1}" for k in range(count)]
        if not all(title in log and log[title].width == 1 for title in titles):
            continue
        parts = [log[title] for title in titles]
        if parts and all(np.array_equal(part.time, parts[0].time) for part in parts):
            values = np.hstack([part.values for part in parts])
            complete_channels.append(
                Channel(name, parts[0].time, values, tuple(part.units[0] for part in parts))
            )
    return log.with_channels(*complete_channels)


def _join(parts: list[Channel]) -> Channel:
    first_channel = parts[0]
    if any(channel.units != first_channel.units for channel in parts):
        raise InputError(first_channel.name, "changes its units or columns on the way")
    time = np.concatenate([channel.time for channel in parts])
    values = np.concatenate([channel.values for channel in parts])
    return Channel(first_channel.name, time, values, first_channel.units)


class Finding(NamedTuple):
    """One fault of a log."""

    check: str
    """name of the check that found it: "empty", "gap", "clock", "unit", "legs", "saturation" """
    channel: str
    message: str
    """what is wrong and what to do"""
    time: float | None = None
    """[s] time of the first sample that it concerns; None for all"""

    def __str__(self) -> str:
        time_text = "" if self.time is None else f" at {self.time:.9g} s"
        return f"{self.check}: {self.channel}{time_text}: {self.message}"
