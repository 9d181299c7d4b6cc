"""Values that a sweep gives one parameter: a list, or a range between two ends."""

from __future__ import annotations

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
    model_validator,
)

from twin.basics.arrays import FloatArray
from twin.errors import InputError

Spacing = Literal["linear", "logarithmic"]

LARGEST_COUNT = 1_000_000

RANGE, LIST = "a range", "a list"
"""Tags of the two forms of values. Pydantic puts them into the path of an error; `problems` leaves
them out."""

FORM = "write numbers separated by commas, or start:stop:count or start:stop:count:logarithmic"


def problems(error: ValidationError) -> list[tuple[str, str]]:
    """Return pairs of field and what is wrong with it."""
    found = []
    for entry in error.errors(include_url=False):
        field = ".".join(str(part) for part in entry["loc"] if part not in (RANGE, LIST))
        unknown = entry["type"] == "extra_forbidden"
        message = "unknown field; check its spelling" if unknown else entry["msg"]
        found.append((field or "sweep", message.removeprefix("Value error, ")))
    return found


class Part(BaseModel):
    """Part of a sweep's description: cannot be changed, and has no unknown fields.

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
    """Numbers between two ends, both included."""

    start: float
    stop: float
    count: int | None = Field(None, ge=1, le=LARGEST_COUNT)
    """How many on a grid; a sampled sweep needs none"""
    spacing: Spacing = "linear"

    @model_validator(mode="after")
    def _spaced(self) -> Range:
        if self.spacing == "logarithmic" and not (self.start > 0.0 and self.stop > 0.0):
            raise ValueError("a logarithmic range needs ends above zero")
        return self

    def at(self, shares: FloatArray) -> FloatArray:
        """Return the numbers `(m,)` at shares `(m,)` of the way from start to stop."""
        if self.spacing == "linear":
            return self.start + shares * (self.stop - self.start)
        return self.start * (self.stop / self.start) ** shares

    def numbers(self) -> tuple[float, ...]:
        """Return the numbers of the grid."""
        count = self.count or 1
        if count == 1:
            return (self.start,)
        found = self.at(np.linspace(0.0, 1.0, count))
        found[0], found[-1] = self.start, self.stop
        return tuple(found.tolist())


def _read(value: Any) -> Any:
    """Return a text, a number or a table as what the models take."""
    if isinstance(value, str):
        return _from_text(value)
    return (value,) if isinstance(value, (int, float)) else value


def _from_text(text: str) -> Any:
    parts = [part.strip() for part in text.split(":")]
    if len(parts) == 1:
        return tuple(_number(part) for part in text.split(","))
    if len(parts) not in (2, 3, 4):
        raise ValueError(FORM)
    content: dict[str, Any] = {"start": _number(parts[0]), "stop": _number(parts[1])}
    if len(parts) > 2:
        content["count"] = parts[2]
    return content | ({"spacing": parts[3]} if len(parts) == 4 else {})


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number; {FORM}") from None


def _form(value: Any) -> str:
    return RANGE if isinstance(value, (dict, Range)) else LIST


Numbers = Annotated[
    Annotated[Range, Tag(RANGE)]
    | Annotated[tuple[float, ...], Field(min_length=1, max_length=LARGEST_COUNT), Tag(LIST)],
    Discriminator(_form),
    BeforeValidator(_read),
]
"""A list of numbers, a range as a table or as text such as "0:0.004:5", or one number."""
