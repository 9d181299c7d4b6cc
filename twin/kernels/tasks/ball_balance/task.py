"""Commands and observations of `BallBalance`, compiled, row by row."""

from __future__ import annotations

from math import cos, isfinite, sin, sqrt

from twin.kernels.ball.places import seen_from_plate
from twin.kernels.jit import compiled, device
from twin.kernels.kinematics.inverse import inverse_kinematics
from twin.kernels.legs.kinematics import settle
from twin.kernels.quaternions import turned
from twin.kernels.tasks.ball_balance.reward import calmness, evenness, loss, nearness
from twin.kernels.tasks.observation import put, put_scalar
from twin.kernels.vectors import rotate_back, rotation

GOES_ON, ENGINE, BALL, LIMIT = range(4)
"""Codes of why an episode ends."""

FINE, WIDE, QUICK, OVERTRAVEL, PERIOD, HOLD = range(6)
"""Entries of the limits: scale and end of distances [m], speed [m/s], share of the travel, control
period [s], time between targets [s]."""

RADIUS, RATE, PHASE = range(3)
"""Entries of a circle: [m], [rad/s], [rad]."""


@compiled
def pose_command(
    legs, home, places, actions, scale, bounds, gain, period, measured, paths, drive_commands
):
    """Fill `drive_commands` (N, n) with rates that follow a pose displaced from home by increments.

    Args:
        legs: constants of the legs.
        home: `(7,)`.
        places: which of the six displacements (3 along, 3 about the base axes) the actions move.
        actions: `(N, a)` increments, in parts of `scale`.
        scale: `(a,)` [m, rad] in one period.
        bounds: `(a,)` largest displacement.
        gain: of the position loop [1/s].
        period: of control [s].
        measured: `(N, n)` coordinates.
        paths: `Paths`, advanced in place.
        drive_commands: overwritten.
    """
    y, moved = paths.work, paths.moved
    for i in range(drive_commands.shape[0]):
        held, wanted, offset = paths.held[i], paths.wanted[i], paths.offset[i]
        for k in range(6):
            moved[k] = 0.0
        for j in range(places.shape[0]):
            reach = offset[j] + scale[j] * actions[i, j]
            offset[j] = min(max(reach, -bounds[j]), bounds[j])
            moved[places[j]] = offset[j]
        for k in range(3):
            y[k] = home[k] + moved[k]
        y[3], y[4], y[5], y[6] = turned(
            home[3], home[4], home[5], home[6], moved[3], moved[4], moved[5]
        )
        for k in range(6):
            y[7 + k] = 0.0
        settle(legs, y)
        if not inverse_kinematics(legs, y[:7], wanted):
            for j in range(wanted.shape[0]):
                wanted[j] = held[j]
        for j in range(wanted.shape[0]):
            drive_commands[i, j] = (wanted[j] - held[j]) / period + gain * (
                held[j] - measured[i, j]
            )
            held[j] = wanted[j]


@device
def aim(i, step, limits, aims, target):
    """Fill `target` (4,): where the ball shall be on the plate, and how it shall move there."""
    elapsed = step * limits[PERIOD]
    k = int(elapsed / limits[HOLD] + 1e-9) % aims.centers.shape[1]
    radius, rate = aims.circles[i, RADIUS], aims.circles[i, RATE]
    angle = aims.circles[i, PHASE] + rate * elapsed
    target[0] = aims.centers[i, k, 0] + radius * cos(angle)
    target[1] = aims.centers[i, k, 1] + radius * sin(angle)
    target[2] = -radius * rate * sin(angle)
    target[3] = radius * rate * cos(angle)


@device
def observe_row(i, machines, aims, paths, sizes, middle, last_action, signals, out):
    """Fill the observation `out` (o,) of row i; see the table of `BallBalanceEnv`."""
    at = 0
    for values in (signals.target_error[i], signals.ball_position[i], signals.ball_velocity[i]):
        at = put(out, at, values[0], sizes)
        at = put(out, at, values[1], sizes)
    at = put(out, at, aims.now[i, 2], sizes)
    at = put(out, at, aims.now[i, 3], sizes)
    for values in (signals.slope[i], signals.tilt_rate[i]):
        at = put(out, at, values[0], sizes)
        at = put(out, at, values[1], sizes)
    for j in range(middle.shape[0]):
        at = put(out, at, machines.measured[i, j] - middle[j], sizes)
    for j in range(middle.shape[0]):
        at = put(out, at, machines.measured_rates[i, j], sizes)
    for j in range(paths.offset.shape[1]):
        at = put(out, at, paths.offset[i, j], sizes)
    for j in range(last_action.shape[1]):
        at = put_scalar(out, at, last_action[i, j])


@device
def sense(i, machines, places, aims, signals, seen):
    """Fill the signals of row i: the ball against plate and target, the plate against gravity."""
    pose, twist = machines.pose[i], machines.twist[i]
    seen_from_plate(pose, twist, places[i], seen)
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    turning = rotate_back(matrix, (twist[3], twist[4], twist[5]))
    for k in range(2):
        signals.ball_position[i, k] = seen[k]
        signals.ball_velocity[i, k] = seen[3 + k]
        signals.target[i, k] = aims.now[i, k]
        signals.target_error[i, k] = aims.now[i, k] - seen[k]
        signals.slope[i, k] = -matrix[6 + k]
        signals.tilt_rate[i, k] = turning[k]


@compiled
def look(
    rows, steps, machines, places, lost, aims, paths, sizes, most, limits, weights, last_action,
    before, observation, term, reward, reason, signals,
):  # fmt: skip
    """Fill what `rows` see and are rewarded for; `steps` (N,) count from zero at the reset.

    Args:
        rows: `(m,)`.
        steps: `(N,)` control periods since the reset.
        machines: `Machines` of the batched plant.
        places: `(N, 13)` balls in the base frame.
        lost: `(N,)` whether they have left the plate.
        aims: `Aims`; what holds now is overwritten.
        paths: `Paths`.
        sizes: `(o,)` scales of the observation.
        most: `(n,)` least, greatest and middle coordinates.
        limits: entries as named above.
        weights: `(t,)` of the reward's terms.
        last_action: `(N, a)` of this step.
        before: `(N, a)` of the step before, overwritten.
        observation: `(N, o)`, overwritten, as the following.
        term: `(N, t)`.
        reward: `(N,)`.
        reason: `(N,)`.
        signals: `Signals`.
    """
    lower, upper, middle = most
    for number in range(rows.shape[0]):
        i = rows[number]
        aim(i, steps[i], limits, aims, aims.now[i])
        sense(i, machines, places, aims, signals, paths.seen)
        observe_row(i, machines, aims, paths, sizes, middle, last_action, signals, observation[i])
        error, motion = signals.target_error[i], signals.ball_velocity[i]
        distance = sqrt(error[0] * error[0] + error[1] * error[1])
        slower, later = motion[0] - aims.now[i, 2], motion[1] - aims.now[i, 3]
        speed = sqrt(slower * slower + later * later)
        if not isfinite(distance + speed):
            # Of a machine that has failed: no reward, and no NaN either.
            distance, speed = limits[WIDE], limits[QUICK]
        term[i, 0] = nearness(distance, limits[FINE], limits[WIDE])
        term[i, 1] = calmness(speed, limits[QUICK])
        term[i, 2] = evenness(last_action[i], before[i])
        term[i, 3] = loss(lost[i])
        total = 0.0
        for j in range(term.shape[1]):
            total += weights[j] * term[i, j]
        reward[i] = total
        for j in range(last_action.shape[1]):
            before[i, j] = last_action[i, j]
        reason[i] = ending(i, lost, machines, lower, upper, limits)


@device
def ending(i, lost, machines, lower, upper, limits):
    """Return the code of why the episode of row i ends."""
    if machines.failed[i]:
        return ENGINE
    if lost[i]:
        return BALL
    for j in range(lower.shape[0]):
        beyond = limits[OVERTRAVEL] * (upper[j] - lower[j])
        at = machines.coordinates[i, j]
        if at < lower[j] - beyond or at > upper[j] + beyond:
            return LIMIT
    return GOES_ON
