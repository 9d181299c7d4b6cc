"""Settings of a live run, changed while it runs, and the machine that they make."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from twin.basics.arrays import one_of
from twin.control import CONTROLLERS
from twin.engines import ENGINES
from twin.errors import InputError
from twin.machine.payload import Occupant, Wheelchair, seated_on
from twin.model.engine import Fidelity
from twin.simulation.platform import Platform, load

Payload = Literal["none", "occupant", "wheelchair"]

STATURE, MASS = 1.75, 75.0
"""[m], [kg] of the occupant, adopted."""


def occupant(payload: Payload) -> Occupant | None:
    """Return the person of a payload; None for none."""
    if payload == "none":
        return None
    return Occupant(STATURE, MASS, wheelchair=Wheelchair() if payload == "wheelchair" else None)


def loaded_machine(machine: str | Path, configuration: str | None, payload: Payload) -> Platform:
    """Return a machine of a name or file with one of its configurations and a payload.

    Raises:
        InputError: the file has no such configuration.
        MachineNotFoundError: not a known name and not a file.
        ParameterError: the file cannot be used.
    """
    platform, person = load(machine, configuration), occupant(payload)
    return platform if person is None else Platform(seated_on(platform.parameters, person))


ComparisonInput = Literal["setpoint", "forces"]
"""Input of the second engine: the same reference through drives and a controller of its own, or
the first machine's forces."""


class Settings(BaseModel):
    """Settings of a live machine; frozen."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    configuration: str | None = None
    """of the machine's file; None for the file as it is"""
    payload: Payload = "none"
    """person on it, as rigid mass"""
    engine: str = "mujoco"
    fidelity: Fidelity = "fast"
    controller: str = "cascade"
    gains: Mapping[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(default_factory=dict)
    """of the controller that differ from its own choice, by name"""
    comparison: str | None = None
    """engine that runs beside it; None for none"""
    comparison_defaults: bool = False
    """whether that engine, if it is MuJoCo, has MuJoCo's own constraint settings"""
    comparison_input: ComparisonInput = "setpoint"

    def model_post_init(self, _: object) -> None:
        """Check the names."""
        one_of(self.engine, "engine", ENGINES)
        one_of(self.controller, "controller", CONTROLLERS)
        if self.comparison is not None:
            one_of(self.comparison, "comparison", ENGINES)

    def changed(self, **changes: object) -> Settings:
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
        first = error.errors()[0]
        known = first.get("ctx", {}).get("error")
        if isinstance(known, InputError):
            raise known from None
        field = ".".join(map(str, first["loc"])) or "settings"
        raise InputError(field, first["msg"]) from None
