"""Pillars: legs with an actuator at a right angle below the plate, on a foot in the ground plane.

The module has their parameters, masses and mechanism.

The tree has no redundant constraint: the fixed foot's pillar stands on two hinges and carries the
plate on its slide. The rods of the others slide out of the plate, and the lower end of each is on a
light carriage that slides along x and y of the base.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from twin.basics import canonical
from twin.basics.arrays import FloatArray
from twin.machine.hardware.drive import LinearActuator
from twin.machine.legs.leg import (
    COINCIDENCE_DISTANCE,
    Constants,
    LegGeometry,
    LegKind,
    LegProblem,
    LegThickness,
    LinearLeg,
    check_numbers,
)
from twin.machine.mechanism import (
    BASE_NAME,
    ORIGIN,
    PLATFORM_NAME,
    Z_AXIS,
    Actuator,
    Body,
    Cylinder,
    Drawing,
    Ends,
    Friction,
    Joint,
    LegMechanism,
    Loop,
    Point,
    Shape,
    Sphere,
    limits,
    point_mass,
)
from twin.machine.quantity import Damping, Force, Length, Mass, Speed, Table, Whole, problem

MAX_YAW = 1e-9
"""Largest component of the plate's y axis along x of the base that the fixed foot allows, but for
rounding.
"""

CARRIAGE_MASS_FRACTION = 0.25
"""Fraction of the foot's mass that is on the carriage; the rest is on the end of the rod."""


class FootFriction(Table):
    """Friction of a sliding foot: -(viscous + coulomb / sqrt(v^2 + transition_speed^2)) v."""

    viscous: Damping = Field(ge=0, description="Viscous friction")
    coulomb: Force = Field(0.0, ge=0, description="Dry friction once the foot slides")
    transition_speed: Speed = Field(
        1e-3,
        gt=0,
        description="Speed at which dry friction, zero at rest, reaches 0.71 of its full value",
    )


class PillarAppearance(Table):
    """A strut below the plate and the foot it stands on."""

    strut_radius: Length = Field(gt=0, description="Radius of the strut")
    foot_radius: Length = Field(gt=0, description="Radius of the foot's disc")


class PillarLeg(LinearLeg):
    """Actuator perpendicular to the plate; its foot slides in the ground plane or is fixed there.

    One foot is fixed, on a universal joint with its first axis along x of the base and the second
    along y of the plate. The actuator coordinate is the length from the foot to the plate's corner.
    Three or more pillars leave heave, roll and pitch.
    """

    definition: ClassVar[str] = (
        "the height of the plate's joint above its foot, square to the plate"
    )
    dof: ClassVar[int] = 3
    equations: ClassVar[str] = "pillar"
    has_foot: ClassVar[bool] = True

    kind: Literal["pillar"] = Field("pillar", description="Kind of leg")
    fixed_foot: Whole = Field(description="Leg (from 1) whose foot is fixed to the ground")
    upper_mass: Mass = Field(ge=0, description="Mass that moves with the plate, at its corner")
    foot_mass: Mass = Field(ge=0, description="Mass that moves with the foot")
    friction: FootFriction | None = Field(
        None, description="Friction of the sliding feet; leave out for none"
    )
    actuator: LinearActuator = Field(description="The actuator between foot and corner")
    appearance: PillarAppearance | None = Field(None, description="Dimensions for drawing")

    def home_axis(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the axis `(3,)` of the fixed foot that is fixed in the base: x."""
        return np.array([1.0, 0.0, 0.0])

    def home_coordinate(self, leg_geometry: LegGeometry) -> float:
        """Return the actuator coordinate at home: the pillar's length [m], NaN on a vertical plate.

        The foot lies below the corner along the plate's normal n, at the height of the base joint.
        """
        return (
            float(leg_geometry.vector[2] / leg_geometry.normal[2])
            if leg_geometry.normal[2] > 0
            else np.nan
        )

    def home_row(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the row `(6,)` of the Jacobian at home: length rate = row @ twist."""
        upward = np.array([0.0, 0.0, 1.0]) / leg_geometry.normal[2]
        return np.concatenate([upward, np.cross(self._foot(leg_geometry), upward)])

    def home_constraints(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return rows `(3, 6)` that the fixed foot adds at home: row @ twist = 0; else none.

        The foot does not move along x and y, and the plate's y axis stays at a right angle to x of
        the base.
        """
        if leg_geometry.number != self.fixed_foot:
            return super().home_constraints(leg_geometry)
        foot, row = self._foot(leg_geometry), self.home_row(leg_geometry)
        rows = [np.concatenate([axis, np.cross(foot, axis)]) for axis in np.eye(3)[:2]]
        rows = [constraint - leg_geometry.normal[i] * row for i, constraint in enumerate(rows)]
        turning_row = np.concatenate(
            [np.zeros(3), np.cross(leg_geometry.rotation[:, 1], [1.0, 0.0, 0.0])]
        )
        return np.stack([*rows, turning_row])

    def home_problem(self, leg_geometry: LegGeometry) -> LegProblem | None:
        """Return why the leg cannot be at home, None if it can."""
        length = self.home_coordinate(leg_geometry)
        if not length > COINCIDENCE_DISTANCE:
            return LegProblem(".home.position", "its foot is not below its corner of the plate")
        foot = leg_geometry.base + leg_geometry.vector - length * leg_geometry.normal
        if np.linalg.norm(foot - leg_geometry.base) > COINCIDENCE_DISTANCE:
            point = ", ".join(f"{value:.6g}" for value in foot)
            return LegProblem(
                ".base.joints",
                "pillars are perpendicular to the plate: at home its foot must be at "
                f"[{point}], below its corner",
            )
        return None

    def _foot(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the vector `(3,)` [m] from the reference point to the foot at home."""
        return np.asarray(
            leg_geometry.arm - self.home_coordinate(leg_geometry) * leg_geometry.normal
        )

    @property
    def mass(self) -> float:
        """Mass [kg] of the whole leg."""
        return self.upper_mass + self.foot_mass

    @property
    def platform_mass(self) -> float:
        """Mass [kg] that moves with the plate, at its corner."""
        return self.upper_mass

    @property
    def thickness(self) -> LegThickness | None:
        """Thickness of the strut as drawn."""
        if self.appearance is None:
            return None
        radius = self.appearance.strut_radius
        return LegThickness(radius, radius, self.actuator.minimum)

    @property
    def resists_motion(self) -> bool:
        """Whether the foot has friction."""
        return self.friction is not None

    @classmethod
    def check_together(
        cls, tables: Sequence[tuple[str, Self]], leg_geometries: Sequence[LegGeometry]
    ) -> None:
        """Raise a problem unless one foot is fixed, and floor, plate and corners suit pillars."""
        count = len(leg_geometries)
        for table, leg in tables:
            foot = leg.fixed_foot
            check_numbers(f"{table}.fixed_foot", [foot], count)
            if foot != tables[0][1].fixed_foot:
                raise problem(
                    f"{table}.fixed_foot", "one foot is fixed, for all legs alike; remove it"
                )
        yaw = leg_geometries[0].rotation[0, 1]
        if abs(yaw) > MAX_YAW:
            raise problem(
                "home.orientation",
                "pillars only roll and pitch: the plate's y axis must be at a right angle to x of "
                f"the base, but has {yaw:.3g} of it; with w, x, y, z of the quaternion make "
                "w z = x y",
            )
        _check_floor([leg_geometry.base[2] for leg_geometry in leg_geometries])
        _check_corners(
            np.array([leg_geometry.joint for leg_geometry in leg_geometries]),
            leg_geometries[0].rotation,
        )


def _check_floor(heights: Sequence[float]) -> None:
    """Check that all feet stand in one horizontal plane."""
    for number, height in enumerate(heights, start=1):
        if abs(height - heights[0]) > COINCIDENCE_DISTANCE:
            raise problem(
                "base.joints",
                f"all feet stand in one horizontal plane, but foot {number} is "
                f"{height - heights[0]:.6g} m above foot 1; give all the same z",
            )


def _check_corners(corners: FloatArray, rotation: FloatArray) -> None:
    """Check that the corners of the plate are not on one line."""
    principal_axes = np.linalg.svd(corners - corners.mean(axis=0))
    if principal_axes.S[1] < COINCIDENCE_DISTANCE:
        direction = rotation @ canonical.with_signs(principal_axes.Vh[:1].T)[:, 0]
        direction_text = ", ".join(f"{value:.3g}" for value in direction)
        raise problem(
            "platform.joints",
            f"the corners of legs 1 to {len(corners)} lie on one line: nothing holds turning about "
            f"the direction [{direction_text}]; move one off it",
        )


def ends(leg: PillarLeg) -> Ends:
    """Return the sizes drawn at the leg's ends: a disc below the foot; the other end is hidden."""
    sizes = appearance(leg)
    return Ends(0.5 * sizes.foot_radius, 0.0, margin=1.6 * sizes.strut_radius, rise=0.0)


def carry(leg: PillarLeg, leg_geometry: LegGeometry, platform: Body) -> Body:
    """Return the platform on the slide of the pillar whose foot is fixed."""
    if leg_geometry.number != leg.fixed_foot:
        return platform
    length = leg.home_coordinate(leg_geometry)
    name = f"leg_{leg_geometry.number}"
    slide = Joint(f"{name}_actuator", "slide", Z_AXIS, limits=limits(leg.actuator, length))
    foot_to_corner = length * Z_AXIS - leg_geometry.joint
    return platform._replace(
        parent=f"{name}_pillar", position=foot_to_corner, rotation=None, joints=(slide,), free=False
    )


def make_leg(leg: PillarLeg, leg_geometry: LegGeometry, drawing: Drawing) -> LegMechanism:
    """Return the leg: on two hinges if its foot is fixed, else on a carriage."""
    name, sizes = f"leg_{leg_geometry.number}", appearance(leg)
    corner = leg_geometry.joint
    tube = 0.6 * leg.actuator.minimum * Z_AXIS
    upper = Body(
        f"{name}_upper",
        PLATFORM_NAME,
        corner,
        mass=point_mass(leg.upper_mass),
        shapes=(Cylinder(f"{name}_tube", "housing", sizes.strut_radius, -tube, ORIGIN),),
    )
    if leg_geometry.number == leg.fixed_foot:
        return _standing(leg, leg_geometry, upper)
    return _sliding(leg, leg_geometry, upper)


def _standing(leg: PillarLeg, leg_geometry: LegGeometry, upper: Body) -> LegMechanism:
    """Return the pillar on two hinges, about x of the base and about y of the plate."""
    name, rotation = f"leg_{leg_geometry.number}", leg_geometry.rotation
    first_hinge = Joint(
        f"{name}_first", "hinge", rotation.T @ leg.home_axis(leg_geometry), f"{name}_cross"
    )
    second_hinge = Joint(f"{name}_second", "hinge", np.eye(3)[1])
    pillar = Body(
        f"{name}_pillar",
        BASE_NAME,
        leg_geometry.base,
        rotation,
        (first_hinge, second_hinge),
        shapes=_rod_shapes(name, leg),
    )
    slide = f"{name}_actuator"
    return LegMechanism(
        (first_hinge.name, second_hinge.name, slide),
        (pillar, upper),
        Actuator(f"{name}_force", slide, (slide,)),
        (Point(f"{name}_tip", pillar.name, ORIGIN),),
        (),
        base_shapes=(_disc(name, leg, leg_geometry.base),),
    )


def _sliding(leg: PillarLeg, leg_geometry: LegGeometry, upper: Body) -> LegMechanism:
    """Return the pillar whose rod slides out of the plate down to its carriage."""
    name, length = f"leg_{leg_geometry.number}", leg.home_coordinate(leg_geometry)
    slide = Joint(f"{name}_actuator", "slide", -Z_AXIS, limits=limits(leg.actuator, length))
    rod = Body(
        f"{name}_rod",
        PLATFORM_NAME,
        leg_geometry.joint - length * Z_AXIS,
        joints=(slide,),
        mass=point_mass((1.0 - CARRIAGE_MASS_FRACTION) * leg.foot_mass),
        shapes=_rod_shapes(name, leg),
    )
    along = (
        Joint(f"{name}_foot_x", "slide", np.eye(3)[0], f"{name}_rail"),
        Joint(f"{name}_foot_y", "slide", np.eye(3)[1]),
    )
    carriage = Body(
        f"{name}_carriage",
        BASE_NAME,
        leg_geometry.base,
        joints=along,
        mass=point_mass(CARRIAGE_MASS_FRACTION * leg.foot_mass),
        shapes=(_disc(name, leg, ORIGIN),),
    )
    feet, friction = (along[0].name, along[1].name), leg.friction
    frictions: tuple[Friction, ...] = ()
    if friction is not None:
        coefficients = (friction.viscous, friction.coulomb, friction.transition_speed)
        frictions = (Friction(feet, *coefficients),)
    return LegMechanism(
        (*feet, slide.name),
        (upper, rod, carriage),
        Actuator(f"{name}_force", slide.name, (slide.name,)),
        (
            Point(f"{name}_tip", rod.name, ORIGIN),
            Point(f"{name}_foot", carriage.name, ORIGIN),
        ),
        (Loop(f"{name}_loop", f"{name}_tip", f"{name}_foot"),),
        frictions=frictions,
    )


def _rod_shapes(name: str, leg: PillarLeg) -> tuple[Shape, ...]:
    sizes = appearance(leg)
    lower_end = 0.9 * leg.actuator.minimum * Z_AXIS
    return (
        Cylinder(f"{name}_shaft", "rod", 0.65 * sizes.strut_radius, ORIGIN, lower_end),
        Sphere(f"{name}_base_ball", "joint", sizes.strut_radius, ORIGIN),
    )


def _disc(name: str, leg: PillarLeg, foot: FloatArray) -> Cylinder:
    radius = appearance(leg).foot_radius
    bottom, top = foot - 0.65 * radius * Z_AXIS, foot - 0.35 * radius * Z_AXIS
    return Cylinder(f"{name}_disc", "joint", radius, bottom, top)


def appearance(leg: PillarLeg) -> PillarAppearance:
    """Return the drawn dimensions from the file, else those of a slender pillar."""
    if leg.appearance is not None:
        return leg.appearance
    width = 0.12 * leg.actuator.minimum
    return PillarAppearance(
        source="derived from the leg's length", strut_radius=width, foot_radius=2.0 * width
    )


def constants(leg: PillarLeg, leg_geometry: LegGeometry) -> Constants:
    """Return the constants for the equations: whether the foot is fixed, its mass and friction."""
    friction = leg.friction
    return {
        "foot_is_fixed": float(leg_geometry.number == leg.fixed_foot),
        "foot_mass": leg.foot_mass,
        "viscous": friction.viscous if friction else 0.0,
        "coulomb": friction.coulomb if friction else 0.0,
        "transition_speed": friction.transition_speed if friction else 1.0,
    }


def home_frame(leg: PillarLeg, leg_geometry: LegGeometry) -> FloatArray:
    """Return roll and pitch [rad] of the platform at home, and seven zeros."""
    x, y, z = leg_geometry.normal
    return np.array([np.arctan2(-y, z), np.arctan2(x, np.hypot(y, z)), *np.zeros(7)])


PILLAR_KIND = LegKind(PillarLeg, constants, home_frame, ends, make_leg, carry)
