"""RSS legs: a crank, and a rod between two spherical joints."""

from twin.machine.legs.kind import LegKind
from twin.machine.legs.rss.constants import constants, home_frame
from twin.machine.legs.rss.mechanism import ends, make_leg
from twin.machine.legs.rss.parameters import RssLeg

RSS = LegKind(RssLeg, constants, home_frame, ends, make_leg)
