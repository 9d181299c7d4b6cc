"""Payloads of a platform: a seated occupant, with or without a wheelchair."""

from twin.machine.payload.anthropometry import RigidSum, Segment, rigid_sum
from twin.machine.payload.occupant import Occupant, SeatedPosture, Wheelchair, seated_on

__all__ = [
    "Occupant",
    "RigidSum",
    "SeatedPosture",
    "Segment",
    "Wheelchair",
    "rigid_sum",
    "seated_on",
]
