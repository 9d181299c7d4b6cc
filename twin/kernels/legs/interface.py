"""Interface of a kind of leg: what all kinds share, and what each returns.

A kind of leg is a module with these names; `twin.kernels.legs.dispatch` lists them.

- a type of constants, a NamedTuple of one array `rows` `(n, LEG_SIZE)`. Kernels compile for this
  type, so that they contain no code of other kinds.
- `JOINT_COUNT`, `actuation`, `actuation_rate`, `fill_joints`: kinematics.
- `response`, `leg_energy`: dynamics.
- `CONSTRAINT_COUNT`, `fill_constraints`, `project_onto_constraints`: where legs constrain the
  platform.
- `DEFLECTION_COUNT`, `deflection_acceleration`: where a leg has a spring in series.
- `SMALLEST_SCALE`: where the rounding errors of the actuator coordinate have a scale of their own.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.linear_algebra import Matrix, Vector, rotation_at, vector_at

BASE_JOINT = 0

PLATFORM_JOINT = 3

AXIS = 6
"""Joint axis fixed in the base: first of a universal joint, or of a crank."""

GEOMETRY_SIZE = 9

HOME_FRAME, HOME_COORDINATE, HOME_SIZE = 0, 9, 10
"""Entries of the home rows: leg frame (rows of the rotation leg to base), actuator coordinate."""


class PlatformState(NamedTuple):
    """Position and velocity of the platform, base axes."""

    position: Vector
    """position of the reference point [m]"""
    matrix: Matrix
    """rotation platform to base"""
    velocity: Vector
    """velocity of the reference point [m/s]"""
    omega: Vector
    """angular velocity [rad/s]"""


class Acceleration(NamedTuple):
    """Acceleration of the platform, base axes."""

    linear: Vector
    """acceleration of the reference point [m/s2]"""
    angular: Vector
    """angular acceleration [rad/s2]"""


@device
def platform_state(pose: FloatArray, twist: FloatArray) -> PlatformState:
    """Return the state of a pose `(7,)` and a twist `(6,)`."""
    return PlatformState(
        vector_at(pose, 0), rotation_at(pose, 3), vector_at(twist, 0), vector_at(twist, 3)
    )


@device
def resting_state(pose: FloatArray) -> PlatformState:
    """Return the state of a pose `(7,)` at rest."""
    return PlatformState(vector_at(pose, 0), rotation_at(pose, 3), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class Legs(Protocol):
    """Constants of the legs of a machine, in the type of their kind."""

    @property
    def rows(self) -> FloatArray:
        """`(n, LEG_SIZE)`, one row per leg; the first entries are the same for all kinds."""


class LegResponse(NamedTuple):
    """Effective masses and bias force at the end of a leg, without actuator force; base axes.

    The leg acts on the platform at the end of its arm. Accelerating that point by `known + a`,
    where `known` follows from the twist, takes the force

        sum over k of masses_k u_k (u_k . a) + force

    with the directions u = first, second, third.
    """

    arm: Vector
    """vector from the reference point to the end of the leg [m]"""
    actuation: Vector
    """w: force on the platform per unit of actuator force"""
    actuation_moment: Vector
    """[m] moment of that about the reference point"""
    first: Vector
    second: Vector
    third: Vector
    masses: Vector
    """[kg] effective masses along the three directions"""
    force: Vector
    """[N] bias force at the end of the leg, base axes"""
    regular: bool
    """False where the leg is singular"""
