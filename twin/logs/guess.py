"""A mapping for a log of another program, guessed from the names and units of its channels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from twin.logs.log import Log
from twin.machine.units import UNITS

NUMBERED = re.compile(r"(?P<stem>.*?)[\s_.\-#(]*(?P<number>\d+)\D*")
"""The name of one leg's channel."""

COMMANDED = ("soll", "set", "cmd", "command", "target", "demand", "ref", "desired")
"""Parts of names of what is commanded."""

SIGNALS = {
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

POSE = ("x", "y", "z")
ANGLES = ("yaw", "pitch", "roll")
"""Channels that make a pose."""

FEWEST_LEGS = 3
"""Channels of one name with numbers that count as those of the legs."""


def guessed_mapping(log: Log, time: str | None = None) -> str:
    """Return a mapping of a log's channels to signals of a machine, as TOML to check and edit.

    Channels whose names differ by a number are those of the legs; their unit says which signal
    they are, and their name whether it is commanded. What is not mapped stands in comments.

    Args:
        log: with the channels of a file.
        time: name of the column of times, where it is an unusual one.
    """
    signals, rest = _guessed(log)
    lines = [
        "# Guessed from names and units: check signals, units, signs, offsets and the legs' order.",
        *([f"time = {json.dumps(time, ensure_ascii=False)}"] if time else []),
    ]
    for signal, names in signals.items():
        written = ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
        lines += ["", f"[signals.{signal}]", f"channels = [{written}]"]
        if not all(unit for name in names for unit in log[name].units):
            lines.append('# unit = "mm"  # the file has none: write what one in it is')
        if signal == "pose":
            lines.append('angles = "yaw_pitch_roll"')
    if rest:
        lines += ["", "# Not mapped:"]
        lines += [f"# {name} [{', '.join(dict.fromkeys(log[name].units))}]" for name in rest]
    return "\n".join(lines) + "\n"


def _guessed(log: Log) -> tuple[dict[str, list[str]], list[str]]:
    """Return the channels of each signal, and those of none."""
    signals: dict[str, list[str]] = {}
    for stem, names in _per_leg(log):
        unit = next((si for si, known in UNITS.items() if log[names[0]].units[0] in known), "")
        commanded = any(word in stem.lower() for word in COMMANDED)
        if unit in SIGNALS:
            signals.setdefault(SIGNALS[unit][commanded], names)
    lower = {name.lower(): name for name in log.names}
    if all(name in lower for name in (*POSE, *ANGLES)):
        signals["pose"] = [lower[name] for name in (*POSE, *ANGLES)]
    used = {name for names in signals.values() for name in names}
    return signals, [name for name in log.names if name not in used]


def _per_leg(log: Log) -> Iterator[tuple[str, list[str]]]:
    """Yield the stem and the channels, in the order of their numbers, of names with numbers."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for channel in log.channels:
        match = NUMBERED.fullmatch(channel.name)
        if match and channel.width == 1:
            key = match["stem"], channel.units[0]
            found.setdefault(key, []).append((int(match["number"]), channel.name))
    for (stem, _), channels in found.items():
        if len(channels) >= FEWEST_LEGS:
            yield stem, [name for _, name in sorted(channels)]
