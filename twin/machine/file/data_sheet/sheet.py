"""Numbers of a data sheet as they are printed there, with their units."""

from __future__ import annotations

from dataclasses import dataclass, fields

from twin.errors import InputError
from twin.machine.quantity import to_si

KINDS = ("ups", "rss")
"""Kinds of legs that data sheets describe by a few numbers."""

ANGLE, LENGTH = "rad", "m"


@dataclass(frozen=True)
class DataSheet:
    """Numbers of a data sheet: each a text with its unit, None where it is not given."""

    legs: str = "ups"
    title: str | None = None
    base_radius: str | None = None
    base_spacing: str | None = None
    """angle or distance of the two joints of a pair"""
    platform_radius: str | None = None
    platform_spacing: str | None = None
    stroke: str | None = None
    """of the actuators; of cranks the whole range of their angle"""
    shortest: str | None = None
    """length of a retracted leg between the centres of its joints"""
    height: str | None = None
    """of the platform joints above the base joints at home; left out: the middle of the stroke"""
    crank: str | None = None
    rod: str | None = None
    speed: str | None = None
    force: str | None = None
    """of an actuator; of cranks the torque"""
    payload: str | None = None
    plate_mass: str | None = None
    leg_mass: str | None = None

    @property
    def has_cranks(self) -> bool:
        """Whether motors turn cranks."""
        return self.legs == "rss"

    def unit(self, name: str) -> str:
        """Return the SI unit of a field that is no text."""
        rotary = {"stroke": ANGLE, "speed": "rad/s", "force": "N m"}
        linear = {"stroke": LENGTH, "speed": "m/s", "force": "N"}
        own = rotary if self.has_cranks else linear
        masses = dict.fromkeys(("payload", "plate_mass", "leg_mass"), "kg")
        return (own | masses).get(name, LENGTH)

    def si(self, name: str) -> float | None:
        """Return a field in SI; None where it is not given.

        Raises:
            InputError: no number with a unit of the right kind, or not above zero.
        """
        text = getattr(self, name)
        return None if text is None else positive(name, text, self.unit(name))

    def spacing(self, side: str) -> tuple[str, float]:
        """Return the field of a paired circle that a spacing is, and its value in SI.

        Raises:
            InputError: it is neither an angle nor a distance.
        """
        name = f"{side}_spacing"
        text = getattr(self, name)
        for field, unit in (("spacing", ANGLE), ("chord", LENGTH)):
            try:
                value = to_si(text, unit)
            except ValueError:
                continue
            if value < 0:
                raise InputError(name, f"must not be negative, got {text!r}")
            return field, value
        raise InputError(
            name, f"{text!r} is neither an angle nor a distance; write '20 deg' or '120 mm'"
        )

    def missing(self) -> list[str]:
        """Return the names of the fields without which there is no machine."""
        needed = ["base_radius", "base_spacing", "platform_radius", "platform_spacing", "stroke"]
        needed += ["crank", "rod"] if self.has_cranks else []
        missing = [name for name in needed if getattr(self, name) is None]
        if not self.has_cranks and self.shortest is None and self.height is None:
            missing.append("shortest")
        return missing

    def check(self) -> None:
        """Raise an InputError unless the fields fit the kind of the legs and are all numbers."""
        other = ("shortest",) if self.has_cranks else ("crank", "rod")
        for name in other:
            if getattr(self, name) is not None:
                raise InputError(name, f"legs of kind {self.legs!r} have none; leave it out")
        for field in fields(self):
            if field.name not in ("legs", "title", "base_spacing", "platform_spacing"):
                self.si(field.name)
        for side in ("base", "platform"):
            self.spacing(side)


def positive(name: str, text: str, unit: str) -> float:
    """Return a text in the SI `unit`; raises an InputError unless it is above zero."""
    try:
        value = to_si(text, unit)
    except ValueError as error:
        raise InputError(name, str(error)) from None
    if value <= 0:
        raise InputError(name, f"must be above zero, got {text!r}")
    return value
