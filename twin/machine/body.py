"""Rigid bodies: given by mass, centre and tensor, or derived from a cylinder and its density."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, field_validator, model_validator

from twin.basics.arrays import FloatArray, read_only
from twin.machine.quantity import Density, Inertia, Length, Mass, Point, Table

IDENTITY_MATRIX = read_only(np.eye(3))
TENSOR_ENTRIES = np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 1, 2, 2])
"""Row and column indices of the entries xx, yy, zz, xy, xz, yz of a symmetric tensor."""

InertiaRow = tuple[Inertia, Inertia, Inertia]

NO_INERTIA = ((0.0, 0.0, 0.0),) * 3
"""Tensor [kg m2] of a body without mass."""


def expand_diagonal(value: Any) -> Any:
    """Return three principal moments as rows of a tensor; anything else unchanged."""
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        return value
    if any(isinstance(entry, (list, tuple)) for entry in value):
        return value
    a, b, c = value
    return [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]


@lru_cache(maxsize=64)
def check_inertia(rows: tuple[InertiaRow, InertiaRow, InertiaRow]) -> None:
    """Check that a rigid body can have the tensor of these rows.

    The last ones are remembered, as sampled machines mostly repeat a tensor that was checked.

    Raises:
        ValueError: not symmetric, not positive definite, or principal moments that break the
            triangle inequality.
    """
    tensor = read_only(rows)
    size = np.abs(tensor).max()
    if not (np.abs(tensor - tensor.T) <= 1e-12 * size).all():
        raise ValueError("must be symmetric: entry [i][j] equal to [j][i]")
    moments = np.linalg.eigvalsh(tensor)
    if not moments[0] > 0:
        raise ValueError(f"must be positive definite, principal moments are {moments.tolist()}")
    if moments[0] + moments[1] < moments[2] * (1 - 1e-9):
        raise ValueError(
            "no rigid body has these principal moments: the largest "
            f"{moments[2]:.6g} exceeds the sum of the others {moments[0] + moments[1]:.6g}"
        )


def parallel_axis(mass: float, center: FloatArray) -> FloatArray:
    """Return the tensor `(3, 3)` [kg m2] of a point mass at `center` [m] about the origin."""
    return mass * (center @ center * IDENTITY_MATRIX - np.outer(center, center))


def six(tensor: FloatArray) -> FloatArray:
    """Return xx, yy, zz, xy, xz, yz of a tensor `(3, 3)`."""
    return np.asarray(tensor[TENSOR_ENTRIES])


InertiaTensor = Annotated[
    tuple[InertiaRow, InertiaRow, InertiaRow], BeforeValidator(expand_diagonal)
]


class RigidBody(Table):
    """A body given by its mass, centre of mass and inertia tensor.

    The frame is the one of the table that holds the body: platform frame, or the leg's body frame
    with its origin at the base joint (housing) or at the tip (rod).
    """

    kind: Literal["rigid"] = Field("rigid", description="How the body is described")
    mass: Mass = Field(gt=0, description="Mass")
    center_of_mass: Point = Field((0.0, 0.0, 0.0), description="Centre of mass in the body's frame")
    inertia: InertiaTensor = Field(
        description="Tensor about the centre of mass, rows or three principal moments"
    )

    @field_validator("inertia")
    @classmethod
    def _physical(cls, rows: Any) -> Any:
        check_inertia(rows)
        return rows

    @property
    def center_of_mass_vector(self) -> FloatArray:
        """Centre of mass `(3,)` [m] in the body's frame; zero where there is no mass."""
        return read_only(self.center_of_mass if self.mass > 0.0 else np.zeros(3))

    @property
    def inertia_tensor(self) -> FloatArray:
        """Tensor `(3, 3)` [kg m2] about the centre of mass, in the body's frame."""
        return read_only(self.inertia)


class LegPart(RigidBody):
    """A part of a leg as a rigid body; a part without mass has no inertia either."""

    mass: Mass = Field(ge=0, description="Mass, 0 for a massless part")
    inertia: InertiaTensor = Field(
        NO_INERTIA,
        description="Tensor about the centre of mass, rows or three principal moments; of a "
        "massless part zero, or left out",
    )

    @field_validator("inertia")
    @classmethod
    def _physical(cls, rows: Any) -> Any:
        if np.any(rows):
            check_inertia(rows)
        return rows

    @model_validator(mode="after")
    def _both_or_none(self) -> LegPart:
        if self.mass > 0.0 and not np.any(self.inertia):
            raise ValueError("inertia is missing; only a part without mass has none")
        if np.any(self.inertia) and not self.mass > 0.0:
            raise ValueError("inertia must be zero or left out, because the mass is zero")
        return self


class Cylinder(Table):
    """A solid or hollow cylinder along the leg; mass and tensor follow from the density.

    Transverse moment m (3 (r_outer^2 + r_inner^2) + L^2) / 12, axial m (r_outer^2 + r_inner^2) / 2.
    """

    kind: Literal["cylinder"] = Field("cylinder", description="How the body is described")
    density: Density = Field(gt=0, description="Density of the material")
    outer_radius: Length = Field(gt=0, description="Outer radius")
    inner_radius: Length = Field(0.0, ge=0, description="Inner radius, 0 for a solid rod")
    length: Length = Field(gt=0, description="Length along the leg")
    start: Length = Field(
        0.0, description="Position of its lower end along the leg, from the body's origin"
    )

    @model_validator(mode="after")
    def _hollow(self) -> Cylinder:
        if self.inner_radius >= self.outer_radius:
            raise ValueError("inner_radius must be smaller than outer_radius")
        if not np.linalg.eigvalsh(self.inertia_tensor)[0] > 0:
            raise ValueError("has no mass in float64; check the units of its dimensions")
        return self

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        area = math.pi * (self.outer_radius**2 - self.inner_radius**2)
        return self.density * area * self.length

    @property
    def center_of_mass_vector(self) -> FloatArray:
        """Centre of mass `(3,)` [m] in the body's frame."""
        return read_only([0.0, 0.0, self.start + self.length / 2])

    @property
    def inertia_tensor(self) -> FloatArray:
        """Tensor `(3, 3)` [kg m2] about the centre of mass, in the body's frame."""
        radii = self.outer_radius**2 + self.inner_radius**2
        transverse = self.mass * (3 * radii + self.length**2) / 12
        return read_only(np.diag([transverse, transverse, self.mass * radii / 2]))


class SymmetricPart(Table):
    """A part of a leg that is symmetric about it, such as a rod that turns about itself."""

    kind: Literal["symmetric"] = Field("symmetric", description="How the body is described")
    mass: Mass = Field(ge=0, description="Mass, 0 for a massless part")
    center: Length = Field(0.0, description="Centre of mass along the leg, from the body's origin")
    transverse_inertia: Inertia = Field(
        0.0, ge=0, description="About the centre of mass, across the leg; 0 without mass"
    )
    axial_inertia: Inertia = Field(0.0, ge=0, description="About the leg; 0 without mass")

    @model_validator(mode="after")
    def _physical(self) -> SymmetricPart:
        if self.mass > 0.0:
            check_inertia(tuple(map(tuple, self.inertia_tensor.tolist())))
        elif self.transverse_inertia or self.axial_inertia:
            raise ValueError("inertia must be zero or left out, because the mass is zero")
        return self

    @property
    def center_of_mass_vector(self) -> FloatArray:
        """Centre of mass `(3,)` [m] in the body's frame."""
        return read_only([0.0, 0.0, self.center])

    @property
    def inertia_tensor(self) -> FloatArray:
        """Tensor `(3, 3)` [kg m2] about the centre of mass, in the body's frame."""
        return read_only(
            np.diag([self.transverse_inertia, self.transverse_inertia, self.axial_inertia])
        )


LegBody = Annotated[LegPart | Cylinder, Field(discriminator="kind")]
