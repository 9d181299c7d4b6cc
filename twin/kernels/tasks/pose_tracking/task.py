"""Commands and observations of `PoseTracking`, compiled, row by row."""

from __future__ import annotations

from math import isfinite

from twin.kernels.batched.arrays import Machines
from twin.kernels.jit import compiled, device
from twin.kernels.kinematics.inverse import inverse_kinematics
from twin.kernels.legs.kinematics import settle
from twin.kernels.quaternions import turned
from twin.kernels.tasks.geometry import distance, pose_error
from twin.kernels.tasks.observation import put, put_scalar
from twin.kernels.tasks.pose_tracking.arrays import Signals, Tables
from twin.kernels.tasks.pose_tracking.reward import closeness, economy, smoothness

GOES_ON, ENGINE, POSITION, ATTITUDE, LIMIT = range(5)
"""Codes of why an episode ends."""

POSITION_SCALE, ATTITUDE_SCALE, LARGEST_POSITION, LARGEST_ATTITUDE, OVERTRAVEL, LEAK = range(6)
"""Entries of the limits."""


@compiled
def velocity_command(
    actions, scale, residual, gain, period, steps, last, coordinates, measured, drive_commands
):
    """Fill `drive_commands` (N, n): scaled actions, added to the reference's mean rates or not.

    Args:
        actions: `(N, n)`.
        scale: `(n,)` [m/s, rad/s].
        residual: whether the reference's rates and those of a position loop are added.
        gain: of the position loop [1/s].
        period: of control [s].
        steps: `(N,)` control periods since the reset.
        last: last row of `coordinates`.
        coordinates: `(N, k, n)` of the reference.
        measured: `(N, n)` coordinates.
        drive_commands: overwritten.
    """
    for i in range(drive_commands.shape[0]):
        now, then = min(steps[i], last), min(steps[i] + 1, last)
        for j in range(drive_commands.shape[1]):
            rate = 0.0
            if residual:
                rate = (coordinates[i, then, j] - coordinates[i, now, j]) / period
                rate += gain * (coordinates[i, now, j] - measured[i, j])
            drive_commands[i, j] = rate + scale[j] * actions[i, j]


@compiled
def pose_command(
    legs, home, actions, scale, bounds, residual, gain, period, steps, last, tables, measured,
    offset, held, drive_commands,
):  # fmt: skip
    """Fill `drive_commands` (N, n) with rates that follow a pose moved by increments.

    Args:
        legs: constants of the legs.
        home: `(7,)`, and `(n,)` coordinates of what the actuators move there.
        actions: `(N, 6)` increments of the displacement, in parts of `scale`.
        scale: `(6,)` [m, rad] in one period.
        bounds: `(6,)` largest displacement from the reference, or from home.
        residual: whether the displacement is from the reference; otherwise from home.
        gain: of the position loop [1/s].
        period: of control [s].
        steps: `(N,)` control periods since the reset.
        last: last row of the tables.
        tables: `Tables`.
        measured: `(N, n)` coordinates.
        offset: `(N, 6)` displacement, advanced in place.
        held: `(N, 3, n)` work and, in row 0, coordinates commanded for now, advanced in place.
        drive_commands: overwritten.
    """
    place, at = home
    pose, y = tables.work_pose, tables.work_state
    for i in range(drive_commands.shape[0]):
        then = min(steps[i] + 1, last)
        for k in range(6):
            moved = offset[i, k] + scale[k] * actions[i, k]
            offset[i, k] = min(max(moved, -bounds[k]), bounds[k])
        for k in range(7):
            pose[k] = tables.pose[i, then, k] if residual else place[k]
        plain, shifted = held[i, 1], held[i, 2]
        inverse_kinematics(legs, pose, plain)
        for k in range(3):
            y[k] = pose[k] + offset[i, k]
        y[3], y[4], y[5], y[6] = turned(
            pose[3], pose[4], pose[5], pose[6], offset[i, 3], offset[i, 4], offset[i, 5]
        )
        for k in range(6):
            y[7 + k] = 0.0
        settle(legs, y)
        reached = inverse_kinematics(legs, y[:7], shifted)
        for j in range(drive_commands.shape[1]):
            base = tables.coordinates[i, then, j] if residual else at[j]
            wanted = base + (shifted[j] - plain[j]) if reached else held[i, 0, j]
            behind = gain * (held[i, 0, j] - measured[i, j])
            drive_commands[i, j] = (wanted - held[i, 0, j]) / period + behind
            held[i, 0, j] = wanted


@device
def observe_row(i, now, last, preview, period, tables, machines, sizes, last_action, out):
    """Fill the observation `out` (o,) of row i; see the table of `PoseTrackingEnv`."""
    n = machines.measured.shape[1]
    at = 0
    for j in range(n):
        at = put(out, at, tables.coordinates[i, now, j] - machines.measured[i, j], sizes)
    for j in range(n):
        at = put(out, at, tables.rates[i, now, j] - machines.measured_rates[i, j], sizes)
    for j in range(n):
        at = put(out, at, tables.accumulated[i, j], sizes)
    for j in range(n):
        at = put(out, at, machines.measured[i, j] - tables.middle[j], sizes)
    for j in range(n):
        at = put(out, at, machines.measured_rates[i, j], sizes)
    for ahead in range(preview + 1):
        first, second = min(now + ahead, last), min(now + ahead + 1, last)
        before = first if ahead == 0 else min(now + ahead - 1, last)
        for j in range(n):
            table = tables.coordinates
            change = table[i, second, j] - table[i, first, j]
            change -= table[i, first, j] - table[i, before, j]
            at = put(out, at, change / period, sizes)
    for j in range(last_action.shape[1]):
        at = put_scalar(out, at, last_action[i, j])


@compiled
def look(
    rows, steps, last, preview, period, given, seen, sizes, most, bounds, weights, last_action,
    before, observation, term, reward, reason, shown,
):  # fmt: skip
    """Fill what `rows` see and are rewarded for; `steps` (N,) count from zero at the reset.

    Plain tuples, because Python passes them in half the time of named ones.

    Args:
        rows: `(m,)`.
        steps: `(N,)` control periods since the reset.
        last: last row of the tables.
        preview: control periods ahead that are seen.
        period: of control [s].
        given: `Tables` as a plain tuple.
        seen: `Machines` of the batched plant as a plain tuple.
        sizes: `(o,)` scales of the observation.
        most: `(2, n)` least and greatest coordinates, `(n,)` largest efforts.
        bounds: entries as named above.
        weights: `(t,)` of the reward's terms.
        last_action: `(N, a)` of this step.
        before: `(N, a)` of the step before, overwritten.
        observation: `(N, o)`, overwritten, as the following.
        term: `(N, t)`.
        reward: `(N,)`.
        reason: `(N,)`.
        shown: `Signals` as a plain tuple.
    """
    tables, machines, signals = Tables(*given), Machines(*seen), Signals(*shown)
    lower, upper, effort = most
    for k in range(rows.shape[0]):
        i = rows[k]
        now = min(steps[i], last)
        for j in range(lower.shape[0]):
            error = tables.coordinates[i, now, j] - machines.measured[i, j]
            kept = tables.accumulated[i, j] * bounds[LEAK] if steps[i] > 0 else 0.0
            tables.accumulated[i, j] = kept + period * error if steps[i] > 0 else 0.0
            signals.coordinate_error[i, j] = error
        observe_row(
            i, now, last, preview, period, tables, machines, sizes, last_action, observation[i]
        )
        pose_error(tables.pose[i, now], machines.pose[i], signals.position_error[i],
                   signals.orientation_error[i])  # fmt: skip
        for j in range(7):
            signals.reference_pose[i, j] = tables.pose[i, now, j]
        position = distance(signals.position_error[i])
        attitude = distance(signals.orientation_error[i])
        term[i, 0] = closeness(position, bounds[POSITION_SCALE], bounds[LARGEST_POSITION])
        term[i, 1] = closeness(attitude, bounds[ATTITUDE_SCALE], bounds[LARGEST_ATTITUDE])
        term[i, 2] = smoothness(last_action[i], before[i])
        term[i, 3] = economy(machines.effort[i], effort)
        total = 0.0
        for j in range(term.shape[1]):
            total += weights[j] * term[i, j]
        reward[i] = total
        for j in range(last_action.shape[1]):
            before[i, j] = last_action[i, j]
        reason[i] = ending(i, position, attitude, machines, lower, upper, bounds)


@device
def ending(i, position, attitude, machines, lower, upper, bounds):
    """Return the code of why the episode of row i ends."""
    if machines.failed[i] or not isfinite(position + attitude):
        return ENGINE
    if position > bounds[LARGEST_POSITION]:
        return POSITION
    if attitude > bounds[LARGEST_ATTITUDE]:
        return ATTITUDE
    for j in range(lower.shape[0]):
        beyond = bounds[OVERTRAVEL] * (upper[j] - lower[j])
        at = machines.coordinates[i, j]
        if at < lower[j] - beyond or at > upper[j] + beyond:
            return LIMIT
    return GOES_ON
