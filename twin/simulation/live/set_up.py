"""The set-up of a live run as a text, for links: machine, settings, target, controls of its page.

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

LONGEST = 2000
"""Most characters of a text."""

MOST = 60
"""Most entries of a text."""

GAIN = "gain."
"""Begins the name of a gain of the controller."""

SHOWN = ("engine", "controller")
"""Settings that are written even where they are the usual ones."""

SETTINGS = tuple(name for name in Settings.model_fields if name != "gains")

Value = str | float | bool | tuple[float, ...] | tuple[str, ...]

NUMBERS = {
    "amplitude": 1,
    "frequency": 1,
    "duration": 1,
    "speed": 1,
    "drawn": 1,
    "force": 3,
    "moment": 3,
    "point": 3,
    "push_duration": 1,
    "trace": 3,
    "camera": 6,
}
"""Controls with one number or more -> how many."""

CHOICES = ("motion", "axis", "colour")
"""Controls with one of several words."""

TRUTHS = ("loop", "playing")
"""Controls with yes or no."""

LISTS = ("layers", "charts")
"""Controls with some of several words."""

CONTROLS = (*CHOICES, *NUMBERS, *TRUTHS, *LISTS)

NAMES = ("machine", *SETTINGS, *axis_names(), *CONTROLS)


class SetUp(NamedTuple):
    """Machine, settings, target and controls of a live run."""

    machine: str
    """name"""
    settings: Settings
    target: Mapping[str, float]
    """axis -> [mm] or [deg] from home; axes at home may be left out"""
    controls: Mapping[str, Value]
    """`CONTROLS` -> value; the usual ones may be left out. Of a motion: its kind, axis, amplitude
    [mm] or [deg], frequency [Hz], duration [s], whether it begins again and whether it is played.
    Of a push: force [N], moment [N m], point [mm], duration [s]. Of the page: speed of the run,
    factor of the drawn difference, layers, colour of the legs, point of the trace [mm], charts,
    position and target of the camera [m]"""


def written(set_up: SetUp) -> str:
    """Return a set-up as a text; what is usual is left out."""
    usual, found = Settings(), {"machine": set_up.machine}
    for name in SETTINGS:
        value = getattr(set_up.settings, name)
        if name in SHOWN or value != getattr(usual, name):
            found[name] = value
    found |= {f"{GAIN}{name}": f"{value:.6g}" for name, value in set_up.settings.gains.items()}
    found |= {axis: f"{value:.6g}" for axis, value in set_up.target.items() if round(value, 4)}
    found |= {
        name: ",".join(map(_written, value)) if isinstance(value, tuple) else _written(value)
        for name, value in set_up.controls.items()
        if value is not False
    }
    return urlencode(found, safe=",")


def _written(value: str | float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def as_set_up(text: str) -> SetUp:
    """Return the set-up of a text, checked as far as it can be without the machine.

    Raises:
        InputError: too long, unknown or repeated names, or values that cannot be used.
    """
    try:
        pairs = parse_qsl(
            text[: LONGEST + 1], strict_parsing=True, max_num_fields=MOST, keep_blank_values=True
        )
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
    return SetUp(
        values["machine"],
        as_settings(chosen | {"gains": gains}),
        {axis: _number(values[axis], axis) for axis in axis_names() if axis in values},
        {name: _value(values[name], name) for name in CONTROLS if name in values},
    )


def _value(text: str, name: str) -> Value:
    """Return the value of a control."""
    if name in CHOICES:
        return text
    if name in TRUTHS:
        return _truth(text, name)
    parts = text.split(",") if text else []
    if name in LISTS:
        return tuple(parts)
    if len(parts) != NUMBERS[name]:
        raise InputError(name, f"expected {NUMBERS[name]} numbers, got {brief(text)}")
    numbers = tuple(_number(part, name) for part in parts)
    return numbers if len(numbers) > 1 else numbers[0]


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
