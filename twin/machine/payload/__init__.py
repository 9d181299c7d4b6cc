"""Payloads of a platform: a seated occupant, with or without a wheelchair."""

from twin.machine.payload.occupant import Occupant, SeatedPosture, Wheelchair
from twin.machine.payload.seating import seated_on
from twin.machine.payload.segments import RigidSum, Segment, rigid_sum

__all__ = [
    "Occupant",
    "RigidSum",
    "SeatedPosture",
    "Segment",
    "Wheelchair",
    "rigid_sum",
    "seated_on",
]
