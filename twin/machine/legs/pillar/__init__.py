"""Pillars: actuators square to the platform, on feet on the floor."""

from twin.machine.legs.kind import LegKind
from twin.machine.legs.pillar.constants import constants, home_frame
from twin.machine.legs.pillar.mechanism import carry, ends, make_leg
from twin.machine.legs.pillar.parameters import PillarLeg

PILLAR = LegKind(PillarLeg, constants, home_frame, ends, make_leg, carry)
