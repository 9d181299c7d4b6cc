"""Position of a ball: from a place on the plate to a pose in the base frame, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import BoolArray, FloatArray, as_floats, as_pose, flatten_batch
from twin.errors import InputError
from twin.kernels.ball.contact import BALL_SIZE
from twin.kernels.ball.position import put_balls, see_balls
from twin.model.ball.ball import Ball

CENTERED = np.zeros(4)
CENTERED.flags.writeable = False
"""A ball at rest on the middle of the plate."""


def as_start(value: Any, ball: Ball, field: str = "ball") -> FloatArray:
    """Return starts `(..., 4)`: place [m] and velocity [m/s] on the plate, in plate axes.

    Raises:
        InputError: wrong shape, not finite, or a place off the plate.
    """
    start = as_floats(CENTERED if value is None else value, field, 4)
    if np.any(np.hypot(start[..., 0], start[..., 1]) > ball.plate_radius):
        raise InputError(field, f"must start on the plate, within {ball.plate_radius:g} m")
    return start


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
    states, places = np.empty((len(poses), BALL_SIZE)), np.empty((len(poses), 13))
    put_balls(ball.constants, poses, twists, starts, states, places)
    return places.reshape(*shape, 13)


def on_plate(pose: Any, twist: Any, place: Any) -> FloatArray:
    """Return place [m] and velocity [m/s] `(..., 6)` of balls in plate axes, seen from the plate.

    Args:
        pose: of the platform, `(..., 7)`.
        twist: of the platform, `(..., 6)`.
        place: pose and twist of the ball's centre in the base frame, `(..., 13)`.

    Returns:
        x, y, z from the reference point and their rates.

    Raises:
        InputError: wrong shapes or not finite.
    """
    shape, (poses, twists, places) = flatten_batch(
        pose=as_pose(pose), twist=as_floats(twist, "twist", 6), place=as_floats(place, "place", 13)
    )
    seen = np.empty((len(poses), 6))
    see_balls(poses, twists, places, seen)
    return seen.reshape(*shape, 6)


def is_lost(ball: Ball, seen: FloatArray) -> BoolArray:
    """Return whether balls `(...)` have left the plate: over its edge, or a radius above it.

    Args:
        ball: ball and plate.
        seen: `(..., 3)` or more: x, y, z of the ball as `on_plate` returns them.
    """
    over_edge = np.hypot(seen[..., 0], seen[..., 1]) > ball.plate_radius
    height = seen[..., 2] - ball.plate_height - ball.radius
    return np.asarray(over_edge | (np.abs(height) > ball.radius) | ~np.isfinite(height))


def slip(ball: Ball, pose: Any, twist: Any, place: Any) -> FloatArray:
    """Return the velocity `(..., 3)` [m/s] of the ball's lowest point against the plate.

    In plate axes; zero for a ball that rolls.

    Raises:
        InputError: wrong shapes or not finite.
    """
    seen = on_plate(pose, twist, place)
    spin = np.asarray(place)[..., 10:13] - np.asarray(twist)[..., 3:]
    local = _to_plate(as_pose(pose)[..., 3:], spin)
    rolling = ball.radius * np.cross(local, [0.0, 0.0, -1.0])
    return np.asarray(seen[..., 3:] + rolling)


def _to_plate(quaternion: FloatArray, vector: FloatArray) -> FloatArray:
    """Return vectors `(..., 3)` of the base in plate axes."""
    w, u = quaternion[..., :1], -quaternion[..., 1:]
    turned = np.cross(u, vector)
    return np.asarray(vector + 2.0 * (w * turned + np.cross(u, turned)))
