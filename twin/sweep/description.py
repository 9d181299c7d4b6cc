"""The description of a sweep: checked, frozen, and readable from a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from twin.basics.arrays import FloatArray
from twin.basics.toml import read_toml, toml_content
from twin.control import controller_names
from twin.errors import InputError, ParameterError, brief
from twin.machine.quantity import to_si
from twin.sweep.quantities import in_si

LARGEST_COUNT = 1_000_000
"""Largest number of values of one swept parameter, and of seeds."""

VALUES_HINT = (
    "write numbers separated by commas, or start:stop:count or start:stop:count:logarithmic"
)

FUNCTION_PATTERN = r"[A-Za-z_][\w.]*:[A-Za-z_]\w*"
"""Pattern of a `measure`: `package.module:function`."""

MOTION_FIELDS = ("amplitude", "frequency", "duration")
"""Names that may follow `motion.` in a parameter's path."""


Spacing = Literal["linear", "logarithmic"]


RANGE_TAG, LIST_TAG = "a range", "a list"
"""Tags of the two forms of values. Pydantic adds them to the path of an error; `problems` removes
them."""


def problems(error: ValidationError) -> list[tuple[str, str]]:
    """Return pairs of a field and the description of its error."""
    pairs = []
    for entry in error.errors(include_url=False):
        field_path = ".".join(
            str(part) for part in entry["loc"] if part not in (RANGE_TAG, LIST_TAG)
        )
        is_unknown = entry["type"] == "extra_forbidden"
        message = "unknown field; check its spelling" if is_unknown else entry["msg"]
        pairs.append((field_path or "sweep", message.removeprefix("Value error, ")))
    return pairs


class Part(BaseModel):
    """Part of a sweep's description: immutable, without unknown fields.

    Raises:
        InputError: unknown fields, or values that cannot be.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, **content: Any) -> None:
        try:
            super().__init__(**content)
        except ValidationError as error:
            raise InputError(*problems(error)[0]) from error

    # A part of another is checked together with it, which calls no constructor.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


class Range(Part):
    """Numbers between two bounds, both included."""

    start: float
    stop: float
    count: int | None = Field(None, ge=1, le=LARGEST_COUNT)
    """number of grid points; a sampled sweep needs none"""
    spacing: Spacing = "linear"

    @model_validator(mode="after")
    def _spaced(self) -> Range:
        if self.spacing == "logarithmic" and not (self.start > 0.0 and self.stop > 0.0):
            raise ValueError("a logarithmic range needs ends above zero")
        return self

    def at(self, shares: FloatArray) -> FloatArray:
        """Return the numbers `(m,)` at fractions `shares` `(m,)` of the range, from its start."""
        if self.spacing == "linear":
            return self.start + shares * (self.stop - self.start)
        return self.start * (self.stop / self.start) ** shares

    def numbers(self) -> tuple[float, ...]:
        """Return the numbers of the grid."""
        count = self.count or 1
        if count == 1:
            return (self.start,)
        grid = self.at(np.linspace(0.0, 1.0, count))
        grid[0], grid[-1] = self.start, self.stop
        return tuple(grid.tolist())


def _read(value: Any) -> Any:
    """Return a text, a number or a table in the form that the models take."""
    if isinstance(value, str):
        return _from_text(value)
    return (value,) if isinstance(value, (int, float)) else value


def _from_text(text: str) -> Any:
    parts = [part.strip() for part in text.split(":")]
    if len(parts) == 1:
        return tuple(_number(part) for part in text.split(","))
    if len(parts) not in (2, 3, 4):
        raise ValueError(VALUES_HINT)
    content: dict[str, Any] = {"start": _number(parts[0]), "stop": _number(parts[1])}
    if len(parts) > 2:
        content["count"] = parts[2]
    return content | ({"spacing": parts[3]} if len(parts) == 4 else {})


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number; {VALUES_HINT}") from None


def _form(value: Any) -> str:
    return RANGE_TAG if isinstance(value, (dict, Range)) else LIST_TAG


Numbers = Annotated[
    Annotated[Range, Tag(RANGE_TAG)]
    | Annotated[tuple[float, ...], Field(min_length=1, max_length=LARGEST_COUNT), Tag(LIST_TAG)],
    Discriminator(_form),
    BeforeValidator(_read),
]
"""A list of numbers, a range as a table or as text such as "0:0.004:5", or one number."""


Option = bool | int | float | str | tuple[float, ...]


class MotionChoice(Part):
    """The motion that the machine follows, with the options of `twin track`."""

    name: str = Field("sine", min_length=1)
    """`still`, `sine`, `step`, `lift`, `chirp`, `tank`, or the path of a CSV file with a recorded
    motion"""
    axis: str = "z"
    """axis that moves: x, y, z, yaw, pitch or roll"""
    amplitude: float | None = None
    """[m, rad] amplitude; None: a tenth of an actuator's range, for the machine of each run"""
    frequency: float = Field(1.0, gt=0)
    """[Hz] frequency of the sine, or highest frequency of the chirp"""
    duration: float | None = Field(None, gt=0)
    """[s] duration of the motion; None: that of the file, else 4 s"""
    fade: float | None = Field(None, ge=0)
    """[s] time in which a sine or a chirp fades in, and out; None: a tenth of its duration"""


class ControllerChoice(Part):
    """A controller with its options."""

    name: str
    """name of the controller, one of `twin.control.controller_names()`"""
    options: dict[str, Option] = Field(default_factory=dict)
    """keyword arguments of the controller's class"""
    model: Literal["true", "nominal"] = "true"
    """machine for which the controller is designed: that of the run, or the one without payload and
    without the sweep's values"""
    label: str = ""
    """name in tables; default: name and options"""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        """Read "cascade" or "cascade:position_gain=4,period=0.002"."""
        if not isinstance(value, str):
            return value
        name, _, options_text = value.partition(":")
        content: dict[str, Any] = {"name": name, "options": {}}
        for part in filter(None, (part.strip() for part in options_text.split(","))):
            key, equal_sign, text = part.partition("=")
            if not equal_sign:
                raise ValueError(f"{part!r} is no option; write name:option=value,option=value")
            if key.strip() == "model" and text.strip() in ("true", "nominal"):
                content["model"] = text.strip()
            else:
                content["options"][key.strip()] = _scalar(text.strip())
        return content

    @field_validator("name")
    @classmethod
    def _known(cls, value: str) -> str:
        name = value.strip().replace(" ", "_").replace("-", "_")
        if name not in controller_names():
            raise ValueError(f"must be one of {', '.join(controller_names())}, not {brief(value)}")
        return name

    @property
    def title(self) -> str:
        """The label, or name and options."""
        options = [f"{key}={value}" for key, value in self.options.items()]
        if self.model == "nominal":
            options.append("model=nominal")
        return self.label or ":".join(filter(None, (self.name, ",".join(options))))


class Person(Part):
    """A seated occupant, modelled as one rigid body on the platform."""

    stature: float
    """[m] body height"""
    mass: float
    """[kg] body mass"""
    sex: Literal["male", "female"] = "male"
    wheelchair: bool = False


class PayloadChoice(Part):
    """A body fixed to the platform, an occupant, or nothing."""

    mass: float = Field(0.0, ge=0)
    """[kg] mass of the body"""
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[m] centre of mass in the platform frame"""
    inertia: tuple[float, float, float] | None = None
    """[kg m2] principal moments about the centre of mass, platform axes; None: a point mass"""
    occupant: Person | None = None
    """person in place of a body"""
    label: str = ""
    """name in tables; default: a description of the payload"""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        """Read "50" (kg) or "occupant:1.75:80" (stature in m, mass in kg)."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return {"mass": value}
        if not isinstance(value, str):
            return value
        kind, *numbers = (part.strip() for part in value.split(":"))
        if kind == "occupant" and len(numbers) == 2:
            stature, mass = _plain(numbers[0], "m"), _plain(numbers[1], "kg")
            return {"occupant": {"stature": stature, "mass": mass}}
        if kind in ("none", "") and not numbers:
            return {}
        if numbers:
            raise ValueError("write a mass in kg, or occupant:stature:mass in m and kg")
        return {"mass": _plain(kind, "kg")}

    @model_validator(mode="after")
    def _one(self) -> PayloadChoice:
        if self.occupant is not None and self.mass > 0.0:
            raise ValueError("is a mass or an occupant, not both")
        return self

    @property
    def title(self) -> str:
        """The label, or what the payload is."""
        if self.label or (self.occupant is None and self.mass == 0.0):
            return self.label or "none"
        person = self.occupant
        if person is None:
            return f"{self.mass:g} kg"
        chair_text = ", wheelchair" if person.wheelchair else ""
        return f"occupant {person.stature:g} m, {person.mass:g} kg{chair_text}"


class Sampling(Part):
    """Random points in all ranges, in place of their grid."""

    count: int = Field(ge=1)
    """number of points"""
    kind: Literal["latin_hypercube", "random"] = "latin_hypercube"
    seed: int = Field(0, ge=0)


def _plain(text: str, unit: str) -> Any:
    """Return a number without a unit as it is, and a text with a unit converted to SI."""
    try:
        return float(text)
    except ValueError:
        return to_si(text, unit)


def _one_or_more(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else (value,)


def _seeds(value: Any) -> Any:
    """Return the seeds 0, 1, ... of a number of seeds; a list stays as it is."""
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    if not 0 < value <= LARGEST_COUNT:
        raise ValueError("must be a list of seeds, or how many: one or more")
    return tuple(range(value))


def _scalar(text: str) -> Any:
    try:
        return toml_content(f"value = {text}".encode(), "options")["value"]
    except ParameterError:
        return text


OneOrMore = BeforeValidator(_one_or_more)
"""Validator that turns one value into a list of one."""

Seeds = Annotated[
    tuple[Annotated[int, Field(ge=0, strict=True)], ...],
    Field(min_length=1),
    BeforeValidator(_seeds),
]
"""A list of seeds, or their number."""


EngineName = Literal["analytic", "mujoco", "bullet"]


DEFAULT_CONTROLLER = ControllerChoice.model_validate("cascade")
"""Controller of a sweep that names none: the cascade of velocity and position loops."""


class Sweep(Part):
    """Runs of one machine in closed loop: every combination of what is listed.

    Every list may be one value. What follows `motion.` in `parameters` is of the motion,
    what follows `controller.` an option of every controller, everything else a dotted path into
    the machine's platform.toml (listed by
    `twin.machine.randomisation.sampler.numeric_paths`), in SI or as texts with a unit.

    Raises:
        InputError: unknown fields, or values that no sweep can have.
    """

    machine: str = Field(min_length=1)
    """name of a shipped machine or path of a platform.toml"""
    configurations: Annotated[tuple[str, ...], Field(min_length=1), OneOrMore] = ("",)
    """configurations of the machine's file; empty for the file without one"""
    engines: Annotated[tuple[EngineName, ...], Field(min_length=1), OneOrMore] = ("analytic",)
    fidelity: Literal["accurate", "fast"] = "accurate"
    """fidelity of the engines"""
    timestep: float | None = Field(None, gt=0)
    """[s] time step of the engines; None: half a control period, or less for a stiff machine"""
    motion: MotionChoice = MotionChoice()
    controllers: Annotated[tuple[ControllerChoice, ...], Field(min_length=1), OneOrMore] = (
        DEFAULT_CONTROLLER,
    )
    parameters: dict[str, Numbers] = Field(default_factory=dict)
    """values by dotted path"""
    payloads: Annotated[tuple[PayloadChoice, ...], Field(min_length=1), OneOrMore] = (
        PayloadChoice(),
    )
    seeds: Seeds = (0,)
    """seeds of the sensor errors"""
    sampling: Sampling | None = None
    """random points in the ranges in place of their grid; lists are not sampled"""
    measure: str | None = Field(None, pattern=f"^{FUNCTION_PATTERN}$")
    """`package.module:function`, which takes a trajectory and its platform and returns more
    columns"""

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return in_si(value) if isinstance(value, dict) else value

    @field_validator("parameters")
    @classmethod
    def _named(cls, value: dict[str, Any]) -> dict[str, Any]:
        for path in value:
            first_word, _, field_name = path.partition(".")
            if first_word == "motion" and field_name not in MOTION_FIELDS:
                known_names = ", ".join(f"motion.{name}" for name in MOTION_FIELDS)
                raise ValueError(f"{path}: the motion's numbers are {known_names}")
        return value

    @model_validator(mode="after")
    def _countable(self) -> Sweep:
        for path, numbers in self.parameters.items():
            if isinstance(numbers, Range) and (numbers.count is None) != bool(self.sampling):
                advice = (
                    "leave the count of samples to sampling" if self.sampling else "add a count"
                )
                raise ValueError(f"the range of {path}: {advice}")
        if self.sampling and not any(isinstance(n, Range) for n in self.parameters.values()):
            raise ValueError("sampling needs a range among the parameters")
        return self


def read_sweep(path: str | Path) -> Sweep:
    """Return the sweep that a TOML file describes.

    Raises:
        ParameterError: unreadable, not TOML, unknown fields, or values that no sweep can have.
    """
    return sweep_from(read_toml(path), path)


def sweep_from(content: dict[str, Any], file: str | Path) -> Sweep:
    """Return the sweep of the content of a TOML file; `file` names it in errors.

    Raises:
        ParameterError: unknown fields, or values that no sweep can have.
    """
    content = dict(content)
    if isinstance(content.get("parameters"), dict):
        content["parameters"] = dict(_flat(content["parameters"]))
    try:
        return Sweep(**content)
    except InputError as error:
        if not isinstance(error.__cause__, ValidationError):
            raise
        raise ParameterError(file, problems(error.__cause__)) from None


def _flat(table: dict[str, Any], path: str = "") -> list[tuple[str, Any]]:
    """Return dotted path and values of nested tables: TOML splits keys without quotes at dots."""
    entries = []
    for key, value in table.items():
        name = f"{path}.{key}" if path else key
        is_table = isinstance(value, dict) and not {"start", "stop"} <= value.keys()
        entries += _flat(value, name) if is_table else [(name, value)]
    return entries
