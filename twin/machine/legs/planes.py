"""RPS and RRS legs, which begin with a hinge that holds the tip in a plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from twin.basics.arrays import FloatArray
from twin.machine.legs import rss, ups
from twin.machine.legs.leg import (
    COINCIDENCE_DISTANCE,
    JointAxis,
    Leg,
    LegGeometry,
    LegKind,
    LegProblem,
)
from twin.machine.mechanism import Drawing, Joint, LegMechanism
from twin.machine.quantity import problem

LEG_COUNT = 3
"""Number of legs: each holds one of the three freedoms that height, roll and pitch leave."""


class PlanarLeg(Leg):
    """A leg on a hinge, whose tip moves in the plane at a right angle to the hinge's axis.

    Three of them leave the platform height, roll and pitch. Its place along x and y and its turn
    about the normal follow from these.
    """

    dof: ClassVar[int] = 3
    hinge_field: ClassVar[str]
    """Field that gives the hinge's axis"""

    def home_constraints(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the row `(1, 6)` that keeps the tip in its plane at home: row @ twist = 0."""
        axis = self.home_axis(leg_geometry)
        return np.concatenate([axis, np.cross(leg_geometry.arm, axis)])[None]

    def home_problem(self, leg_geometry: LegGeometry) -> LegProblem | None:
        """Return why the leg cannot be at home, None if it can."""
        problem_found = super().home_problem(leg_geometry)  # type: ignore[safe-super]
        if problem_found is not None:
            return problem_found
        distance = float(self.home_axis(leg_geometry) @ leg_geometry.vector)
        if abs(distance) > COINCIDENCE_DISTANCE:
            return LegProblem(
                self.hinge_field,
                "its hinge lets its platform joint move in a plane, but at home that joint is "
                f"{abs(distance):.6g} m beside it: turn the axis to a right angle with the leg, or "
                "move the joint",
            )
        return None

    @classmethod
    def check_together(
        cls, tables: Sequence[tuple[str, Self]], leg_geometries: Sequence[LegGeometry]
    ) -> None:
        """Raise a problem unless there are three legs."""
        kind, count = tables[0][1].kind, len(leg_geometries)
        if count != LEG_COUNT:
            raise problem(
                "base.joints",
                f"three legs of kind {kind!r} leave height, roll and pitch free; {count} are given",
            )


class RpsLeg(PlanarLeg, ups.UpsLeg):
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


def make_rps_leg(leg: RpsLeg, leg_geometry: LegGeometry, drawing: Drawing) -> LegMechanism:
    """Return the leg: hinge, slide, loop from the rod's tip to the platform."""
    universal_leg = ups.make_leg(leg, leg_geometry, drawing)
    housing, rod = universal_leg.bodies
    slide_name = universal_leg.joints[-1]
    # In the frame of the housing; `home_axis` is in that of the base.
    axis = np.asarray(housing.rotation).T @ leg.home_axis(leg_geometry)
    hinge = Joint(f"leg_{leg_geometry.number}_first", "hinge", axis)
    return universal_leg._replace(
        joints=(hinge.name, slide_name),
        bodies=(housing._replace(joints=(hinge,)), rod),
    )


RPS_KIND = LegKind(RpsLeg, ups.constants, ups.home_frame, ups.ends, make_rps_leg)


class RrsLeg(PlanarLeg, rss.RssLeg):
    """A crank, and a rod on a hinge parallel to the crank's; the leg moves in one plane."""

    equations: ClassVar[str] = "rrs"
    hinge_field: ClassVar[str] = "axis"

    kind: Literal["rrs"] = Field("rrs", description="Kind of leg")  # type: ignore[assignment]


def make_rrs_leg(leg: RrsLeg, leg_geometry: LegGeometry, drawing: Drawing) -> LegMechanism:
    """Return the leg: crank, elbow, loop from the rod's tip to the platform."""
    spherical_leg = rss.make_leg(leg, leg_geometry, drawing)
    crank, rod = spherical_leg.bodies
    # In the frame of the rod; `home_axis` is in that of the base.
    axis = (np.asarray(crank.rotation) @ np.asarray(rod.rotation)).T @ leg.home_axis(leg_geometry)
    hinge = Joint(f"leg_{leg_geometry.number}_first", "hinge", axis)
    return spherical_leg._replace(
        joints=(spherical_leg.joints[0], hinge.name), bodies=(crank, rod._replace(joints=(hinge,)))
    )


RRS_KIND = LegKind(RrsLeg, rss.constants, rss.home_frame, rss.ends, make_rrs_leg)
