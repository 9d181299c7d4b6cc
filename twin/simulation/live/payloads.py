"""Who rides on a live machine: occupants by name, as rigid mass of the platform."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from twin.machine.payload import Occupant, Wheelchair, seated_on
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
        MachineNotFoundError: neither a known name nor a file.
        ParameterError: the file cannot be used.
    """
    platform, person = load(machine, configuration), occupant(payload)
    return platform if person is None else Platform(seated_on(platform.parameters, person))
