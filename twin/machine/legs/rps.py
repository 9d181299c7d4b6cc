"""RPS legs: hinge, prismatic actuator, spherical joint. The module has parameters and mechanism."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from twin.machine.legs.leg import JointAxis, LegGeometry, LegKind
from twin.machine.legs.planes import PlanarLeg
from twin.machine.legs.ups import constants, home_frame
from twin.machine.legs.ups.mechanism import ends
from twin.machine.legs.ups.mechanism import make_leg as make_universal_leg
from twin.machine.legs.ups.parameters import UpsLeg
from twin.machine.mechanism import Drawing, Joint, LegMechanism


class RpsLeg(PlanarLeg, UpsLeg):
    """A hinge below, prismatic actuator, spherical joint on top; the leg moves in one plane.

    The leg frame is that of UPS legs with the hinge's axis as first axis: y along the hinge.
    """

    equations: ClassVar[str] = "rps"
    hinge_field: ClassVar[str] = "first_axis"

    kind: Literal["rps"] = Field("rps", description="Kind of leg")  # type: ignore[assignment]
    first_axis: JointAxis = Field(
        description="Axis of the hinge in the base frame, at a right angle to the leg: a "
        "direction, or 'horizontal' for the horizontal one perpendicular to each leg at home"
    )


def make_leg(leg: RpsLeg, leg_geometry: LegGeometry, drawing: Drawing) -> LegMechanism:
    """Return the leg: hinge, slide, loop from the rod's tip to the platform."""
    universal_leg = make_universal_leg(leg, leg_geometry, drawing)
    housing, rod = universal_leg.bodies
    slide_name = universal_leg.joints[-1]
    # In the frame of the housing; `home_axis` is in that of the base.
    axis = np.asarray(housing.rotation).T @ leg.home_axis(leg_geometry)
    hinge = Joint(f"leg_{leg_geometry.number}_first", "hinge", axis)
    return universal_leg._replace(
        joints=(hinge.name, slide_name),
        bodies=(housing._replace(joints=(hinge,)), rod),
    )


RPS_KIND = LegKind(RpsLeg, constants, home_frame, ends, make_leg)
