"""Struts: UPS legs with a spring and a damper beside the actuator."""

from twin.machine.legs.kind import LegKind
from twin.machine.legs.strut.constants import constants
from twin.machine.legs.strut.parameters import StrutLeg
from twin.machine.legs.ups.constants import home_frame
from twin.machine.legs.ups.mechanism import ends, make_leg

STRUT = LegKind(StrutLeg, constants, home_frame, ends, make_leg)
