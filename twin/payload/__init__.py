"""What rides on a platform: a seated occupant, with or without a wheelchair."""

from twin.payload.occupant import Occupant
from twin.payload.posture import SeatedPosture
from twin.payload.seating import seated_on
from twin.payload.segments import RigidSum, Segment, rigid_sum
from twin.payload.wheelchair import Wheelchair

__all__ = [
    "Occupant",
    "RigidSum",
    "SeatedPosture",
    "Segment",
    "Wheelchair",
    "rigid_sum",
    "seated_on",
]
