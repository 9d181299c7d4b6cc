"""The set-up of a live run as a text, for links: machine, settings, target and motion.

The text has the form of a query, such as `machine=stewart&engine=bullet&z=12.5`. It comes from
addresses that anybody can write: names are looked up, and no file is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

import numpy as np

from twin.errors import InputError, brief, listed
from twin.motion.axes import axis_names
from twin.simulation.live.settings import Settings, as_settings

LONGEST, MOST = 2000, 60
"""Characters and entries of a text at most."""

GAIN = "gain."
"""Begins the name of a gain of the controller."""

SHOWN = ("engine", "controller")
"""Settings that are written even where they are the usual ones."""

SETTINGS = tuple(name for name in Settings.model_fields if name != "gains")

MOTION = ("motion", "axis", "amplitude", "frequency", "duration", "loop", "playing")

NAMES = ("machine", *SETTINGS, *axis_names(), *MOTION)


class SetUp(NamedTuple):
    """Machine, settings, target and motion of a live run."""

    machine: str
    """name"""
    settings: Settings
    target: Mapping[str, float]
    """axis -> [mm] or [deg] from home; axes at home may be left out"""
    motion: Mapping[str, str | float | bool]
    """`MOTION` -> value: its kind, axis, amplitude [mm] or [deg], frequency [Hz], duration [s],
    whether it begins again and whether it is played; empty for none"""


def written(set_up: SetUp) -> str:
    """Return a set-up as a text; what is usual is left out."""
    usual, found = Settings(), {"machine": set_up.machine}
    for name in SETTINGS:
        value = getattr(set_up.settings, name)
        if name in SHOWN or value != getattr(usual, name):
            found[name] = value
    found |= {f"{GAIN}{name}": f"{value:.6g}" for name, value in set_up.settings.gains.items()}
    found |= {axis: f"{value:.6g}" for axis, value in set_up.target.items() if round(value, 4)}
    for name, value in set_up.motion.items():
        if value is not False:
            found[name] = f"{value:.6g}" if isinstance(value, float) else str(value)
    return urlencode(found)


def as_set_up(text: str) -> SetUp:
    """Return the set-up of a text, checked as far as it can be without the machine.

    Raises:
        InputError: too long, unknown or repeated names, or values that cannot be used.
    """
    try:
        pairs = parse_qsl(text[: LONGEST + 1], strict_parsing=True, max_num_fields=MOST)
    except ValueError:
        raise InputError("set-up", "expected name=value&name=value, as a page writes it") from None
    values = dict(pairs)
    if len(text) > LONGEST or len(values) < len(pairs):
        raise InputError("set-up", f"has more than {LONGEST} characters, or a name twice")
    gains = {name[len(GAIN) :]: value for name, value in pairs if name.startswith(GAIN)}
    for name in values:
        if name not in NAMES and not name.startswith(GAIN):
            raise InputError("set-up", f"unknown name {brief(name)}; known: {listed(NAMES)}")
    if "machine" not in values:
        raise InputError("machine", "is missing: a set-up begins with machine=name")
    chosen = {name: value for name, value in values.items() if name in SETTINGS}
    motion: dict[str, str | float | bool] = {}
    motion |= {name: values[name] for name in ("motion", "axis") if name in values}
    motion |= {
        name: _number(values[name], name)
        for name in ("amplitude", "frequency", "duration")
        if name in values
    }
    motion |= {name: _truth(values[name], name) for name in ("loop", "playing") if name in values}
    return SetUp(
        values["machine"],
        as_settings(chosen | {"gains": gains}),
        {axis: _number(values[axis], axis) for axis in axis_names() if axis in values},
        motion,
    )


def _number(text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise InputError(name, f"expected a finite number, got {brief(text)}")
    return value


def _truth(text: str, name: str) -> bool:
    if text not in ("True", "False"):
        raise InputError(name, f"expected True or False, got {brief(text)}")
    return text == "True"
