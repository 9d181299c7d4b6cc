"""The whole platform.toml: base, platform, home pose and legs, checked against each other."""

from __future__ import annotations

import math
import re

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from twin.arrays import FloatArray, read_only
from twin.parameters.body import RigidBody
from twin.parameters.joints import JointLayout
from twin.parameters.legs import UpsLeg
from twin.parameters.quantity import Acceleration, Length, Number, Point
from twin.parameters.table import Table

COINCIDENT = 1e-6
"""Joint points closer than this [m] are one point by any manufacturing standard."""

NAME = r"[a-z][a-z0-9_]{0,63}"
"""Machine names: they become file, package and element names."""

NEARLY_PARALLEL = 1e-3
"""Sine of the smallest angle [rad] between a leg at home and its universal joint's first axis."""


def problem(field: str, message: str) -> PydanticCustomError:
    """Return a cross-check failure that names its field."""
    return PydanticCustomError("machine", "{message}", {"message": message, "field": field})


class Base(Table):
    """The fixed side."""

    joints: JointLayout = Field(description="Centres of the base joints in the base frame")


class MovingPlatform(Table):
    """The moving side: its body, and where the legs meet it."""

    joints: JointLayout = Field(description="Centres of the platform joints in the platform frame")
    body: RigidBody = Field(description="Platform with everything fixed to it; platform frame")
    thickness: Length = Field(0.03, gt=0, description="Thickness of the plate, for drawing only")


class Home(Table):
    """The pose the machine starts from."""

    position: Point = Field(description="Reference point in the base frame")
    orientation: tuple[Number, Number, Number, Number] = Field(
        (1.0, 0.0, 0.0, 0.0), description="Unit quaternion platform to base, scalar first"
    )

    @field_validator("orientation")
    @classmethod
    def _unit(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        norm = math.sqrt(sum(entry * entry for entry in value))
        if abs(norm - 1.0) > 1e-6:
            raise ValueError(f"must be a unit quaternion, its norm is {norm:.9g}")
        return tuple(entry / norm for entry in value)


class MachineParameters(Table):
    """Everything a platform.toml says about one machine."""

    name: str = Field(description="Short name: lower-case letters, digits and underscores")
    title: str = Field(min_length=1, description="One line that says what the machine is")
    gravity: Acceleration = Field(ge=0, description="Gravity along -z of the base frame")
    base: Base = Field(description="The fixed side")
    platform: MovingPlatform = Field(description="The moving side")
    home: Home = Field(description="Pose at rest")
    leg: UpsLeg = Field(description="The legs")

    @field_validator("name")
    @classmethod
    def _plain(cls, value: str) -> str:
        if not re.fullmatch(NAME, value):
            raise ValueError("must be lower-case letters, digits and underscores, letter first")
        return value

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> MachineParameters:
        base, top = self.base.joints.points, self.platform.joints.points
        if len(base) != len(top):
            raise problem(
                "platform.joints", f"{len(top)} points, but the base has {len(base)}; one per leg"
            )
        if len(base) != 6:
            raise problem("base.joints", f"six legs are needed for six freedoms, got {len(base)}")
        for field, points in (("base.joints", base), ("platform.joints", top)):
            for i in range(len(points)):
                for j in range(i):
                    if np.linalg.norm(points[i] - points[j]) < COINCIDENT:
                        raise problem(field, f"joints {j + 1} and {i + 1} coincide")
        for leg in self.leg.mirrored:
            if not 1 <= leg <= len(base):
                raise problem("leg.mirrored", f"there is no leg {leg}")
        self._check_home()
        return self

    def _check_home(self) -> None:
        vectors = self.home_leg_vectors
        actuator = self.leg.actuator
        lengths = ", ".join(f"{length:.6g}" for length in np.linalg.norm(vectors, axis=1))
        for i, vector in enumerate(vectors):
            length = float(np.linalg.norm(vector))
            if length < COINCIDENT:
                raise problem("home.position", f"base and platform joint of leg {i + 1} coincide")
            if not actuator.minimum <= length <= actuator.maximum:
                raise problem(
                    "home.position",
                    f"leg {i + 1} cannot reach home: it would be {length:.6g} m long, its "
                    f"actuator (leg.actuator) goes from {actuator.minimum:.6g} to "
                    f"{actuator.maximum:.6g} m (lengths of all legs at home: {lengths}; check "
                    "units, the height of home, and that joints are listed in the same order)",
                )
            axis = self.first_axes[i]
            if not np.linalg.norm(np.cross(axis, vector / length)) > NEARLY_PARALLEL:
                raise problem(
                    "leg.first_axis",
                    f"leg {i + 1} lies along its universal joint's first axis at home",
                )
        self._check_home_jacobian(vectors)

    def _check_home_jacobian(self, vectors: FloatArray) -> None:
        directions = vectors / np.linalg.norm(vectors, axis=1)[:, None]
        arms = self.platform.joints.points @ self.home_rotation.T
        scale = np.linalg.norm(arms, axis=1).mean()
        jacobian = np.hstack([directions, np.cross(arms, directions) / scale])
        singular = np.linalg.svd(jacobian, compute_uv=False)
        if singular[-1] < 1e-6 * singular[0]:
            raise problem(
                "home.position",
                "home is a singular pose: the legs cannot hold the platform there "
                f"(condition number {singular[0] / max(singular[-1], 1e-300):.3g})",
            )

    @property
    def home_rotation(self) -> FloatArray:
        """Rotation matrix `(3, 3)` platform to base at home."""
        w, x, y, z = self.home.orientation
        return read_only(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )

    @property
    def home_leg_vectors(self) -> FloatArray:
        """Vectors `(n, 3)` [m] from base joint to platform joint at home, base frame."""
        tips = np.array(self.home.position) + self.platform.joints.points @ self.home_rotation.T
        return read_only(tips - self.base.joints.points)

    @property
    def first_axes(self) -> FloatArray:
        """First axes `(n, 3)` of the universal joints: unit vectors fixed in the base frame.

        'horizontal' is normalise(leg x z) at home (Stewart thesis, appendix A.1: rev1).
        """
        vectors = self.home_leg_vectors
        if isinstance(self.leg.first_axis, str):
            axes = np.cross(vectors, [0.0, 0.0, 1.0])
            if np.linalg.norm(axes, axis=1).min() < COINCIDENT:
                raise problem(
                    "leg.first_axis", "a leg is vertical at home: give the axis as a direction"
                )
        else:
            axes = np.tile(self.leg.first_axis, (len(vectors), 1))
        return read_only(axes / np.linalg.norm(axes, axis=1)[:, None])
