"""Faults of an emulated machine: what fails, when, and how much."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from twin.errors import InputError, brief
from twin.machine.machine import MachineParameters
from twin.machine.quantity import Force, Mass, Number, Time, Torque, Whole, is_number
from twin.machine.randomisation.sampler import nominal_value, numeric_paths

Axis = Literal["x", "y", "z"]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Leg = Annotated[Whole | None, Field(ge=1)]

SCALED_FIELDS = {
    "friction": ("friction_torque", "friction", "viscous_torque", "viscous"),
    "backlash": ("backlash",),
}
"""Numbers of a drive that a fault multiplies, as far as it has them."""


class BaseFault(BaseModel):
    """A fault that acts from `begin` [s] on, for a duration or to the end of the run."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_by_name=True
    )

    begin: Time = Field(0.0, ge=0.0, description="Time at which it begins")
    duration: Time | None = Field(None, gt=0.0, alias="for", description="Default: to the end")

    @property
    def end(self) -> float:
        """Time [s] at which the fault ends."""
        return float("inf") if self.duration is None else self.begin + self.duration

    def active(self, time: float) -> bool:
        """Return whether the fault acts at a time [s]."""
        return self.begin <= time < self.end


class DriveFault(BaseFault):
    """More friction, dry and viscous, or more backlash in a drive."""

    kind: Literal["friction", "backlash"]
    leg: Leg = Field(None, description="Default: all")
    factor: Number = Field(2.0, ge=0.0, description="Of what the drive has")

    def values(self, parameters: MachineParameters) -> dict[str, float]:
        """Return the changed parameter values of a machine by path.

        Raises:
            InputError: its drives have no such numbers above zero.
        """
        legs = range(1, len(parameters.legs) + 1) if self.leg is None else (self.leg,)
        known_paths = set(numeric_paths(parameters))
        paths = [f"leg.{leg}.drive.{name}" for leg in legs for name in SCALED_FIELDS[self.kind]]
        values = {path: nominal_value(parameters, path) for path in paths if path in known_paths}
        if not any(values.values()):
            message = f"the drives of {parameters.name} have none; choose another configuration"
            raise InputError(f"fault.{self.kind}", message)
        return {path: self.factor * value for path, value in values.items()}


class CountsFault(BaseFault):
    """Counts that an encoder loses at one instant."""

    kind: Literal["counts"]
    leg: Leg = Field(None, description="Default: all")
    counts: int = Field(100, description="Lost; negative for counts too many")


class PayloadFault(BaseFault):
    """Another mass at the platform's reference point."""

    kind: Literal["payload"]
    mass: Mass = Field(gt=0.0, description="Added to the platform")


class SensorFault(BaseFault):
    """A sensor that stops measuring."""

    kind: Literal["sensor"]
    leg: Leg = Field(None, description="Default: all, and of signals that are not of legs")
    signal: Literal["coordinates", "rates", "forces", "pose", "accelerometer", "gyroscope"] = Field(
        "coordinates", description="Field that it measures"
    )
    reading: Literal["frozen", "zero"] = Field("frozen", description="Last value, or zero")


class OverloadFault(BaseFault):
    """A force and a moment on the platform from outside."""

    kind: Literal["overload"]
    force: Force = Field(0.0, description="Along the axis")
    moment: Torque = Field(0.0, description="About the axis")
    axis: Axis = Field("z", description="Of the base")


class LinkFault(BaseFault):
    """Measurements that are lost on the way, or delayed."""

    kind: Literal["drop", "delay"]
    share: Share = Field(0.1, description="Of the datagrams")
    time: Time = Field(0.02, ge=0.0, description="By which they are delayed")


Fault = DriveFault | CountsFault | PayloadFault | SensorFault | OverloadFault | LinkFault
FAULT_ADAPTER: TypeAdapter[Fault] = TypeAdapter(Annotated[Fault, Field(discriminator="kind")])


def parse_fault(text: str) -> Fault:
    """Return the fault of a text such as `friction@10s:leg=2,factor=3,for=5s`.

    The time after `@` is when it begins, default 0 s. A number without unit is SI.

    Raises:
        InputError: an unknown kind or option, or a value that it does not take.
    """
    kind_and_begin, _, options_text = text.partition(":")
    kind, _, begin_text = kind_and_begin.partition("@")
    options = [option.partition("=") for option in options_text.split(",") if option.strip()]
    fields = {"begin": begin_text or "0", **{name: value for name, _, value in options}}
    content: dict[str, Any] = {
        name.strip(): _number(value.strip()) for name, value in fields.items()
    }
    try:
        return FAULT_ADAPTER.validate_python({**content, "kind": kind.strip()})
    except ValidationError as error:
        first_error = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first_error["loc"][1:])
        message = first_error["msg"].removeprefix("Value error, ")
        raise InputError(
            ".".join(filter(None, ("fault", name))), f"{brief(text)}: {message}"
        ) from None


def _number(text: str) -> int | float | str:
    """Return a text without a unit as a number; a text with a unit unchanged."""
    if text.lstrip("+-").isdecimal():
        return int(text)
    return float(text) if is_number(text) else text
