"""Numbers of a data sheet as they are printed there, with their units."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from twin.errors import InputError
from twin.machine.quantity import to_si

HEXAPOD_FIELDS = ("base_radius", "base_spacing", "platform_radius", "platform_spacing")
SPRING_LEG_FIELDS = (*HEXAPOD_FIELDS, "stroke", "shortest", "stiffness", "damping")

KIND_FIELDS: dict[str, tuple[str, ...]] = {
    "ups": (*HEXAPOD_FIELDS, "stroke", "shortest"),
    "rss": (*HEXAPOD_FIELDS, "stroke", "crank", "rod", "horns", "horn_angle", "drive", "backlash"),
    "strut": SPRING_LEG_FIELDS,
    "viscoelastic": SPRING_LEG_FIELDS,
    "pillar": ("length", "width", "platform_radius", "stroke", "shortest"),
    "rps": ("base_radius", "platform_radius", "stroke", "shortest"),
    "upu": (*HEXAPOD_FIELDS, "stroke", "shortest", "lead"),
    "rrs": ("base_radius", "platform_radius", "stroke", "crank", "rod", "drive", "backlash"),
}
"""Fields of each kind of legs."""

SHEET_KINDS = tuple(KIND_FIELDS)

OPTIONAL_FIELDS = (
    "shortest", "damping", "length", "width",
    "horns", "horn_angle", "drive", "backlash", "lead",
)  # fmt: skip
"""Fields that may be left out: another field, an estimate or a choice of `twin new` replaces them.
"""

FIELD_CHOICES = {"horns": ("mirrored", "same"), "drive": ("servo",)}
"""Fields with a closed list of values."""

ANGLE_UNIT = "rad"
"""SI unit of angles."""

LENGTH_UNIT = "m"
"""SI unit of lengths."""

ROTARY_UNITS = {"stroke": ANGLE_UNIT, "speed": "rad/s", "force": "N m"}
"""SI units of the actuators that turn cranks."""

LINEAR_UNITS = {"stroke": LENGTH_UNIT, "speed": "m/s", "force": "N"}
"""SI units of all other actuators."""

FIELD_UNITS = {
    "payload": "kg", "plate_mass": "kg", "leg_mass": "kg", "inertia": "kg m2",
    "backlash": ANGLE_UNIT, "stiffness": "N/m", "damping": "N s/m",
}  # fmt: skip
"""SI units of further fields; that of all others is the length's."""

OTHER_FIELDS = (
    "legs", "title", "base_spacing", "platform_spacing", "inertia",
    "horns", "horn_angle", "drive",
)  # fmt: skip
"""Fields that are not a single number above zero."""


@dataclass(frozen=True)
class DataSheet:
    """Numbers of a data sheet: each a text with its unit, None where it is not given."""

    legs: str = "ups"
    title: str | None = None
    base_radius: str | None = None
    base_spacing: str | None = None
    """angle or distance of the two joints of a pair"""
    platform_radius: str | None = None
    """radius of the circle of the platform joints; for pillars it means three of them on a circle
    """
    platform_spacing: str | None = None
    length: str | None = None
    """distance along x of four pillars at the corners of a rectangle"""
    width: str | None = None
    """distance along y of these pillars"""
    stroke: str | None = None
    """stroke of the actuators; for cranks the whole range of their angle"""
    shortest: str | None = None
    """length of a retracted leg between the centres of its joints"""
    lead: str | None = None
    """lead of the screws of legs with two universal joints, right-handed"""
    height: str | None = None
    """height of the platform joints above the base joints at home; default: that of the middle of
    the stroke
    """
    crank: str | None = None
    rod: str | None = None
    horns: str | None = None
    """arrangement of cranks: "mirrored" in pairs, or all the "same" way round; default: mirrored"""
    horn_angle: str | None = None
    """angle of level cranks from the tangent of the base circle: 0 deg along it, 90 deg outward,
    -90 deg inward
    """
    drive: str | None = None
    """drive of cranks: "servo", an RC servo of the speed and the torque given"""
    backlash: str | None = None
    """backlash of the servo"""
    stiffness: str | None = None
    """stiffness of a strut along its axis, or of the spring in series with an actuator"""
    damping: str | None = None
    speed: str | None = None
    force: str | None = None
    """largest force of an actuator; for cranks the torque"""
    payload: str | None = None
    plate_mass: str | None = None
    inertia: str | None = None
    """three principal moments of plate and payload about their centre of mass"""
    leg_mass: str | None = None

    @property
    def has_cranks(self) -> bool:
        """Whether motors turn cranks."""
        return self.takes("crank")

    @property
    def has_pairs(self) -> bool:
        """Whether the joints are three pairs on a circle, below and above."""
        return self.takes("base_spacing")

    def takes(self, name: str) -> bool:
        """Return whether the kind of the legs has a field."""
        return name in KIND_FIELDS[self.legs] or not any(
            name in sizes for sizes in KIND_FIELDS.values()
        )

    def unit(self, name: str) -> str:
        """Return the SI unit of a field that holds a number."""
        actuator_units = ROTARY_UNITS if self.has_cranks else LINEAR_UNITS
        return (FIELD_UNITS | actuator_units).get(name, LENGTH_UNIT)

    def moments(self) -> list[float] | None:
        """Return the three principal moments [kg m2]; None where they are not given.

        Raises:
            InputError: not three numbers with a unit of inertia, or no body has them.
        """
        if self.inertia is None:
            return None
        components = self.inertia.strip("[] ").split(",")
        if len(components) != 3:
            raise InputError(
                "inertia", "must be three moments, such as '2 kg m2, 2 kg m2, 3 kg m2'"
            )
        moments = [
            positive("inertia", component.strip(), self.unit("inertia")) for component in components
        ]
        if 2.0 * max(moments) > sum(moments) * (1.0 + 1e-9):
            raise InputError(
                "inertia", "no body has these: one moment exceeds the sum of the others"
            )
        return moments

    def si(self, name: str) -> float | None:
        """Return a field in SI; None where it is not given.

        Raises:
            InputError: no number with a unit of the right kind, or not above zero. Straight legs
                in pairs may hang: their height is below zero then.
        """
        text: str | None = getattr(self, name)
        if text is not None and self.hangs and name == "height":
            return -positive(name, text.strip().removeprefix("-"), LENGTH_UNIT)
        return None if text is None else positive(name, text, self.unit(name))

    @property
    def hangs(self) -> bool:
        """Whether the platform hangs below its base on straight legs."""
        straight = self.has_pairs and not self.has_cranks
        return straight and self.height is not None and self.height.strip().startswith("-")

    def spacing(self, side: str) -> tuple[str, float]:
        """Return which field of a paired circle gives a side's spacing, and its value in SI.

        Raises:
            InputError: it is neither an angle nor a distance.
        """
        name = f"{side}_spacing"
        text = getattr(self, name)
        for field, unit in (("spacing", ANGLE_UNIT), ("chord", LENGTH_UNIT)):
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
        """Return the names of the required fields that are not given."""
        required_names = [name for name in KIND_FIELDS[self.legs] if name not in OPTIONAL_FIELDS]
        if self.legs == "pillar" and (self.length or self.width):
            required_names = ["length", "width", "stroke"]
        missing_names = [name for name in required_names if getattr(self, name) is None]
        if self.takes("shortest") and self.shortest is None and self.height is None:
            missing_names.append("shortest")
        return missing_names

    def turn(self) -> float:
        """Return the angle [rad] of level cranks from the tangent of the base circle.

        Raises:
            InputError: it is no angle, or beyond 90 deg.
        """
        if self.horn_angle is None:
            return 0.0
        try:
            value = to_si(self.horn_angle, ANGLE_UNIT)
        except ValueError as error:
            raise InputError("horn_angle", str(error)) from None
        if abs(value) > math.pi / 2 + 1e-9:
            raise InputError("horn_angle", f"must be from -90 to 90 deg, got {self.horn_angle!r}")
        return value

    def _check_cranks(self) -> None:
        """Check the entries that only machines with cranks have."""
        self.turn()
        for name, allowed_values in FIELD_CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in allowed_values:
                raise InputError(name, f"must be {' or '.join(allowed_values)}, not {value!r}")
        if self.drive is None and self.backlash is not None:
            raise InputError("backlash", "belongs to a drive; give the drive servo too")
        for name in ("speed", "force"):
            if self.drive is not None and getattr(self, name) is None:
                raise InputError(name, "missing; a servo needs its speed and its stall torque")

    def check(self) -> None:
        """Raise an InputError unless the fields fit the kind of the legs and are all numbers."""
        for field in fields(self):
            if getattr(self, field.name) is not None and not self.takes(field.name):
                raise InputError(field.name, f"legs of kind {self.legs!r} have none; leave it out")
            if field.name not in OTHER_FIELDS:
                self.si(field.name)
        self._check_cranks()
        if self.legs == "pillar" and self.platform_radius and self.length:
            raise InputError(
                "platform_radius", "is for three pillars on a circle; leave it or the length out"
            )
        self.moments()
        if self.has_pairs:
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
