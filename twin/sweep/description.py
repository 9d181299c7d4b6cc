"""The description of a sweep: checked, frozen, and readable from a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from twin.basics.toml import read_toml
from twin.errors import InputError, ParameterError
from twin.sweep.choices import (
    ControllerChoice,
    MotionChoice,
    OneOrMore,
    PayloadChoice,
    Sampling,
    Seeds,
)
from twin.sweep.quantities import in_si
from twin.sweep.values import Numbers, Part, Range, problems

EngineName = Literal["analytic", "mujoco", "bullet"]

FUNCTION = r"[A-Za-z_][\w.]*:[A-Za-z_]\w*"
"""What `measure` looks like."""

MOTION = ("amplitude", "frequency", "duration")
"""What parameters that begin with `motion.` may name."""

CASCADE = ControllerChoice.model_validate("cascade")


class Sweep(Part):
    """Runs of one machine in closed loop: every combination of what is listed.

    Every list may be one value. What follows `motion.` in `parameters` is of the motion,
    what follows `controller.` an option of every controller, everything else a dotted path into
    the machine's platform.toml (listed by
    `twin.machine.randomisation.paths.numeric_paths`), in SI or as texts with a unit.

    Raises:
        InputError: unknown fields, or values that no sweep can have.
    """

    machine: str = Field(min_length=1)
    """Name of a shipped machine or path of a platform.toml"""
    configurations: Annotated[tuple[str, ...], Field(min_length=1), OneOrMore] = ("",)
    """Configurations of the machine's file; empty for the file as it is"""
    engines: Annotated[tuple[EngineName, ...], Field(min_length=1), OneOrMore] = ("analytic",)
    fidelity: Literal["accurate", "fast"] = "accurate"
    """Of the engines"""
    timestep: float | None = Field(None, gt=0)
    """[s] of the engines; None: half a control period, or what a stiff machine needs"""
    motion: MotionChoice = MotionChoice()
    controllers: Annotated[tuple[ControllerChoice, ...], Field(min_length=1), OneOrMore] = (
        CASCADE,
    )
    parameters: dict[str, Numbers] = Field(default_factory=dict)
    """Values by dotted path"""
    payloads: Annotated[tuple[PayloadChoice, ...], Field(min_length=1), OneOrMore] = (
        PayloadChoice(),
    )
    seeds: Seeds = (0,)
    """Of the sensors' errors"""
    sampling: Sampling | None = None
    """Points between the ends of the ranges in place of the grid; lists stay as they are"""
    measure: str | None = Field(None, pattern=f"^{FUNCTION}$")
    """`package.module:function`, called with a trajectory and its platform, returns more columns"""

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return in_si(value) if isinstance(value, dict) else value

    @field_validator("parameters")
    @classmethod
    def _named(cls, value: dict[str, Any]) -> dict[str, Any]:
        for path in value:
            table, _, field = path.partition(".")
            if table == "motion" and field not in MOTION:
                known = ", ".join(f"motion.{name}" for name in MOTION)
                raise ValueError(f"{path}: the motion's numbers are {known}")
        return value

    @model_validator(mode="after")
    def _countable(self) -> Sweep:
        for path, numbers in self.parameters.items():
            if isinstance(numbers, Range) and (numbers.count is None) != bool(self.sampling):
                needed = (
                    "leave the count of samples to sampling" if self.sampling else "add a count"
                )
                raise ValueError(f"the range of {path}: {needed}")
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
    found = []
    for key, value in table.items():
        name = f"{path}.{key}" if path else key
        inner = isinstance(value, dict) and not {"start", "stop"} <= value.keys()
        found += _flat(value, name) if inner else [(name, value)]
    return found
