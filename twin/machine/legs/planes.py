"""Legs that begin with a hinge, which holds the tip in a plane: what the kinds of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.legs.leg import (
    COINCIDENCE_DISTANCE,
    Leg,
    LegGeometry,
    LegProblem,
)
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
