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


def make_leg(leg: RrsLeg, leg_geometry: LegGeometry, drawing: Drawing) -> LegMechanism:
    """Return the leg: crank, elbow, loop from the rod's tip to the platform."""
    spherical_leg = make_spherical_leg(leg, leg_geometry, drawing)
    crank, rod = spherical_leg.bodies
    axis = (np.asarray(crank.rotation) @ np.asarray(rod.rotation)).T @ leg.home_axis(leg_geometry)
    hinge = Joint(f"leg_{leg_geometry.number}_first", "hinge", axis)
    return spherical_leg._replace(
        joints=(spherical_leg.joints[0], hinge.name), bodies=(crank, rod._replace(joints=(hinge,)))
    )


RRS_KIND = LegKind(RrsLeg, constants, home_frame, ends, make_leg)
