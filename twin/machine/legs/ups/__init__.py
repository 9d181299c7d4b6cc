"""UPS legs: universal joint, prismatic actuator, spherical joint."""

from twin.machine.legs.kind import LegKind
from twin.machine.legs.ups.constants import constants, home_frame
from twin.machine.legs.ups.mechanism import ends, make_leg
from twin.machine.legs.ups.parameters import UpsLeg

UPS = LegKind(UpsLeg, constants, home_frame, ends, make_leg)
