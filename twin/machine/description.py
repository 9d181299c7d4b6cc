"""The tables of a platform.toml: base, platform, home pose and legs, and what follows from them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
from pydantic import Field, field_validator, model_validator

from twin.basics.arrays import FloatArray, read_only, rotation_matrix, without
from twin.machine.body import RigidBody
from twin.machine.file.configuration import Configurations
from twin.machine.file.drawing import Appearance
from twin.machine.hardware.drive import AnyDrive, CascadeGains, InertialSensor
from twin.machine.layout.joints import Home, JointLayout
from twin.machine.legs import LEG_KINDS
from twin.machine.legs.leg import Leg, LegGeometry, check_numbers
from twin.machine.mobility import dependent_rows, scaled
from twin.machine.quantity import Acceleration, Length, Table, Whole, merged, problem

if TYPE_CHECKING:
    AnyLeg = Leg
else:
    PARAMETERS = [kind.parameters for kind in LEG_KINDS.values()]
    AnyLeg = Annotated[reduce(or_, PARAMETERS), Field(discriminator="kind")]
    """One leg, of the kind that its field `kind` names."""

NAME_PATTERN = r"[a-z][a-z0-9_]{0,63}"
"""Pattern of machine names, which become file, package and element names."""


class Variant(Table):
    """Legs that differ from the others.

    In a file its other entries are those of `[leg]` that differ; here `leg` is the complete leg.
    """

    legs: tuple[Whole, ...] = Field(min_length=1, description="Legs (from 1) that differ")
    leg: AnyLeg = Field(description="The complete leg")


def complete_variants(content: Any) -> Any:
    """Return the content of a file whose variants hold complete legs instead of differences.

    Complete variants stay as they are, and so do entries that are no tables, which validation
    refuses later. Without a table `[leg]` the variants are dropped: validation then reports the
    missing `[leg]` alone.
    """
    if not isinstance(content, dict) or "variant" not in content:
        return content
    leg, variants = content.get("leg"), content["variant"]
    if not isinstance(variants, (list, tuple)):
        raise problem("variant", "must be a list of tables, each headed [[variant]]")
    if not isinstance(leg, dict):
        return without(content, "variant")
    return content | {"variant": [_complete(i, leg, entry) for i, entry in enumerate(variants)]}


def _complete(index: int, leg: dict[str, Any], variant: Any) -> Any:
    """Return a variant with the whole table of its legs: those of all, with its changes."""
    if not isinstance(variant, dict) or "leg" in variant:
        return variant
    leg_changes = without(variant, "legs", "source")
    kind = leg_changes.get("kind", leg.get("kind"))
    if kind != leg.get("kind"):
        raise problem(
            f"variant.{index}.kind",
            f"all legs of a machine are of one kind, {leg.get('kind')!r}; remove it",
        )
    frame = {key: variant[key] for key in ("legs", "source") if key in variant}
    return frame | {"leg": merged(leg, leg_changes, variant.get("source"))}


def check_variants(variants: tuple[Variant, ...], count: int) -> None:
    """Raise a problem unless variants name only legs 1 to `count`, each in one variant."""
    variant_of_leg: dict[int, int] = {}
    for index, variant in enumerate(variants):
        check_numbers(f"variant.{index}.legs", variant.legs, count)
        for number in variant.legs:
            if number in variant_of_leg:
                raise problem(
                    f"variant.{index}.legs", f"leg {number} is listed before; list each leg once"
                )
            variant_of_leg[number] = index


class Base(Table):
    """The fixed side."""

    joints: JointLayout = Field(description="Centres of the base joints in the base frame")


class MovingPlatform(Table):
    """The moving side: its body, and where the legs meet it."""

    joints: JointLayout = Field(description="Centres of the platform joints in the platform frame")
    body: RigidBody = Field(description="Platform with everything fixed to it; platform frame")
    thickness: Length = Field(0.03, gt=0, description="Thickness of the plate, for drawing only")


class MachineDescription(Table):
    """Everything a platform.toml says about one machine; each table is checked by itself alone."""

    name: str = Field(description="Short name: lower-case letters, digits and underscores")
    title: str = Field(min_length=1, description="One line that says what the machine is")
    gravity: Acceleration = Field(ge=0, description="Gravity along -z of the base frame")
    base: Base = Field(description="The fixed side")
    platform: MovingPlatform = Field(description="The moving side")
    home: Home = Field(description="Pose at rest")
    leg: AnyLeg = Field(description="The legs, or what most of them are")
    variant: tuple[Variant, ...] = Field((), description="Legs that differ from the others")
    control: CascadeGains | None = Field(
        None, description="Gains of the machine's controller; leave out for derived ones"
    )
    imu: InertialSensor | None = Field(
        None, description="Inertial sensor on the platform; leave out for none"
    )
    appearance: Appearance | None = Field(None, description="Drawing of the platform")
    configuration: Configurations | None = Field(None, description="Configurations of the file")

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, content: Any) -> Any:
        return complete_variants(content)

    @field_validator("name")
    @classmethod
    def _plain(cls, value: str) -> str:
        if not re.fullmatch(NAME_PATTERN, value):
            raise ValueError(
                "must be at most 64 lower-case letters, digits and underscores, a letter first"
            )
        return value

    @property
    def legs(self) -> tuple[Leg, ...]:
        """Complete parameters of every leg, leg 1 first."""
        legs = [self.leg] * len(self.base.joints.points)
        for variant in self.variant:
            for number in variant.legs:
                legs[number - 1] = variant.leg
        return tuple(legs)

    @property
    def drives(self) -> list[AnyDrive | None]:
        """Drives of the legs; None for an ideal actuator."""
        return [leg.drive for leg in self.legs]

    def leg_table(self, number: int) -> str:
        """Return the dotted path of the table that describes leg `number` (from 1)."""
        variant_indices = [i for i, variant in enumerate(self.variant) if number in variant.legs]
        return f"variant.{variant_indices[0]}" if variant_indices else "leg"

    def leg_tables(self) -> Iterator[tuple[str, Leg]]:
        """Yield the dotted path and the leg of `[leg]` and of every variant."""
        yield "leg", self.leg
        for i, variant in enumerate(self.variant):
            yield f"variant.{i}", variant.leg

    @property
    def mean_arm(self) -> float:
        """Mean distance [m] of the platform joints from the reference point."""
        return float(np.linalg.norm(self.platform.joints.points, axis=1).mean())

    @property
    def home_rotation(self) -> FloatArray:
        """Rotation matrix `(3, 3)` platform to base at home."""
        return read_only(rotation_matrix(np.array(self.home.orientation)))

    @property
    def home_leg_vectors(self) -> FloatArray:
        """Vectors `(n, 3)` [m] from base joint to platform joint at home, base frame."""
        return read_only([leg_geometry.vector for leg_geometry in self.home_leg_geometry])

    @property
    def home_leg_geometry(self) -> tuple[LegGeometry, ...]:
        """Geometry of each leg at home, leg 1 first."""
        return self.leg_geometry(np.array(self.home.position), self.home_rotation)

    def leg_geometry(self, position: FloatArray, rotation: FloatArray) -> tuple[LegGeometry, ...]:
        """Return each leg's geometry at a platform position `(3,)` [m] and rotation `(3, 3)`."""
        base, joints = self.base.joints.points, self.platform.joints.points
        arms = joints @ rotation.T
        vectors = position + arms - base
        return tuple(
            LegGeometry(i + 1, base[i], joints[i], arms[i], vectors[i], rotation)
            for i in range(len(base))
        )

    @property
    def first_axes(self) -> FloatArray:
        """Axes `(n, 3)` of the legs' first joints: unit vectors fixed in the base frame.

        The first axis of a universal joint, or the axis of a crank.
        """
        return read_only([leg.home_axis(leg_geometry) for leg, leg_geometry in self._placed()])

    @property
    def home_coordinates(self) -> FloatArray:
        """Actuator coordinates `(n,)` at home: lengths [m] or crank angles [rad]."""
        return read_only(
            [leg.home_coordinate(leg_geometry) for leg, leg_geometry in self._placed()]
        )

    @property
    def home_jacobian(self) -> FloatArray:
        """Jacobian `(n, 6)` at home: actuator rates = J @ twist."""
        return read_only([leg.home_row(leg_geometry) for leg, leg_geometry in self._placed()])

    @property
    def home_constraints(self) -> FloatArray:
        """Constraint rows `(m, 6)` at home that the legs add: rows @ twist = 0; m = 0 for most."""
        return read_only(
            np.vstack([leg.home_constraints(leg_geometry) for leg, leg_geometry in self._placed()])
        )

    @property
    def home_rows(self) -> FloatArray:
        """Rows `(n + m, 6)` of the Jacobian at home and of the constraints below them."""
        return read_only(np.vstack([self.home_jacobian, self.home_constraints]))

    @property
    def redundant_legs(self) -> tuple[int, ...]:
        """Legs (from 1) that can push against each other without moving the platform at home."""
        count = len(self.base.joints.points)
        rows = dependent_rows(scaled(self.home_rows, self.mean_arm))
        return tuple(i + 1 for i in rows if i < count)

    def _placed(self) -> Iterator[tuple[Leg, LegGeometry]]:
        return zip(self.legs, self.home_leg_geometry, strict=True)


AnyMachine = TypeVar("AnyMachine", bound=MachineDescription)
