"""What the drivers of vehicle and platform perceive after a period, errors, terms, observations."""

from __future__ import annotations

from math import asin, atan2, sqrt

from twin.kernels.jit import compiled, device
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.kernels.tasks.motion_cueing.perception import sense_all
from twin.kernels.tasks.motion_cueing.reward import (
    false_part,
    false_term,
    neutral_term,
    perception_term,
    smoothness_term,
)
from twin.kernels.tasks.observation import put
from twin.kernels.vectors import add, cross, rotate, rotate_back, rotation

GOES_ON, ENGINE, LIMIT = range(3)
"""Why an episode ends."""


@device
def turn_of(values, start):
    """Return the rotation matrix of the quaternion that begins at `start`."""
    return rotation(values[start], values[start + 1], values[start + 2], values[start + 3])


@device
def fill_axes(pose, home, axes):
    """Fill `axes` (6,): x, y, z [m], yaw, pitch, roll [rad] of a pose about home."""
    a, b = turn_of(pose, 3), turn_of(home, 3)
    for k in range(3):
        axes[k] = pose[k] - home[k]
    # Entries of A B^T, the turn from home.
    r20 = a[6] * b[0] + a[7] * b[1] + a[8] * b[2]
    axes[3] = atan2(
        a[3] * b[0] + a[4] * b[1] + a[5] * b[2], a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    )
    axes[4] = -asin(min(max(r20, -1.0), 1.0))
    axes[5] = atan2(
        a[6] * b[3] + a[7] * b[4] + a[8] * b[5], a[6] * b[6] + a[7] * b[7] + a[8] * b[8]
    )


@device
def head_velocity(turn, head, twist):
    """Return the velocity of the head [m/s], base axes."""
    arm = rotate(turn, (head[0], head[1], head[2]))
    spin = (twist[3], twist[4], twist[5])
    return add((twist[0], twist[1], twist[2]), cross(spin, arm))


@device
def fill_still(turn, twist, still):
    """Fill `still` (6,): gravity's part of specific force less rest, and angular rate."""
    lean = rotate_back(turn, (0.0, 0.0, GRAVITY))
    spin = rotate_back(turn, (twist[3], twist[4], twist[5]))
    for k in range(3):
        still[k] = lean[k]
        still[3 + k] = spin[k]
    still[2] -= GRAVITY


@device
def feel_platform(models, senses, i, pose, twist, head, period):
    """Advance what the driver on platform i senses by one period that ends at a motion.

    Specific force is the mean acceleration of the head over the period, from its velocities at
    both ends, so that no push between two samples is lost, and gravity in the platform's axes.
    """
    turn, left, right = turn_of(pose, 3), senses.left[i], senses.right[i]
    before = turn_of(senses.before[i], 3)
    velocity = head_velocity(turn, head, twist)
    last = senses.before[i]
    mean = (
        (velocity[0] - last[0]) / period,
        (velocity[1] - last[1]) / period,
        (velocity[2] - last[2]) / period,
    )
    one, other = rotate_back(before, mean), rotate_back(turn, mean)
    fill_still(before, senses.turning[i], left)
    fill_still(turn, twist, right)
    for k in range(3):
        push = 0.5 * (one[k] + other[k])
        left[k] += push
        right[k] += push
    sense_all(models, senses.platform_states[i], left, right, senses.platform[i])
    remember(senses, i, pose, twist, velocity)


@device
def remember(senses, i, pose, twist, velocity):
    """Keep the head's velocity, the attitude and the twist for the next period."""
    for k in range(3):
        senses.before[i, k] = velocity[k]
    for k in range(4):
        senses.before[i, 3 + k] = pose[3 + k]
    for k in range(6):
        senses.turning[i, k] = twist[k]


@device
def entry(senses, i, ahead):
    """Return the row of a manoeuvre's table `ahead` periods from now; the last after its end."""
    return min(senses.index[i] + ahead, senses.table.shape[1] - 1)


@device
def begin_senses(models, senses, i, pose, twist, head):
    """Begin an episode of row i at a motion: both drivers were at rest until then."""
    senses.index[i] = 0
    for j in range(6):
        senses.left[i, j] = 0.0
        for k in range(2):
            senses.vehicle_states[i, j, k] = 0.0
            senses.platform_states[i, j, k] = 0.0
    left, right, turn = senses.left[i], senses.right[i], turn_of(pose, 3)
    sense_all(models, senses.vehicle_states[i], left, senses.table[i, 0], senses.vehicle[i])
    fill_still(turn, twist, right)
    sense_all(models, senses.platform_states[i], left, right, senses.platform[i])
    remember(senses, i, pose, twist, head_velocity(turn, head, twist))
    senses.sums[i, 0] = 0.0
    senses.sums[i, 1] = 0.0


@device
def add_sums(senses, i, error, threshold):
    """Add the squares of errors and false cues, in thresholds, to the sums of row i."""
    for j in range(6):
        false = false_part(senses.platform[i, j], senses.vehicle[i, j], threshold[j])
        away, wrong = error[j] / threshold[j], false / threshold[j]
        senses.sums[i, 0] += away * away
        senses.sums[i, 1] += wrong * wrong


@device
def outcome(models, senses, signals, frame, results, i, pose, twist, places, failed):
    """Advance perception of row i by the period that ended; fill its terms but for the action's."""
    manoeuvre, before = senses.table[i], entry(senses, i, 0)
    senses.index[i] += 1
    now = entry(senses, i, 0)
    sense_all(
        models, senses.vehicle_states[i], manoeuvre[before], manoeuvre[now], senses.vehicle[i]
    )
    feel_platform(models, senses, i, pose, twist, frame.head, frame.period)
    results.reason[i] = reason(frame, i, places, failed)
    error, term = signals.error[i], results.term[i]
    for j in range(6):
        error[j] = senses.platform[i, j] - senses.vehicle[i, j]
    term[0] = perception_term(error, frame.threshold, 0, 3)
    term[1] = perception_term(error, frame.threshold, 3, 6)
    term[2] = false_term(senses.platform[i], senses.vehicle[i], frame.threshold)
    term[3] = neutral_term(signals.axes[i], frame.travel, frame.free)
    term[5] = 0.0 if results.reason[i] == GOES_ON else -1.0


@compiled
def look_rows(rows, steps, models, senses, signals, frame, results, machines, command, actions):
    """Begin, or advance by the period that ended, some rows; fill all that is seen of them.

    Args:
        rows: `(m,)` numbers.
        steps: `(N,)` periods since the reset; a row begins at 0.
        models: `(2, MODEL_SIZE)` of perception.
        senses: `Senses`, advanced in place.
        signals: `Signals`, overwritten.
        frame: a `Frame`.
        results: `Results`, overwritten.
        machines: `(N, 7)` poses, `(N, 6)` twists, `(N, n)` coordinates of the actuators, exact
            and measured, `(N,)` whether the engine gave up.
        command: `(N, 6)` axes about home and their rates; `(N, 0)` without command.
        actions: `(N, a)` of the period, and of the one before.
    """
    pose, twist, places, measured, failed = machines
    action, before = actions
    for k in range(rows.shape[0]):
        i = rows[k]
        term = results.term[i]
        fill_axes(pose[i], frame.home, signals.axes[i])
        if steps[i] == 0:
            begin_senses(models, senses, i, pose[i], twist[i], frame.head)
            for j in range(6):
                signals.error[i, j] = senses.platform[i, j] - senses.vehicle[i, j]
            for j in range(term.shape[0]):
                term[j] = 0.0
            results.reason[i] = GOES_ON
        else:
            outcome(
                models, senses, signals, frame, results, i, pose[i], twist[i], places[i], failed[i]
            )
            term[4] = smoothness_term(action[i], before[i])
        add_sums(senses, i, signals.error[i], frame.threshold)
        count = 6.0 * (senses.index[i] + 1)
        signals.score[i] = sqrt(senses.sums[i, 0] / count)
        signals.false_cues[i] = sqrt(senses.sums[i, 1] / count)
        results.reward[i] = 0.0
        for j in range(term.shape[0]):
            results.reward[i] += frame.weights[j] * term[j]
        at = observe_manoeuvre(senses, i, frame, results.observation[i])
        observe_machine(
            signals.axes[i], twist[i], measured[i], command[0][i], command[1][i], action[i],
            frame, at, results.observation[i],
        )  # fmt: skip


@device
def reason(frame, i, places, failed):
    """Return why the episode of row i ends; `GOES_ON` where it does not."""
    if failed:
        return ENGINE
    for j in range(places.shape[0]):
        if not frame.low[i, j] <= places[j] <= frame.high[i, j]:
            return LIMIT
    return GOES_ON


@device
def observe_manoeuvre(senses, i, frame, row):
    """Fill perception and manoeuvre at the begin of an observation `row` (o,); return its end."""
    scale, at = frame.scale, 0
    for j in range(6):
        at = put(row, at, senses.vehicle[i, j], scale)
    for j in range(6):
        at = put(row, at, senses.platform[i, j], scale)
    for shown in range(frame.ahead.shape[0]):
        now = senses.table[i, entry(senses, i, frame.ahead[shown])]
        for j in range(6):
            at = put(row, at, now[j], scale)
    return at


@device
def observe_machine(axes, twist, measured, command, rates, action, frame, at, row):
    """Fill the rest of an observation `row` (o,) from entry `at` on.

    Args:
        axes: `(6,)` about home.
        twist: `(6,)` of the platform.
        measured: `(n,)` coordinates of the actuators.
        command: `(6,)` axes about home; `(0,)` where actions are speeds of the actuators.
        rates: `(6,)` of the command, likewise.
        action: `(a,)` the last one.
        frame: a `Frame`.
        at: first entry.
        row: overwritten.
    """
    free, scale = frame.free, frame.scale
    for k in range(free.shape[0]):
        at = put(row, at, axes[free[k]], scale)
    for k in range(free.shape[0]):
        # Yaw turns about z, pitch about y, roll about x.
        j = free[k]
        at = put(row, at, twist[j if j < 3 else 8 - j], scale)
    if command.shape[0] == 6:
        for k in range(free.shape[0]):
            at = put(row, at, command[free[k]], scale)
        for k in range(free.shape[0]):
            at = put(row, at, rates[free[k]], scale)
    for j in range(measured.shape[0]):
        at = put(row, at, measured[j] - frame.middle[j], scale)
    for j in range(action.shape[0]):
        at = put(row, at, action[j], scale)
