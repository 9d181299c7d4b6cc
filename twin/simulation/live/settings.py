"""Settings of a live run, and its whole set-up as a text for links.

Settings, among them the controllers' gains, may change while a run goes on; they make its machine.
The set-up is machine, settings, target and the controls of its page.

The text has the form of a query, such as `machine=stewart&engine=bullet&z=12.5`. It comes from
addresses that anybody can write: names are looked up, and no file is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Annotated, Literal, NamedTuple
from urllib.parse import parse_qsl, urlencode

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from twin.basics.arrays import one_of
from twin.control import CONTROLLERS, make_controller
from twin.control.controller import Controller, Reference
from twin.engines import ENGINES
from twin.errors import InputError, brief, listed
from twin.machine.file.read import read_parameters
from twin.machine.machine import gallery_names, machine_names, parameters_path
from twin.machine.payload import Occupant, Wheelchair, seated_on
from twin.model.engine import Fidelity
from twin.model.machine_model import MachineModel
from twin.motion.motion import axis_names

GAIN_UNITS = {
    "position_gain": "1/s",
    "position_integral": "1/s2",
    "velocity_gain": "N s/m",
    "velocity_time": "s",
    "bandwidth": "rad/s",
    "damping": "",
    "integral_share": "",
    "gain": "N s/m",
    "leak": "1/s",
    "stiffness": "N/m",
}
"""Options of controllers that are gains -> unit; `gain_unit` has the exceptions."""

MAX_TEXT_LENGTH = 2000
"""Largest number of characters in a text."""

MAX_ENTRIES = 60
"""Largest number of entries in a text."""

GAIN_PREFIX = "gain."
"""Beginning of the name of a gain of the controller."""

ALWAYS_WRITTEN = ("engine", "controller")
"""Settings that are written even where they have their default."""

NUMBER_CONTROLS = {
    "amplitude": 1,
    "frequency": 1,
    "duration": 1,
    "speed": 1,
    "force": 3,
    "moment": 3,
    "point": 3,
    "push_duration": 1,
    "trace": 3,
    "camera": 6,
}
"""Controls whose value is one number or more -> how many."""

CHOICE_CONTROLS = ("motion", "axis", "colour")
"""Controls whose value is one of several words."""

BOOLEAN_CONTROLS = ("loop", "playing")
"""Controls whose value is yes or no."""

LIST_CONTROLS = ("layers", "charts")
"""Controls whose value is a list of words."""

CONTROL_NAMES = (*CHOICE_CONTROLS, *NUMBER_CONTROLS, *BOOLEAN_CONTROLS, *LIST_CONTROLS)


Payload = Literal["none", "occupant", "wheelchair"]

OCCUPANT_STATURE = 1.75
"""[m] Engineering choice: stature of the occupant."""

OCCUPANT_MASS = 75.0
"""[kg] Engineering choice: mass of the occupant."""


def occupant(payload: Payload) -> Occupant | None:
    """Return the person of a payload; None for none."""
    if payload == "none":
        return None
    wheelchair = Wheelchair() if payload == "wheelchair" else None
    return Occupant(OCCUPANT_STATURE, OCCUPANT_MASS, wheelchair=wheelchair)


def known_machines(*files: str | Path) -> dict[str, str | Path]:
    """Return machines by name: those of the catalogue and, first, a name and file of one's own."""
    shipped = {name: name for name in (*machine_names(), *gallery_names())}
    user_machine = {str(files[0]): files[1]} if files else {}
    return user_machine | shipped | user_machine


def loaded_machine(
    machine: str | Path, configuration: str | None, payload: Payload, limits: bool = True
) -> MachineModel:
    """Return a machine of a name or file with one of its configurations and a payload.

    Without `limits` its actuators give any force at any speed.

    Raises:
        InputError: the file has no such configuration.
        MachineNotFoundError: not a known name and not a file.
        ParameterError: the file cannot be used.
    """
    parameters = read_parameters(parameters_path(machine), configuration)
    if seated_person := occupant(payload):
        parameters = seated_on(parameters, seated_person)
    return MachineModel(parameters, limits=limits)


ComparisonInput = Literal["setpoint", "forces"]
"""Input of the second engine: the same reference through drives and a controller of its own, or
the first machine's forces."""


class Settings(BaseModel):
    """Settings of a live machine; frozen."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    configuration: str | None = None
    """configuration in the machine's file; None for the file as it is"""
    payload: Payload = "none"
    """person on it, as rigid mass"""
    limits: bool = True
    """whether the actuators' limits of force and speed hold"""
    engine: str = "mujoco"
    fidelity: Fidelity = "fast"
    controller: str = "cascade"
    gains: Mapping[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(default_factory=dict)
    """gains of the controller that differ from its defaults, by name"""
    comparison: str | None = None
    """engine of the comparison; None for none"""
    comparison_defaults: bool = False
    """whether that engine, if it is MuJoCo, has MuJoCo's own constraint settings"""
    comparison_input: ComparisonInput = "setpoint"

    def model_post_init(self, _: object) -> None:
        """Check the names."""
        one_of(self.engine, "engine", ENGINES)
        one_of(self.controller, "controller", CONTROLLERS)
        if self.comparison is not None:
            one_of(self.comparison, "comparison", ENGINES)

    def with_changes(self, **changes: object) -> Settings:
        """Return these settings with changes; another controller begins with gains of its own.

        Raises:
            InputError: a setting that does not exist or a value that it does not take.
        """
        if "controller" in changes and changes["controller"] != self.controller:
            changes = {"gains": {}} | changes
        return as_settings({**self.model_dump(), **changes})


def as_settings(values: Mapping[str, object]) -> Settings:
    """Return checked settings.

    Raises:
        InputError: a setting that does not exist or a value that it does not take.
    """
    try:
        return Settings.model_validate(dict(values))
    except ValidationError as error:
        first_error = error.errors()[0]
        original_error = first_error.get("ctx", {}).get("error")
        if isinstance(original_error, InputError):
            raise original_error from None
        field = ".".join(map(str, first_error["loc"])) or "settings"
        raise InputError(field, first_error["msg"]) from None


def gains_of(controller: Controller) -> dict[str, float]:
    """Return the gains of a controller by the names of its options, one number each.

    Of gains that differ between actuators the mean.
    """
    gains = {name: getattr(controller, name, None) for name in gain_names(type(controller))}
    return {name: float(np.mean(gain)) for name, gain in gains.items() if gain is not None}


def gain_names(controller_class: type[Controller]) -> tuple[str, ...]:
    """Return the names of a controller's options that are gains."""
    return tuple(name for name in signature(controller_class).parameters if name in GAIN_UNITS)


def make_controller_with_gains(
    name: str, platform: MachineModel, reference: Reference, gains: Mapping[str, float]
) -> Controller:
    """Return a controller of a machine that follows a live reference, with some gains of the user.

    Raises:
        InputError: a gain that the controller does not have, a value that it does not take, or a
            reference that it cannot follow.
        MissingDependencyError: a library of the design is not installed.
    """
    module, cls = CONTROLLERS[name]
    known_gains = gain_names(getattr(import_module(module), cls))
    for gain in sorted(gains.keys() - set(known_gains)):
        known = f"its gains are {', '.join(known_gains)}" if known_gains else "it has none"
        raise InputError(f"gains.{gain}", f"is no gain of the controller {name}; {known}")
    try:
        return make_controller(name, platform, reference, **gains)
    except InputError as error:
        if error.field != "motion":
            raise
        # The reference is that of the run; what the user can change is the controller.
        raise InputError(
            "controller",
            f"{name} on {platform.name} cannot follow the run's reference, which {error.message}",
        ) from None


def gain_unit(controller: str, gain: str, platform: MachineModel) -> str:
    """Return the unit of a gain of a machine's controller; empty for a plain number."""
    if gain == "velocity_gain" and platform.coordinate_unit == "rad":
        return "N m s/rad"
    exceptions = {("hac_lac", "bandwidth"): "Hz", ("iff", "gain"): "1/s"}
    return exceptions.get((controller, gain), GAIN_UNITS.get(gain, ""))


SETTING_NAMES = tuple(name for name in Settings.model_fields if name != "gains")

Value = str | float | bool | tuple[float, ...] | tuple[str, ...]


KNOWN_NAMES = ("machine", *SETTING_NAMES, *axis_names(), *CONTROL_NAMES)


class SetUp(NamedTuple):
    """Machine, settings, target and controls of a live run."""

    machine: str
    """name"""
    settings: Settings
    target: Mapping[str, float]
    """axis -> [mm] or [deg] from home; axes at home may be left out"""
    controls: Mapping[str, Value]
    """control -> value, by `CONTROL_NAMES`; defaults may be left out. A motion has a kind, axis,
    amplitude [mm] or [deg], frequency [Hz], duration [s], whether it starts again and whether it
    is played. A push has a force [N], moment [N m], point [mm] and duration [s]. The page has the
    speed of the run, layers, colour of the legs, point of the trace [mm], charts, position and
    target of the camera [m]"""


def set_up_text(set_up: SetUp) -> str:
    """Return a set-up as a text that leaves out defaults."""
    defaults, changed_values = Settings(), {"machine": set_up.machine}
    for name in SETTING_NAMES:
        value = getattr(set_up.settings, name)
        if name in ALWAYS_WRITTEN or value != getattr(defaults, name):
            changed_values[name] = value
    numbers = {f"{GAIN_PREFIX}{name}": gain for name, gain in set_up.settings.gains.items()}
    numbers |= {axis: value for axis, value in set_up.target.items() if round(value, 4)}
    changed_values |= {name: f"{value:.6g}" for name, value in numbers.items()}
    changed_values |= {
        name: ",".join(map(_value_text, value)) if isinstance(value, tuple) else _value_text(value)
        for name, value in set_up.controls.items()
        if value is not False
    }
    return urlencode(changed_values, safe=",")


def _value_text(value: str | float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def as_set_up(text: str) -> SetUp:
    """Return the set-up of a text, checked as far as it can be without the machine.

    Raises:
        InputError: too long, unknown or repeated names, or values that cannot be used.
    """
    try:
        pairs = parse_qsl(
            text[: MAX_TEXT_LENGTH + 1],
            strict_parsing=True,
            max_num_fields=MAX_ENTRIES,
            keep_blank_values=True,
        )
    except ValueError:
        raise InputError("set-up", "expected name=value&name=value, as a page writes it") from None
    values = dict(pairs)
    if len(text) > MAX_TEXT_LENGTH or len(values) < len(pairs):
        raise InputError("set-up", f"has more than {MAX_TEXT_LENGTH} characters, or a name twice")
    gains = {
        name.removeprefix(GAIN_PREFIX): value
        for name, value in pairs
        if name.startswith(GAIN_PREFIX)
    }
    for name in values:
        if name not in KNOWN_NAMES and not name.startswith(GAIN_PREFIX):
            raise InputError("set-up", f"unknown name {brief(name)}; known: {listed(KNOWN_NAMES)}")
    if "machine" not in values:
        raise InputError("machine", "is missing: a set-up begins with machine=name")
    setting_values = {name: value for name, value in values.items() if name in SETTING_NAMES}
    return SetUp(
        values["machine"],
        as_settings(setting_values | {"gains": gains}),
        {axis: _number(values[axis], axis) for axis in axis_names() if axis in values},
        {name: _value(values[name], name) for name in CONTROL_NAMES if name in values},
    )


def _value(text: str, name: str) -> Value:
    """Return the value of a control."""
    if name in CHOICE_CONTROLS:
        return text
    if name in BOOLEAN_CONTROLS:
        if text not in ("True", "False"):
            raise InputError(name, f"expected True or False, got {brief(text)}")
        return text == "True"
    parts = text.split(",") if text else []
    if name in LIST_CONTROLS:
        return tuple(parts)
    if len(parts) != NUMBER_CONTROLS[name]:
        raise InputError(name, f"expected {NUMBER_CONTROLS[name]} numbers, got {brief(text)}")
    numbers = tuple(_number(entry, name) for entry in parts)
    return numbers if len(numbers) > 1 else numbers[0]


def _number(text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise InputError(name, f"expected a finite number, got {brief(text)}")
    return value
