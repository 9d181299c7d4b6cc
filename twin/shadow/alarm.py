"""Alarms: fault of a machine, its leg and size, and the parts to look at."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["friction", "backlash", "counts", "payload", "sensor", "overload", "silence"]
"""Faults of the machine, and samples that do not come any more."""

KINDS: tuple[Kind, ...] = ("friction", "backlash", "counts", "payload", "sensor", "overload")
"""In the order of the field `alarms` of an estimate."""

LOOK_AT: dict[Kind, str] = {
    "friction": "lubrication, screw and bearings of the leg; temperature of the motor",
    "backlash": "nut, gear and couplings of the leg; play of its joints",
    "counts": "encoder cable, shield and scale of the leg; home the machine before going on",
    "payload": "what is on the platform, and the mass that controller and model are told",
    "sensor": "cable, supply and mounting of the sensor; stop the machine",
    "overload": "what pushes the platform: a collision, a jam, a load beyond the rating",
    "silence": "whether controller and sender still run; network and cable between",
}


class Alarm(NamedTuple):
    """One alarm, raised once."""

    time: float
    """[s] of the sample"""
    kind: Kind
    leg: int | None
    """from 1; None for the machine as a whole"""
    size: float
    """estimate of what has changed"""
    unit: str
    note: str = ""
    """which sensor, or what kind of load"""

    @property
    def look_at(self) -> str:
        """Parts of the machine to look at."""
        return LOOK_AT[self.kind]

    def __str__(self) -> str:
        where = "machine" if self.leg is None else f"leg {self.leg}"
        note = f" ({self.note})" if self.note else ""
        return f"{self.time:.3f} s: {self.kind}, {where}, {self.size:.4g} {self.unit}{note}"
