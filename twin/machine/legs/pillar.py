"""A pillar: an actuator fixed at a right angle below the plate, on a foot in the ground plane."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from twin.basics.arrays import FloatArray
from twin.machine.actuator import LinearActuator
from twin.machine.legs.appearance import PillarAppearance
from twin.machine.legs.driven import LinearLeg
from twin.machine.legs.place import COINCIDENT, LegPlace, LegProblem
from twin.machine.quantity import Damping, Force, Mass, Speed, Whole
from twin.machine.table import Table


class FootFriction(Table):
    """Friction of a sliding foot: -(viscous + coulomb / sqrt(v^2 + transition_speed^2)) v."""

    viscous: Damping = Field(ge=0, description="Viscous friction")
    coulomb: Force = Field(0.0, ge=0, description="Dry friction once the foot slides")
    transition_speed: Speed = Field(
        1e-3, gt=0, description="Speed about which dry friction changes its sign smoothly"
    )


class PillarLeg(LinearLeg):
    """Actuator perpendicular to the plate; its foot slides in the ground plane or is fixed there.

    One foot is fixed, on a universal joint with its first axis along x of the base and the second
    along y of the plate. The actuator coordinate is the length from the foot to the plate's corner.
    Three or more pillars leave heave, roll and pitch.
    """

    coordinate: ClassVar[str] = "length"
    """What the actuator coordinate is, for messages"""
    dof: ClassVar[int] = 3
    """Degrees of freedom of a platform on legs of this kind"""

    kind: Literal["pillar"] = Field("pillar", description="Kind of leg")
    fixed_foot: Whole = Field(description="Leg (from 1) whose foot is fixed to the ground")
    upper_mass: Mass = Field(gt=0, description="Mass that moves with the plate, at its corner")
    foot_mass: Mass = Field(gt=0, description="Mass that moves with the foot")
    friction: FootFriction | None = Field(
        None, description="Friction of the sliding feet; leave out for none"
    )
    actuator: LinearActuator = Field(description="The actuator between foot and corner")
    appearance: PillarAppearance | None = Field(None, description="Dimensions for drawing")

    def home_axis(self, place: LegPlace) -> FloatArray:
        """Return the axis `(3,)` of the fixed foot that is fixed in the base: x."""
        return np.array([1.0, 0.0, 0.0])

    def home_coordinate(self, place: LegPlace) -> float:
        """Return the actuator coordinate at home: the pillar's length [m], NaN on a vertical plate.

        The foot lies below the corner along the plate's normal n, at the height of the base joint.
        """
        return float(place.vector[2] / place.normal[2]) if place.normal[2] > 0 else np.nan

    def home_row(self, place: LegPlace) -> FloatArray:
        """Return the row `(6,)` of the Jacobian at home: length rate = row @ twist."""
        upward = np.array([0.0, 0.0, 1.0]) / place.normal[2]
        return np.concatenate([upward, np.cross(self._foot(place), upward)])

    def home_constraints(self, place: LegPlace, side: FloatArray) -> FloatArray:
        """Return rows `(3, 6)` with row @ twist = 0 that a fixed foot adds at home.

        The foot does not move along x and y, and the plate's y axis `side` stays at a right angle
        to x of the base.
        """
        foot, row = self._foot(place), self.home_row(place)
        rows = [np.concatenate([axis, np.cross(foot, axis)]) for axis in np.eye(3)[:2]]
        rows = [held - place.normal[i] * row for i, held in enumerate(rows)]
        turning = np.concatenate([np.zeros(3), np.cross(side, [1.0, 0.0, 0.0])])
        return np.stack([*rows, turning])

    def home_problem(self, place: LegPlace) -> LegProblem | None:
        """Return why the leg cannot be at home, None if it can."""
        length = self.home_coordinate(place)
        if not length > COINCIDENT:
            return LegProblem(".home.position", "its foot is not below its corner of the plate")
        foot = place.base + place.vector - length * place.normal
        if np.linalg.norm(foot - place.base) > COINCIDENT:
            point = ", ".join(f"{value:.6g}" for value in foot)
            return LegProblem(
                ".base.joints",
                "pillars are perpendicular to the plate: at home its foot must be at "
                f"[{point}], below its corner",
            )
        return None

    def _foot(self, place: LegPlace) -> FloatArray:
        """Return the vector `(3,)` [m] from the reference point to the foot at home."""
        return np.asarray(place.arm - self.home_coordinate(place) * place.normal)

    @property
    def mass(self) -> float:
        """Mass [kg] of the whole leg."""
        return self.upper_mass + self.foot_mass
