"""The mapping file: which channels of a log are which signals of a machine."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, ValidationError

from twin.basics.arrays import FloatArray, as_instance
from twin.basics.toml import read_toml
from twin.errors import InputError, ParameterError
from twin.logs.log import POSE_UNITS, Channel, Log, is_per_leg, signal_units
from twin.machine.quantity import UNITS, Time, Whole, to_si
from twin.model.machine_model import MachineModel
from twin.rotations import CONVENTIONS, pose_from_angles

NUMBERED_PATTERN = re.compile(r"(?P<stem>.*?)[\s_.\-#(]*(?P<number>\d+)\D*")
"""Pattern of the name of one leg's channel."""

COMMAND_WORDS = ("soll", "set", "cmd", "command", "target", "demand", "ref", "desired")
"""Parts of names of what is commanded."""

LEG_SIGNALS = {
    "m": ("coordinates", "setpoint"),
    "rad": ("coordinates", "setpoint"),
    "m/s": ("rates", "command_rates"),
    "rad/s": ("rates", "command_rates"),
    "N": ("forces", "command_forces"),
    "N m": ("forces", "command_forces"),
    "A": ("currents", "currents"),
    "degC": ("temperatures", "temperatures"),
}
"""SI unit -> signal that is measured in it leg by leg, and the one that is commanded."""

POSITION_CHANNELS = ("x", "y", "z")
"""Channels that make the position of a pose."""

ANGLE_CHANNELS = ("yaw", "pitch", "roll")
"""Channels that make the rotation of a pose."""

MIN_LEGS = 3
"""Minimum number of channels of one name with numbers that count as those of the legs."""

NORM_TOLERANCE = 1e-2
"""Largest deviation from one of the norm of a recorded quaternion, rounded to a few digits."""

MIN_COMMON_FRACTION = 0.5
"""Least fraction of the samples that channels of one signal must have at the same times: with
fewer, they were sampled at different rates.
"""

STRICT_CONFIG = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def guessed_mapping(log: Log, time: str | None = None) -> str:
    """Return a mapping of a log's channels to signals of a machine, as TOML to check and edit.

    Channels whose names differ by a number are those of the legs; their unit says which signal
    they are, and their name whether it is commanded. What is not mapped stands in comments.

    Args:
        log: with the channels of a file.
        time: name of the column of times, where it is an unusual one.
    """
    signals, unused = _guess(log)
    lines = [
        "# Guessed from names and units: check signals, units, signs, offsets and the legs' order.",
        *([f"time = {json.dumps(time, ensure_ascii=False)}"] if time else []),
    ]
    for signal, names in signals.items():
        name_list = ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
        lines += ["", f"[signals.{signal}]", f"channels = [{name_list}]"]
        if not all(unit for name in names for unit in log[name].units):
            lines.append('# unit = "mm"  # the file has none: write what one in it is')
        if signal == "pose":
            lines.append('angles = "yaw_pitch_roll"')
    if unused:
        lines += ["", "# Not mapped:"]
        lines += [f"# {name} [{', '.join(dict.fromkeys(log[name].units))}]" for name in unused]
    return "\n".join(lines) + "\n"


def _guess(log: Log) -> tuple[dict[str, list[str]], list[str]]:
    """Return the channels of each signal, and the channels without a signal."""
    signals: dict[str, list[str]] = {}
    for stem, names in _per_leg(log):
        given = log[names[0]].units[0]
        unit = next((si for si, known_units in UNITS.items() if given in known_units), "")
        is_command = any(word in stem.lower() for word in COMMAND_WORDS)
        if unit in LEG_SIGNALS:
            signals.setdefault(LEG_SIGNALS[unit][is_command], names)
    names_by_lower_case = {name.lower(): name for name in log.names}
    if all(name in names_by_lower_case for name in (*POSITION_CHANNELS, *ANGLE_CHANNELS)):
        signals["pose"] = [
            names_by_lower_case[name] for name in (*POSITION_CHANNELS, *ANGLE_CHANNELS)
        ]
    used_names = {name for names in signals.values() for name in names}
    return signals, [name for name in log.names if name not in used_names]


def _per_leg(log: Log) -> Iterator[tuple[str, list[str]]]:
    """Yield the stem and the channels, in the order of their numbers, of names with numbers."""
    groups: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for channel in log.channels:
        match = NUMBERED_PATTERN.fullmatch(channel.name)
        if match and channel.width == 1:
            key = match["stem"], channel.units[0]
            groups.setdefault(key, []).append((int(match["number"]), channel.name))
    for (stem, _), channels in groups.items():
        if len(channels) >= MIN_LEGS:
            yield stem, [name for _, name in sorted(channels)]


Entry = TypeVar("Entry")
OneOrEach = Annotated[
    tuple[Entry, ...],
    BeforeValidator(lambda value: value if isinstance(value, list | tuple) else (value,)),
]
"""One entry for all columns, or a list with one for each."""


class SignalMapping(BaseModel):
    """Columns of one signal of the machine: value = sign * unit * column + offset."""

    model_config = STRICT_CONFIG

    channels: OneOrEach[StrictStr] = Field(
        min_length=1, description="Channels whose columns, one after the other, make the signal"
    )
    unit: OneOrEach[StrictStr] = Field(
        (), description="Unit, or what one count is ('1.24 um'); default: the channels' own"
    )
    sign: OneOrEach[Literal[1, -1]] = Field((1,), description="-1 where the channel counts down")
    offset: OneOrEach[StrictStr | float] = Field(
        (0.0,), description="Added to the values: SI, or with a unit ('120 mm')"
    )
    legs: tuple[Whole, ...] = Field(
        (), description="Leg of each column, from 1; default: in the order of the machine"
    )
    angles: StrictStr | None = Field(
        None, description="Convention of the angles that a pose has in place of a quaternion"
    )
    delay: Time = Field(0.0, description="Time by which the samples are stamped too late")


class LogMapping(BaseModel):
    """Channels of a log by signal of the machine; strict: unknown fields are errors."""

    model_config = STRICT_CONFIG

    time: StrictStr = Field("time", description="Column with the times, of a table")
    time_unit: StrictStr | None = Field(
        None, description="Unit of the times; default: that in the name of the column, or s"
    )
    mode: Literal["force", "velocity", "position"] | None = Field(
        None, description="What the drives take as commands; default: what is recorded of them"
    )
    signals: dict[str, SignalMapping] = Field(min_length=1, description="By name of the signal")

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Return the mapping in a TOML file.

        Raises:
            ParameterError: unreadable, not TOML, or with faults; names the field of each.
        """
        return cls.of(read_toml(path), path)

    @classmethod
    def of(cls, content: dict[str, Any], file: str | Path = "mapping") -> Self:
        """Return the mapping of the content of a TOML file; `file` names it in errors.

        Raises:
            ParameterError: names the field of each fault.
        """
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            faults = [
                (".".join(str(key) for key in fault["loc"]) or "file", _message(fault))
                for fault in error.errors(include_url=False)
            ]
            raise ParameterError(file, list(dict(faults).items())) from None

    def part(self, signals: Collection[str]) -> Self:
        """Return the mapping of some signals alone."""
        rules = {name: rule for name, rule in self.signals.items() if name in signals}
        return self.model_copy(update={"signals": rules})

    @property
    def channels(self) -> frozenset[str]:
        """Names of the channels of all signals."""
        return frozenset(name for rule in self.signals.values() for name in rule.channels)

    @property
    def delays(self) -> dict[str, float]:
        """Times [s] by which signals are stamped too late, of those that are."""
        return {name: rule.delay for name, rule in self.signals.items() if rule.delay}

    def apply(self, log: Log, machine: MachineModel) -> Log:
        """Return the log of the machine's signals, in SI units and in the order of its legs.

        Args:
            log: with the channels.
            machine: whose signals they are.

        Raises:
            InputError: a signal, channel, unit or count does not fit; names the field.
        """
        known_units = signal_units(as_instance(machine, "machine", MachineModel))
        channels = []
        for name, rule in self.signals.items():
            field = f"signals.{name}"
            if name not in known_units:
                close_names = get_close_matches(name, known_units, 1)
                guess = f"did you mean {close_names[0]!r}? " if close_names else ""
                raise InputError(field, f"is no signal; {guess}Known: {', '.join(known_units)}")
            if rule.legs and not is_per_leg(name, machine):
                raise InputError(f"{field}.legs", "is for signals with one column per leg")
            channels.append(_map_signal(name, rule, log, known_units[name]))
        return Log(tuple(channels), log.metadata)


def _message(entry: Any) -> str:
    """Return what is wrong with an entry of a mapping file."""
    if entry["type"] == "extra_forbidden":
        fields = LogMapping.model_fields if len(entry["loc"]) == 1 else SignalMapping.model_fields
        close_names = get_close_matches(str(entry["loc"][-1]), fields, 1)
        return f"unknown field; known: {', '.join(close_names or fields)}"
    if entry["type"] == "missing":
        return "missing; add it"
    text: str = entry["msg"]
    return text.removeprefix("Value error, ").replace("Input should be", "must be")


def _map_signal(name: str, rule: SignalMapping, log: Log, units: tuple[str, ...]) -> Channel:
    """Return a signal made of channels of a log, in its units."""
    field = f"signals.{name}"
    channels = _in_common([_channel(log, channel, field) for channel in rule.channels], field)
    raw_values = np.hstack([channel.values for channel in channels])
    given_units = tuple(unit for channel in channels for unit in channel.units)
    expected_units = units if rule.angles is None else _angle_units(rule.angles, field, units)
    if raw_values.shape[1] != len(expected_units):
        message = f"give {raw_values.shape[1]} columns, the signal has {len(expected_units)}"
        raise InputError(f"{field}.channels", message)
    width = len(expected_units)
    source_units = _one_per_column(rule.unit or given_units, f"{field}.unit", width)
    signs = _one_per_column(rule.sign, f"{field}.sign", width)
    given_offsets = _one_per_column(rule.offset, f"{field}.offset", width)
    pairs = zip(source_units, expected_units, strict=True)
    factors = [_factor(*pair, f"{field}.unit") for pair in pairs]
    pairs = zip(given_offsets, expected_units, strict=True)
    offsets = [_offset(*pair, f"{field}.offset") for pair in pairs]
    values = raw_values * np.array(factors) * np.array(signs) + np.array(offsets)
    if rule.legs:
        if sorted(rule.legs) != list(range(1, len(units) + 1)):
            message = f"must be the legs 1 to {len(units)} in some order, got {list(rule.legs)}"
            raise InputError(f"{field}.legs", message)
        values = values[:, np.argsort(rule.legs)]
    if units == POSE_UNITS:
        values = _poses(values, rule.angles, field)
    return Channel(name, channels[0].time - rule.delay, values, units)


def _in_common(channels: list[Channel], field: str) -> list[Channel]:
    """Return channels at the times that all of them have: a row with an empty cell is left out."""
    first_channel = channels[0]
    if all(np.array_equal(other.time, first_channel.time) for other in channels[1:]):
        return channels
    common_channels = [
        channel.kept(np.logical_and.reduce([np.isin(channel.time, o.time) for o in channels]))
        for channel in channels
    ]
    for other, whole_channel in zip(common_channels[1:], channels[1:], strict=True):
        max_length = max(len(whole_channel), len(first_channel))
        if len(other) < MIN_COMMON_FRACTION * max_length or not np.array_equal(
            other.time, common_channels[0].time
        ):
            raise InputError(
                f"{field}.channels",
                f"{other.name!r} has other times than {first_channel.name!r} ({len(whole_channel)} "
                f"and {len(first_channel)} samples, {len(other)} in common)",
            )
    return common_channels


def _channel(log: Log, name: str, field: str) -> Channel:
    try:
        return log[name]
    except InputError as error:
        raise InputError(f"{field}.channels", error.message) from None


def _angle_units(angles: str, field: str, units: tuple[str, ...]) -> tuple[str, ...]:
    """Return the units of a pose that is recorded with angles of a convention."""
    if units != POSE_UNITS:
        raise InputError(f"{field}.angles", "is for poses")
    if angles not in CONVENTIONS:
        known_conventions = ", ".join(CONVENTIONS)
        raise InputError(
            f"{field}.angles", f"unknown convention {angles!r}; known: {known_conventions}"
        )
    unit = "1" if angles == "rodrigues" else "rad"
    return ("m",) * 3 + (unit,) * len(CONVENTIONS[angles].angles)


def _one_per_column(entries: tuple[Any, ...], field: str, width: int) -> tuple[Any, ...]:
    if len(entries) not in (1, width):
        raise InputError(field, f"must be one entry or {width}, one per column, not {len(entries)}")
    return entries * width if len(entries) == 1 else entries


def _factor(value: str, unit: str, field: str) -> float:
    """Return the factor from a column's unit to SI."""
    if not value:
        raise InputError(field, f"the channel has no unit; give one of the kind of {unit!r}")
    if unit == "1":
        if value != "1":
            raise InputError(field, f"{value!r} is for a number without unit; write '1'")
        return 1.0
    try:
        factor = to_si(value if value[0] in "+-.0123456789" else f"1 {value}", unit)
    except ValueError as error:
        raise InputError(field, str(error)) from None
    if factor == 0.0:
        raise InputError(field, f"{value!r} would make all values zero")
    return factor


def _offset(value: str | float, unit: str, field: str) -> float:
    try:
        return float(value) if unit == "1" else to_si(value, unit)
    except ValueError as error:
        message = f"must be a number without unit, got {value!r}" if unit == "1" else str(error)
        raise InputError(field, message) from None


def _poses(values: FloatArray, angles: str | None, field: str) -> FloatArray:
    """Return poses `(n, 7)` of positions with angles, or with nearly unit quaternions."""
    if angles is not None:
        return pose_from_angles(values[:, :3], values[:, 3:], angles)
    norms = np.linalg.norm(values[:, 3:], axis=1)
    is_not_unit = ~(np.abs(norms - 1.0) <= NORM_TOLERANCE)
    if is_not_unit.any():
        row = int(is_not_unit.argmax())
        raise InputError(
            f"{field}[{row}]",
            f"the quaternion has norm {norms[row]:.6g}, not 1; a pose is x y z qw qx qy qz, or "
            "x y z and angles",
        )
    return np.hstack([values[:, :3], values[:, 3:] / norms[:, None]])
