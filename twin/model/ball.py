"""The ball on a platform: its model, position and rolling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import pi
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import (
    BoolArray,
    FloatArray,
    as_floats,
    as_pose,
    as_vector,
    flatten_batch,
    not_negative,
    one_pose,
    positive,
    read_only,
)
from twin.errors import InputError, brief
from twin.kernels.ball import BALL_SIZE, put_balls, rolling_rate, states_on_plate
from twin.machine.machine import MachineParameters

SOLID_INERTIA_FACTOR = 0.4
"""Moment of inertia of a homogeneous sphere over mass times radius squared."""

HOLLOW_INERTIA_FACTOR = 2.0 / 3.0
"""Moment of inertia of a thin shell over mass times radius squared."""

STEEL_DENSITY = 7850.0
"""[kg/m3] Density of the default ball."""

THICKNESS_RATIO = 0.04
"""Engineering choice: thickness of the plate over its radius, for contact and drawing."""

CENTERED_STATE = np.zeros(4)


PLATE_RADIUS_RATIO = 0.6
"""Engineering choice: radius of the plate over the mean distance of the platform joints from the z
axis."""

BALL_RADIUS_RATIO = 0.05
"""Engineering choice: radius of the ball over that distance."""

PLATE_HEIGHT_RATIO = 0.3
"""Engineering choice: height of the plate above the platform joints over that distance."""


@dataclass(frozen=True)
class Ball:
    """A ball on a flat round plate fixed to the platform, across its z axis.

    The plate has no mass of its own: the platform's numbers include it.

    Raises:
        InputError: numbers that no ball can have.
    """

    radius: float
    """[m] radius of the ball"""
    mass: float
    """[kg] mass of the ball"""
    plate_radius: float
    """[m]; a ball whose centre is farther from the plate's is lost"""
    plate_height: float
    """[m] of the plate's upper face above the reference point"""
    inertia_factor: float = SOLID_INERTIA_FACTOR
    """moment of inertia about the centre over mass times radius squared"""
    friction: float = 0.6
    """coefficient of sliding friction between ball and plate"""
    rolling_resistance: float = 1e-3
    """coefficient: force that keeps the ball rolling, over its normal load"""

    def __post_init__(self) -> None:
        for name in ("radius", "mass", "plate_radius", "friction"):
            positive(getattr(self, name), name)
        not_negative(self.rolling_resistance, "rolling_resistance")
        if as_floats(self.plate_height, "plate_height").shape != ():
            raise InputError("plate_height", f"must be one number, got {brief(self.plate_height)}")
        if not 0.0 < positive(self.inertia_factor, "inertia_factor") <= HOLLOW_INERTIA_FACTOR:
            raise InputError("inertia_factor", "must be above 0 and at most 2/3, that of a shell")
        if not self.radius < self.plate_radius:
            raise InputError("radius", "must be smaller than the plate's")

    @property
    def inertia(self) -> float:
        """Moment of inertia [kg m2] about the centre."""
        return self.inertia_factor * self.mass * self.radius**2

    @property
    def plate_thickness(self) -> float:
        """Thickness of the plate [m], below its upper face."""
        return THICKNESS_RATIO * self.plate_radius

    @property
    def constants(self) -> FloatArray:
        """`(7,)` for `twin.kernels.ball`, in the order of its entries."""
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
    """Return the ball that an option `ball` stands for, or None.

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
        known_fields = {field.name for field in fields(Ball)}
        unknown_fields = [name for name in value if name not in known_fields]
        if unknown_fields:
            raise InputError("ball", f"unknown: {', '.join(map(str, unknown_fields))}")
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
    joint_radius = float(np.linalg.norm(joints[:, :2], axis=1).mean())
    radius = BALL_RADIUS_RATIO * joint_radius
    return Ball(
        radius=radius,
        mass=STEEL_DENSITY * 4.0 / 3.0 * pi * radius**3,
        plate_radius=PLATE_RADIUS_RATIO * joint_radius,
        plate_height=float(joints[:, 2].max()) + PLATE_HEIGHT_RATIO * joint_radius,
    )


CENTERED_STATE.flags.writeable = False
"""Start `(4,)` of a ball at rest in the middle of the plate: x, y [m], rates [m/s]."""


def as_start(value: Any, ball: Ball, field: str = "ball") -> FloatArray:
    """Return starts `(..., 4)`: place [m] and velocity [m/s] on the plate, in plate axes.

    Raises:
        InputError: wrong shape, not finite, or a place off the plate.
    """
    start_state = as_floats(CENTERED_STATE if value is None else value, field, 4)
    if np.any(np.hypot(start_state[..., 0], start_state[..., 1]) > ball.plate_radius):
        raise InputError(field, f"must start on the plate, within {ball.plate_radius:g} m")
    return start_state


def place_on_plate(ball: Ball, pose: Any, twist: Any, start: Any = None) -> FloatArray:
    """Return pose and twist `(..., 13)` of balls in the base frame, rolling as they start.

    Args:
        ball: ball and plate.
        pose: of the platform, `(..., 7)`.
        twist: of the platform, `(..., 6)`.
        start: `(..., 4)` place [m] and velocity [m/s] against the plate, in plate axes; default at
            rest in the middle. The ball has no spin against the plate about its normal.

    Raises:
        InputError: wrong shapes, not finite, or a place off the plate.
    """
    shape, (poses, twists, starts) = flatten_batch(
        pose=as_pose(pose), twist=as_floats(twist, "twist", 6), start=as_start(start, ball, "start")
    )
    states, ball_states = np.empty((len(poses), BALL_SIZE)), np.empty((len(poses), 13))
    put_balls(ball.constants, poses, twists, starts, states, ball_states)
    return ball_states.reshape(*shape, 13)


def on_plate(pose: Any, twist: Any, ball_motion: Any) -> FloatArray:
    """Return position [m] and velocity [m/s] `(..., 6)` of balls relative to the plate, plate axes.

    Args:
        pose: of the platform, `(..., 7)`.
        twist: of the platform, `(..., 6)`.
        ball_motion: pose and twist of the ball's centre in the base frame, `(..., 13)`.

    Returns:
        x, y, z from the reference point and their rates.

    Raises:
        InputError: wrong shapes or not finite.
    """
    shape, (poses, twists, ball_states) = flatten_batch(
        pose=as_pose(pose),
        twist=as_floats(twist, "twist", 6),
        ball_motion=as_floats(ball_motion, "ball_motion", 13),
    )
    plate_states = np.empty((len(poses), 6))
    states_on_plate(poses, twists, ball_states, plate_states)
    return plate_states.reshape(*shape, 6)


def is_lost(ball: Ball, plate_state: FloatArray) -> BoolArray:
    """Return whether balls `(...)` have left the plate: over its edge, or a radius above it.

    Args:
        ball: ball and plate.
        plate_state: `(..., 3)` or more: x, y, z of the ball as `on_plate` returns them.
    """
    over_edge = np.hypot(plate_state[..., 0], plate_state[..., 1]) > ball.plate_radius
    height = plate_state[..., 2] - ball.plate_height - ball.radius
    return np.asarray(over_edge | (np.abs(height) > ball.radius) | ~np.isfinite(height))


class Rolling(NamedTuple):
    """Rate of a rolling ball's state, and the contact force."""

    rate: FloatArray
    """`(17,)` of the ball's state: velocity on the plate [m/s], angular acceleration in base axes
    [rad/s2], rate of the quaternion, zeros"""
    force: FloatArray
    """`(3,)` [N] of the plate on the ball, base axes"""
    moment: FloatArray
    """`(3,)` [N m] of rolling resistance on the ball, base axes"""
    status: int
    """status in `twin.kernels.ball`; `BALL_FLYING` where the force would have to pull"""


def rolling(
    ball: Ball, state: Any, pose: Any, twist: Any, acceleration: Any, gravity: Any
) -> Rolling:
    """Return state rate and contact force of a ball that rolls without slip on a moving plate.

    Args:
        ball: ball and plate.
        state: `(17,)` place on the plate [m], angular velocity in base axes [rad/s], quaternion;
            zeros, as it does not fly.
        pose: of the platform, `(7,)`.
        twist: of the platform, `(6,)`.
        acceleration: of the platform, `(6,)`.
        gravity: `(3,)` [m/s2] in base axes.

    Raises:
        InputError: wrong shape or not finite.

    Reference:
        docs/theory.md, equations 3 to 6.
    """
    rate, wrench = np.empty(BALL_SIZE), np.empty(6)
    status = rolling_rate(
        ball.constants,
        as_vector(gravity, "gravity", 3),
        one_pose(pose),
        as_vector(twist, "twist", 6),
        as_vector(acceleration, "acceleration", 6),
        as_vector(state, "state", BALL_SIZE),
        rate,
        wrench,
    )
    return Rolling(rate, wrench[:3], wrench[3:], int(status))
