"""RRS legs: a crank, a rod on a second hinge, a ball joint. Their parameters and mechanism."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from twin.machine.legs.leg import LegGeometry, LegKind
from twin.machine.legs.planes import PlanarLeg
from twin.machine.legs.rss import constants, home_frame
from twin.machine.legs.rss.mechanism import ends
from twin.machine.legs.rss.mechanism import make_leg as make_spherical_leg
from twin.machine.legs.rss.parameters import RssLeg
from twin.machine.mechanism import Drawing, Joint, LegMechanism


class RrsLeg(PlanarLeg, RssLeg):
    """A crank, and a rod on a hinge parallel to the crank's; the leg moves in one plane."""

    equations: ClassVar[str] = "rrs"
    hinge_field: ClassVar[str] = "axis"

    kind: Literal["rrs"] = Field("rrs", description="Kind of leg")  # type: ignore[assignment]


def make_leg(leg: RrsLeg, place: LegGeometry, look: Drawing) -> LegMechanism:
    """Return the leg: crank, elbow, loop from the rod's tip to the platform."""
    made = make_spherical_leg(leg, place, look)
    crank, rod = made.bodies
    axis = (np.asarray(crank.rotation) @ np.asarray(rod.rotation)).T @ leg.home_axis(place)
    hinge = Joint(f"leg_{place.number}_first", "hinge", axis)
    return made._replace(
        joints=(made.joints[0], hinge.name), bodies=(crank, rod._replace(joints=(hinge,)))
    )


RRS_KIND = LegKind(RrsLeg, constants, home_frame, ends, make_leg)
