"""Payloads of a platform: a seated occupant, with or without a wheelchair."""

from twin.machine.payload.occupant import Occupant
from twin.machine.payload.posture import SeatedPosture
from twin.machine.payload.seating import seated_on
from twin.machine.payload.segments import RigidSum, Segment, rigid_sum
from twin.machine.payload.wheelchair import Wheelchair

__all__ = [
    "Occupant",
    "RigidSum",
    "SeatedPosture",
    "Segment",
    "Wheelchair",
    "rigid_sum",
    "seated_on",
]
