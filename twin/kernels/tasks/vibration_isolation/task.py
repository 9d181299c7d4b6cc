"""Commands and observations of `VibrationIsolation`, compiled, row by row."""

from __future__ import annotations

from math import exp, isfinite, sqrt

from twin.kernels.jit import compiled, device
from twin.kernels.tasks.geometry import distance, pose_error
from twin.kernels.tasks.observation import put, put_scalar
from twin.kernels.tasks.pose_tracking.reward import smoothness
from twin.kernels.tasks.vibration_isolation.reward import stillness, stroke
from twin.kernels.vectors import rotate_back, rotation

GOES_ON, ENGINE, ATTITUDE, LIMIT = range(4)
"""Codes of why an episode ends."""

PERIOD, FORGETTING, GRAVITY, LARGEST_ATTITUDE, OVERTRAVEL = range(5)
"""Entries of the numbers."""

ACCELERATION, DISPLACEMENT, RATE = range(3)
"""Entries of a row's levels."""


@compiled
def command(
    actions, scale, centring, steps, base_motion, start, measured, offset, drive_commands, shaking
):
    """Fill `drive_commands` (N, n) and `shaking` (N, ratio, 3) for the coming period.

    Args:
        actions: `(N, n)`.
        scale: `(n,)` what 1 means.
        centring: [1/s] or, of forces, zero.
        steps: `(N,)` control periods since the reset.
        base_motion: `BaseMotion` of the base.
        start: `(N, n)` coordinates at the reset.
        measured: `(N, n)` coordinates now.
        offset: `(n,)` that is added.
        drive_commands: overwritten.
        shaking: overwritten.
    """
    last = base_motion.mean.shape[1] - 1
    for i in range(drive_commands.shape[0]):
        now = min(steps[i], last)
        for part in range(shaking.shape[1]):
            for k in range(3):
                shaking[i, part, k] = base_motion.mean[i, now, part, k]
        for j in range(drive_commands.shape[1]):
            back = centring * (start[i, j] - measured[i, j])
            drive_commands[i, j] = offset[j] + back + scale[j] * actions[i, j]


@device
def sense_row(i, step, numbers, base_motion, machines, kept, signals):
    """Fill what the inertial sensors of row i tell about the period that ended at `step`."""
    fresh, end = step == 0, base_motion.mean.shape[1] - 1
    last, noise = min(max(step - 1, 0), end), base_motion.noise[i, step % (end + 1)]
    period, pose = numbers[PERIOD], machines.pose[i]
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    sensed = kept.sensed[i]
    ratio = base_motion.mean.shape[2]
    for k in range(3):
        base = 0.0
        if not fresh:
            for part in range(ratio):
                base += base_motion.mean[i, last, part, k] / ratio
        signals.base_acceleration[i, k] = base
        linear = (machines.twist[i, k] - kept.twist[i, k]) / period
        signals.absolute_acceleration[i, k] = 0.0 if fresh else linear + base
    force = (
        signals.absolute_acceleration[i, 0],
        signals.absolute_acceleration[i, 1],
        signals.absolute_acceleration[i, 2] + numbers[GRAVITY],
    )
    felt = rotate_back(matrix, force)
    spin = rotate_back(matrix, (machines.twist[i, 3], machines.twist[i, 4], machines.twist[i, 5]))
    fade = exp(-period / numbers[FORGETTING])
    for k in range(3):
        weight = numbers[GRAVITY] if k == 2 else 0.0
        rate = spin[k] + noise[3 + k]
        change = 0.0 if fresh else (rate - sensed[3 + k]) / period
        sensed[k] = felt[k] - weight + noise[k]
        sensed[3 + k] = rate
        sensed[6 + k] = change
        sensed[9 + k] = signals.base_acceleration[i, k] + noise[6 + k]
        for place, source in ((12, 0), (15, 9)):
            moving = 0.0 if fresh else fade * sensed[place + k] + period * sensed[source + k]
            sensed[place + k] = moving
    for k in range(6):
        kept.twist[i, k] = machines.twist[i, k]


@device
def observe_row(i, machines, kept, holding, sizes, last_action, out):
    """Fill the observation `out` (o,) of row i; see the table of `VibrationIsolationEnv`."""
    n = machines.measured.shape[1]
    at = 0
    for k in range(18):
        at = put(out, at, kept.sensed[i, k], sizes)
    for j in range(n):
        at = put(out, at, machines.measured[i, j] - kept.start[i, j], sizes)
    for j in range(n):
        at = put(out, at, machines.measured_rates[i, j], sizes)
    for j in range(n):
        at = put(out, at, machines.effort[i, j] - holding[j], sizes)
    for j in range(n):
        at = put_scalar(out, at, last_action[i, j])


@compiled
def look(
    rows, steps, numbers, base_motion, machines, kept, sizes, most, weights, last_action,
    observation, term, reward, reason, signals,
):  # fmt: skip
    """Fill what `rows` see and are rewarded for; `steps` (N,) count from zero at the reset.

    Args:
        rows: `(m,)`.
        steps: `(N,)` control periods since the reset.
        numbers: entries as named above.
        base_motion: `BaseMotion` of the base.
        machines: `Machines` of the batched plant.
        kept: `Kept` from one period to the next.
        sizes: `(o,)` scales of the observation.
        most: `(n,)` least coordinates, greatest, half the way, holding efforts.
        weights: `(t,)` of the reward's terms.
        last_action: `(N, a)` of this step.
        observation: `(N, o)`, overwritten, as the following.
        term: `(N, t)`.
        reward: `(N,)`.
        reason: `(N,)`.
        signals: `Signals`.
    """
    lower, upper, half, holding = most
    for row in range(rows.shape[0]):
        i = rows[row]
        if steps[i] == 0:
            begin_row(i, machines, kept)
        sense_row(i, steps[i], numbers, base_motion, machines, kept, signals)
        observe_row(i, machines, kept, holding, sizes, last_action, observation[i])
        for k in range(3):
            base = base_motion.place[i, min(steps[i], base_motion.place.shape[1] - 1), k]
            moved = machines.pose[i, k] - kept.pose[i, k]
            signals.absolute_displacement[i, k] = moved + base
        pose_error(machines.pose[i], kept.pose[i], kept.work, signals.rotation[i])
        judge_row(i, machines, kept, half, last_action, signals, term[i])
        total = 0.0
        for j in range(term.shape[1]):
            total += weights[j] * term[i, j]
        reward[i] = total
        for j in range(last_action.shape[1]):
            kept.before[i, j] = last_action[i, j]
        reason[i] = ending(i, machines, lower, upper, numbers, signals)


@device
def begin_row(i, machines, kept):
    """Take note of where row i begins its episode."""
    for j in range(machines.measured.shape[1]):
        kept.start[i, j] = machines.measured[i, j]
    for j in range(7):
        kept.pose[i, j] = machines.pose[i, j]
    for j in range(2):
        kept.squares[i, j] = 0.0
    for j in range(kept.before.shape[1]):
        kept.before[i, j] = 0.0


@device
def judge_row(i, machines, kept, half, last_action, signals, term):
    """Fill the reward's terms of row i, and its transmissibility up to now."""
    levels = kept.levels[i]
    left = distance(signals.absolute_acceleration[i])
    given = distance(signals.base_acceleration[i])
    kept.squares[i, 0] += left * left
    kept.squares[i, 1] += given * given
    shaken = kept.squares[i, 1]
    signals.transmissibility[i] = sqrt(kept.squares[i, 0] / shaken) if shaken > 0.0 else 0.0
    spin = machines.twist[i, 3:]
    term[0] = stillness(left, levels[ACCELERATION])
    term[1] = stillness(distance(signals.absolute_displacement[i]), levels[DISPLACEMENT])
    term[2] = stillness(distance(spin), levels[RATE])
    term[3] = stroke(machines.measured[i], kept.start[i], half)
    term[4] = smoothness(last_action[i], kept.before[i])


@device
def ending(i, machines, lower, upper, numbers, signals):
    """Return the code of why the episode of row i ends."""
    attitude = distance(signals.rotation[i])
    moved = distance(signals.absolute_displacement[i])
    if machines.failed[i] or not isfinite(attitude + moved):
        return ENGINE
    if attitude > numbers[LARGEST_ATTITUDE]:
        return ATTITUDE
    for j in range(lower.shape[0]):
        beyond = numbers[OVERTRAVEL] * (upper[j] - lower[j])
        at = machines.coordinates[i, j]
        if at < lower[j] - beyond or at > upper[j] + beyond:
            return LIMIT
    return GOES_ON
