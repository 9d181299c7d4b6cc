"""The description of a sweep: checked, frozen, and readable from a TOML file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from twin.basics.toml import flat_table, read_toml
from twin.control import controller_names
from twin.errors import InputError, ParameterError, brief
from twin.machine.layout.joints import one_or_more
from twin.machine.quantity import to_si
from twin.motion.specification import MotionSpecification

LARGEST_COUNT = 1_000_000
"""Largest number of values of one swept parameter, of seeds, and of runs."""

FUNCTION_PATTERN = r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$"
"""Pattern of a `measure`: `package.module:function`."""

UNKNOWN_FIELD_TYPES = ("extra_forbidden", "unexpected_keyword_argument")
"""Pydantic's names of errors about fields that do not exist."""

UNION_MARK = "["
"""Character in the names that pydantic adds to a path for the forms of a value."""


def problems(error: ValidationError) -> list[tuple[str, str]]:
    """Return pairs of a field and the description of its error."""
    pairs = []
    for entry in error.errors(include_url=False):
        names = [str(part) for part in entry["loc"] if UNION_MARK not in str(part)]
        is_unknown = entry["type"] in UNKNOWN_FIELD_TYPES
        message = "unknown field; check its spelling" if is_unknown else entry["msg"]
        pairs.append((".".join(names) or "sweep", message.removeprefix("Value error, ")))
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


class ControllerChoice(Part):
    """A controller with its options."""

    name: str
    """name of the controller, one of `twin.control.controller_names()`"""
    options: dict[str, bool | int | float | str | tuple[float, ...]] = Field(default_factory=dict)
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
        options = {}
        for part in filter(None, (part.strip() for part in options_text.split(","))):
            key, equal_sign, text = part.partition("=")
            if not equal_sign:
                raise ValueError(f"{part!r} is no option; write name:option=value,option=value")
            if key.strip() in options:
                raise ValueError(f"{key.strip()!r} is given twice")
            options[key.strip()] = _number_or_text(text.strip())
        model = options.pop("model", "true")
        # The text "true" was read as JSON.
        return {"name": name, "options": options, "model": "true" if model is True else model}

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

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        """Read a number or "50" (kg), or "occupant:1.75:80" (stature in m, mass in kg)."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return {"mass": value}
        if not isinstance(value, str):
            return value
        kind, *numbers = (part.strip() for part in value.split(":"))
        if kind == "occupant" and len(numbers) == 2:
            stature, mass = si_number(numbers[0], "m"), si_number(numbers[1], "kg")
            return {"occupant": {"stature": stature, "mass": mass}}
        if numbers:
            raise ValueError("write a mass in kg, or occupant:stature:mass in m and kg")
        return {"mass": si_number(kind, "kg")}

    @model_validator(mode="after")
    def _one(self) -> PayloadChoice:
        if self.occupant is not None and self.mass > 0.0:
            raise ValueError("is a mass or an occupant, not both")
        if not self.mass and (any(self.center) or self.inertia is not None):
            raise ValueError("has a center or an inertia, but no mass")
        return self

    @property
    def title(self) -> str:
        """Short description of all that is not the default: results are told apart by it."""
        person = self.occupant
        if person is None:
            center_text = f" at {_listed_numbers(self.center)} m" if any(self.center) else ""
            inertia_text = (
                "" if self.inertia is None else f", {_listed_numbers(self.inertia)} kg m2"
            )
            return f"{self.mass:g} kg{center_text}{inertia_text}" if self.mass else "none"
        sex_text = "" if person.sex == "male" else f", {person.sex}"
        chair_text = ", wheelchair" if person.wheelchair else ""
        return f"occupant {person.stature:g} m, {person.mass:g} kg{sex_text}{chair_text}"


def _listed_numbers(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def si_number(value: Any, unit: str) -> float:
    """Return a number, or a text such as "4" or "4 ms", in the SI unit; "" for plain numbers.

    Raises:
        ValueError: no number, or a unit of another kind.
    """
    try:
        return float(value)
    except ValueError:
        if not unit:
            raise ValueError(
                f"{value!r} has a unit or is no number; write a plain number"
            ) from None
        return to_si(value, unit)


def _number_or_text(text: str) -> Any:
    """Return the value of a text that is JSON, such as a number; else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _seeds(value: Any) -> Any:
    """Return the seeds 0, 1, ... of a number of seeds; a list stays as it is."""
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    if not 0 < value <= LARGEST_COUNT:
        raise ValueError(f"must be a list of seeds, or how many: 1 to {LARGEST_COUNT}")
    return tuple(range(value))


Entry = TypeVar("Entry")

Several = Annotated[tuple[Entry, ...], Field(min_length=1), BeforeValidator(one_or_more)]
"""A list of one entry or more; one value is a list of one."""

Values = Several[float | str]
"""Numbers in SI, or texts as `twin.sweep.plan.read_values` takes them."""

Seeds = Annotated[
    tuple[Annotated[int, Field(ge=0, strict=True)], ...],
    Field(min_length=1),
    BeforeValidator(_seeds),
]
"""A list of seeds, or their number."""


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
    configurations: Several[str] = ("",)
    """configurations of the machine's file; empty for the file without one"""
    engines: Several[Literal["analytic", "mujoco", "bullet"]] = ("analytic",)
    fidelity: Literal["accurate", "fast"] = "accurate"
    """fidelity of the engines"""
    timestep: float | None = Field(None, gt=0)
    """[s] time step of the engines; None: half a control period, or less for a stiff machine"""
    motion: MotionSpecification = MotionSpecification()
    """motion by name, or the path of a CSV file with a recorded motion"""
    controllers: Several[ControllerChoice] = (ControllerChoice(name="cascade"),)
    parameters: dict[str, Values] = Field(default_factory=dict)
    """values by dotted path: numbers, or a range such as "0:4 ms:5" """
    payloads: Several[PayloadChoice] = (PayloadChoice(),)
    seeds: Seeds = (0,)
    """seeds of the sensor errors"""
    samples: int | None = Field(None, ge=1, le=LARGEST_COUNT)
    """number of Latin-hypercube points in the ranges in place of their grid; lists stay lists"""
    measure: str | None = Field(None, pattern=FUNCTION_PATTERN)
    """`package.module:function`, which takes a trajectory and its platform and returns more
    columns"""

    @field_validator("controllers")
    @classmethod
    def _told_apart(cls, value: tuple[ControllerChoice, ...]) -> tuple[ControllerChoice, ...]:
        for title, count in Counter(one.title for one in value).items():
            if count > 1:
                raise ValueError(f"has {count} entries called {title!r}; give them labels")
        return value


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
        content["parameters"] = flat_table(content["parameters"])
    try:
        return Sweep(**content)
    except InputError as error:
        if not isinstance(error.__cause__, ValidationError):
            raise
        raise ParameterError(file, problems(error.__cause__)) from None
