"""Viscoelastic legs: a spring and a damper in series with the actuator."""

from twin.machine.legs.kind import LegKind
from twin.machine.legs.ups.constants import home_frame
from twin.machine.legs.viscoelastic.constants import constants
from twin.machine.legs.viscoelastic.mechanism import ends, make_leg
from twin.machine.legs.viscoelastic.parameters import ViscoelasticLeg

VISCOELASTIC = LegKind(ViscoelasticLeg, constants, home_frame, ends, make_leg)
