"""Position of a ball: its state from its position on the plate, and its pose from its state."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.ball.contact import (
    BALL_SIZE,
    FLIES,
    RADIUS,
    SPIN,
    TURN,
    X,
    Y,
    arms,
    relative_velocity,
)
from twin.kernels.jit import compiled, device
from twin.kernels.platform_state import platform_state
from twin.kernels.vectors import add, cross, rotate, rotate_back, rotation, subtract


@device
def put_ball(
    ball: FloatArray, pose: FloatArray, twist: FloatArray, start: FloatArray, state: FloatArray
) -> None:
    """Fill `state` (17,) of a ball that rolls without spin against the plate.

    `start` (4,): position [m] and velocity [m/s] in plate axes. Rolling: Omega_r = n x v / r.
    """
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    state[X], state[Y] = start[0], start[1]
    spin = rotate(matrix, (-start[3] / ball[RADIUS], start[2] / ball[RADIUS], 0.0))
    for k in range(3):
        state[SPIN + k] = twist[3 + k] + spin[k]
        state[TURN + 1 + k] = 0.0
    state[TURN] = 1.0
    for k in range(FLIES, BALL_SIZE):
        state[k] = 0.0


@device
def fill_ball(
    ball: FloatArray, pose: FloatArray, twist: FloatArray, state: FloatArray, motion: FloatArray
) -> None:
    """Fill `motion` (13,): pose and twist of the ball in the base frame."""
    platform = platform_state(pose, twist)
    matrix, omega = platform.matrix, platform.omega
    _, centre = arms(ball, state, matrix)
    moving = rotate(matrix, relative_velocity(ball, state, matrix, omega))
    velocity = add(platform.velocity, add(cross(omega, centre), moving))
    for k in range(3):
        motion[k] = pose[k] + centre[k]
        motion[7 + k] = velocity[k]
        motion[10 + k] = state[SPIN + k]
    for k in range(4):
        motion[3 + k] = state[TURN + k]


@compiled
def put_balls(
    ball: FloatArray,
    poses: FloatArray,
    twists: FloatArray,
    starts: FloatArray,
    states: FloatArray,
    motions: FloatArray,
) -> int:
    """Fill `states` (batch, 17) and `motions` (batch, 13) from `starts` (batch, 4); returns -1."""
    for k in range(poses.shape[0]):
        put_ball(ball, poses[k], twists[k], starts[k], states[k])
        fill_ball(ball, poses[k], twists[k], states[k], motions[k])
    return -1


@compiled
def fill_balls(
    ball: FloatArray,
    poses: FloatArray,
    twists: FloatArray,
    states: FloatArray,
    motions: FloatArray,
) -> int:
    """Fill `motions` (batch, 13) of balls from their `states` (batch, 17); returns -1."""
    for k in range(poses.shape[0]):
        fill_ball(ball, poses[k], twists[k], states[k], motions[k])
    return -1


@device
def seen_from_plate(
    pose: FloatArray, twist: FloatArray, motion: FloatArray, seen: FloatArray
) -> None:
    """Fill `seen` (6,): position and velocity of a ball in plate axes, relative to the plate.

    The position counts from the reference point.
    """
    platform = platform_state(pose, twist)
    arm = subtract((motion[0], motion[1], motion[2]), platform.position)
    velocity = subtract((motion[7], motion[8], motion[9]), platform.velocity)
    moving = rotate_back(platform.matrix, subtract(velocity, cross(platform.omega, arm)))
    at = rotate_back(platform.matrix, arm)
    for k in range(3):
        seen[k] = at[k]
        seen[3 + k] = moving[k]


@compiled
def see_balls(poses: FloatArray, twists: FloatArray, motions: FloatArray, seen: FloatArray) -> int:
    """Fill `seen` (batch, 6) as `seen_from_plate` does; returns -1."""
    for k in range(poses.shape[0]):
        seen_from_plate(poses[k], twists[k], motions[k], seen[k])
    return -1
