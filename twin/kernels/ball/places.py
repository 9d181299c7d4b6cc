"""Where a rolling ball is: its state from its place on the plate, and its pose from its state."""

from __future__ import annotations

from twin.kernels.ball.contact import (
    BALL_SIZE,
    FLIES,
    RADIUS,
    SPIN,
    TURN,
    X,
    Y,
    arms,
    contact_frame,
    relative_velocity,
)
from twin.kernels.jit import compiled, device
from twin.kernels.vectors import add, cross, rotate, rotation


@device
def put_ball(ball, pose, twist, start, state):
    """Fill `state` (17,) of a ball that rolls without spin against the plate.

    `start` (4,): place [m] and velocity [m/s] in plate axes. Rolling: Omega_r = n x v / r.
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
def fill_ball(ball, pose, twist, state, place):
    """Fill `place` (13,): pose and twist of the ball in the base frame."""
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    omega = (twist[3], twist[4], twist[5])
    _, centre = arms(ball, state, matrix)
    moving = rotate(matrix, relative_velocity(ball, state, matrix, omega))
    velocity = add((twist[0], twist[1], twist[2]), add(cross(omega, centre), moving))
    for k in range(3):
        place[k] = pose[k] + centre[k]
        place[7 + k] = velocity[k]
        place[10 + k] = state[SPIN + k]
    for k in range(4):
        place[3 + k] = state[TURN + k]


@compiled
def put_balls(ball, poses, twists, starts, states, places):
    """Fill `states` (batch, 17) and `places` (batch, 13) from `starts` (batch, 4); returns -1."""
    for k in range(poses.shape[0]):
        put_ball(ball, poses[k], twists[k], starts[k], states[k])
        fill_ball(ball, poses[k], twists[k], states[k], places[k])
    return -1


@compiled
def fill_balls(ball, poses, twists, states, places):
    """Fill `places` (batch, 13) of balls from their `states` (batch, 17); returns -1."""
    for k in range(poses.shape[0]):
        fill_ball(ball, poses[k], twists[k], states[k], places[k])
    return -1


@device
def seen_from_plate(pose, twist, place, seen):
    """Fill `seen` (6,): place and velocity of a ball in plate axes, against the moving plate.

    The place counts from the reference point.
    """
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    _, first, second = contact_frame(matrix)
    normal = contact_frame(matrix)[0]
    arm = (place[0] - pose[0], place[1] - pose[1], place[2] - pose[2])
    carried = cross((twist[3], twist[4], twist[5]), arm)
    rest = (
        place[7] - twist[0] - carried[0],
        place[8] - twist[1] - carried[1],
        place[9] - twist[2] - carried[2],
    )
    for k, axis in enumerate((first, second, normal)):
        seen[k] = arm[0] * axis[0] + arm[1] * axis[1] + arm[2] * axis[2]
        seen[3 + k] = rest[0] * axis[0] + rest[1] * axis[1] + rest[2] * axis[2]


@compiled
def see_balls(poses, twists, places, seen):
    """Fill `seen` (batch, 6) as `seen_from_plate` does; returns -1."""
    for k in range(poses.shape[0]):
        seen_from_plate(poses[k], twists[k], places[k], seen[k])
    return -1
