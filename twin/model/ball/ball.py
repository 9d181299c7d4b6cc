"""The ball and the round plate it rolls on, as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import pi
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, not_negative, positive, read_only
from twin.errors import InputError, brief
from twin.machine.machine import MachineParameters

SOLID = 0.4
"""Moment of inertia over mass times radius squared of a homogeneous sphere."""

HOLLOW = 2.0 / 3.0
"""The same of a thin shell."""

STEEL = 7850.0
"""[kg/m3]"""

PLATE_SHARE, BALL_SHARE, HEIGHT_SHARE = 0.6, 0.05, 0.3
"""Radius of the plate, radius of the ball and height of the plate above the platform joints over
the mean distance of these joints from the platform's z axis, adopted."""

THICKNESS_SHARE = 0.04
"""Thickness of the plate over its radius, for contact and drawing, adopted."""


@dataclass(frozen=True)
class Ball:
    """A ball on a flat round plate fixed to the platform, across its z axis.

    The plate has no mass of its own: the platform's numbers include it.

    Raises:
        InputError: numbers that no ball can have.
    """

    radius: float
    """[m]"""
    mass: float
    """[kg]"""
    plate_radius: float
    """[m]; a ball whose centre is farther from the plate's is lost"""
    plate_height: float
    """[m] of the plate's upper face above the reference point"""
    inertia_factor: float = SOLID
    """moment of inertia about the centre over mass times radius squared"""
    friction: float = 0.6
    """coefficient of sliding friction between ball and plate"""
    rolling_resistance: float = 1e-3
    """force that keeps the ball rolling over its weight across the plate"""

    def __post_init__(self) -> None:
        for name in ("radius", "mass", "plate_radius", "friction"):
            positive(getattr(self, name), name)
        not_negative(self.rolling_resistance, "rolling_resistance")
        if as_floats(self.plate_height, "plate_height").shape != ():
            raise InputError("plate_height", f"must be one number, got {brief(self.plate_height)}")
        if not 0.0 < positive(self.inertia_factor, "inertia_factor") <= HOLLOW:
            raise InputError("inertia_factor", "must be above 0 and at most 2/3, that of a shell")
        if not self.radius < self.plate_radius:
            raise InputError("radius", "must be smaller than the plate's")

    @property
    def inertia(self) -> float:
        """Moment of inertia [kg m2] about the centre."""
        return self.inertia_factor * self.mass * self.radius**2

    @property
    def plate_thickness(self) -> float:
        """Of the plate [m], below its upper face."""
        return THICKNESS_SHARE * self.plate_radius

    @property
    def constants(self) -> FloatArray:
        """`(7,)` for `twin.kernels.ball.contact`, in the order of its columns."""
        return read_only(
            [
                self.radius,
                self.mass,
                self.inertia_factor,
                self.plate_radius,
                self.plate_height,
                self.friction,
                self.rolling_resistance,
            ]
        )


def as_ball(value: Any, parameters: MachineParameters) -> Ball | None:
    """Return what an option `ball` asks for: a ball, or none.

    Args:
        value: a `Ball`, the table of its numbers, True for `ball_for` the machine, None for none.
        parameters: the machine.

    Raises:
        InputError: something else, or numbers that no ball can have.
    """
    if value is None or isinstance(value, Ball):
        return value
    if value is True:
        return ball_for(parameters)
    if isinstance(value, Mapping):
        unknown = [name for name in value if name not in {field.name for field in fields(Ball)}]
        if unknown:
            raise InputError("ball", f"unknown: {', '.join(map(str, unknown))}")
        try:
            return Ball(**value)
        except TypeError as error:
            raise InputError("ball", f"needs radius, mass and plate ({error})") from None
    raise InputError("ball", f"must be a Ball, a table of its numbers, or True, not {brief(value)}")


def ball_for(parameters: MachineParameters) -> Ball:
    """Return a solid steel ball and a plate in proportion to a machine's platform joints.

    Args:
        parameters: the machine.
    """
    joints = parameters.platform.joints.points
    reach = float(np.linalg.norm(joints[:, :2], axis=1).mean())
    radius = BALL_SHARE * reach
    return Ball(
        radius=radius,
        mass=STEEL * 4.0 / 3.0 * pi * radius**3,
        plate_radius=PLATE_SHARE * reach,
        plate_height=float(joints[:, 2].max()) + HEIGHT_SHARE * reach,
    )
