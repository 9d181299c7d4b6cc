"""Controllers and payloads that a sweep may vary, and the motion of all runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from twin.basics.toml import toml_content
from twin.control import controller_names
from twin.errors import ParameterError, brief
from twin.machine.quantity import to_si
from twin.sweep.values import LARGEST_COUNT, Part

Option = bool | int | float | str | tuple[float, ...]


class MotionChoice(Part):
    """The motion that is followed, as `twin track` takes it."""

    name: str = Field("sine", min_length=1)
    """`still`, `sine`, `step`, `lift`, `chirp`, `tank`, or a CSV file with a recorded motion"""
    axis: str = "z"
    """That moves: x, y, z, yaw, pitch or roll"""
    amplitude: float | None = None
    """[m, rad]; None: a tenth of an actuator's range, of the machine of each run"""
    frequency: float = Field(1.0, gt=0)
    """[Hz] of the sine, the highest of the chirp"""
    duration: float | None = Field(None, gt=0)
    """[s]; None: the whole of a file, else 4 s"""
    fade: float | None = Field(None, ge=0)
    """[s] over which a sine or a chirp rises and falls; None: a tenth of its duration"""


class ControllerChoice(Part):
    """A controller with its options."""

    name: str
    """One of `twin.control.controller_names()`"""
    options: dict[str, Option] = Field(default_factory=dict)
    """Keyword arguments of its class"""
    model: Literal["true", "nominal"] = "true"
    """What it is designed for: the machine of the run, or the one without payload and without the
    sweep's values"""
    label: str = ""
    """In tables; default: name and options"""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        """Read "cascade" or "cascade:position_gain=4,period=0.002"."""
        if not isinstance(value, str):
            return value
        name, _, rest = value.partition(":")
        content: dict[str, Any] = {"name": name, "options": {}}
        for part in filter(None, (part.strip() for part in rest.split(","))):
            key, equal, text = part.partition("=")
            if not equal:
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
    """A seated occupant, taken as one rigid body on the platform."""

    stature: float
    """[m]"""
    mass: float
    """[kg]"""
    sex: Literal["male", "female"] = "male"
    wheelchair: bool = False


class PayloadChoice(Part):
    """A body fixed to the platform, an occupant, or nothing."""

    mass: float = Field(0.0, ge=0)
    """[kg]"""
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Centre of mass in the platform frame [m]"""
    inertia: tuple[float, float, float] | None = None
    """Principal moments about the centre of mass [kg m2], platform axes; None: a point mass"""
    occupant: Person | None = None
    """In place of a mass"""
    label: str = ""
    """In tables; default: what it is"""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        """Read "50" (kg) or "occupant:1.75:80" (stature in m, mass in kg)."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return {"mass": value}
        if not isinstance(value, str):
            return value
        word, *sizes = (part.strip() for part in value.split(":"))
        if word == "occupant" and len(sizes) == 2:
            stature, mass = _plain(sizes[0], "m"), _plain(sizes[1], "kg")
            return {"occupant": {"stature": stature, "mass": mass}}
        if word in ("none", "") and not sizes:
            return {}
        if sizes:
            raise ValueError("write a mass in kg, or occupant:stature:mass in m and kg")
        return {"mass": _plain(word, "kg")}

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
        chair = ", wheelchair" if person.wheelchair else ""
        return f"occupant {person.stature:g} m, {person.mass:g} kg{chair}"


class Sampling(Part):
    """Points drawn between the ends of all ranges, in place of their grid."""

    count: int = Field(ge=1)
    """How many points"""
    kind: Literal["latin_hypercube", "random"] = "latin_hypercube"
    seed: int = Field(0, ge=0)


def _plain(text: str, unit: str) -> Any:
    """Return a plain number as it is, and a text with a unit in SI."""
    try:
        return float(text)
    except ValueError:
        return to_si(text, unit)


def _one_or_more(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else (value,)


def _seeds(value: Any) -> Any:
    """Return the seeds 0, 1, ... for their number."""
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
"""One value stands for a list of one."""

Seeds = Annotated[
    tuple[Annotated[int, Field(ge=0, strict=True)], ...],
    Field(min_length=1),
    BeforeValidator(_seeds),
]
"""A list of seeds, or how many."""
