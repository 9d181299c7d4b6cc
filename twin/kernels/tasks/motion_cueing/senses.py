"""Perception of the drivers of vehicle and platform over one control period."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device
from twin.kernels.tasks.motion_cueing.arrays import Constants, Senses
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.kernels.vectors import Matrix, Vector, add, cross, rotate, rotate_back, rotation

MODEL_SIZE = 11
"""Entries of a model: transition (4), state per input at begin (2) and end (2) of a period,
output per state (2) and per input."""

AXES = 6
"""Otoliths along x, y, z, then canals about x, y, z."""


@device
def sense(model: FloatArray, state: FloatArray, left: float, right: float) -> float:
    """Advance `state` (2,) by one period; return what is sensed at its end.

    Exact for inputs that are linear within the period.

    Args:
        model: `(MODEL_SIZE,)`.
        state: `(2,)`, overwritten.
        left: input at the begin of the period; may differ from the end of the last one.
        right: input at its end.
    """
    first = model[0] * state[0] + model[1] * state[1] + model[4] * left + model[6] * right
    second = model[2] * state[0] + model[3] * state[1] + model[5] * left + model[7] * right
    state[0], state[1] = first, second
    return float(model[8] * first + model[9] * second + model[10] * right)


@compiled
def sense_all(
    models: FloatArray,
    states: FloatArray,
    left: FloatArray,
    right: FloatArray,
    perceived: FloatArray,
) -> None:
    """Fill `perceived` (6,) at the end of a period: otoliths [m/s2], canals [rad/s].

    Args:
        models: `(2, MODEL_SIZE)` of otoliths and canals.
        states: `(6, 2)`, overwritten.
        left: `(6,)` specific force less rest [m/s2] and angular rate [rad/s] at the begin.
        right: `(6,)` at the end.
        perceived: overwritten.
    """
    for j in range(AXES):
        perceived[j] = sense(models[j // 3], states[j], left[j], right[j])


@device
def turn_of(values: FloatArray, start: int) -> Matrix:
    """Return the rotation matrix of the quaternion that begins at `start`."""
    return rotation(values[start], values[start + 1], values[start + 2], values[start + 3])


@device
def head_velocity(turn: Matrix, head: FloatArray, twist: FloatArray) -> Vector:
    """Return the velocity of the head [m/s], base axes."""
    arm = rotate(turn, (head[0], head[1], head[2]))
    spin = (twist[3], twist[4], twist[5])
    return add((twist[0], twist[1], twist[2]), cross(spin, arm))


@device
def fill_still(turn: Matrix, twist: FloatArray, still: FloatArray) -> None:
    """Fill `still` (6,): gravity's part of specific force less rest, and angular rate."""
    lean = rotate_back(turn, (0.0, 0.0, GRAVITY))
    spin = rotate_back(turn, (twist[3], twist[4], twist[5]))
    for k in range(3):
        still[k] = lean[k]
        still[3 + k] = spin[k]
    still[2] -= GRAVITY


@device
def table_index(senses: Senses, step: int) -> int:
    """Return the index of a manoeuvre's table at a control period; the last after its end."""
    return min(step, senses.table.shape[1] - 1)


@device
def begin_senses(
    constants: Constants, senses: Senses, i: int, pose: FloatArray, twist: FloatArray
) -> None:
    """Begin an episode of environment i at a motion: both drivers were at rest until then."""
    models = constants.models
    for j in range(6):
        senses.left[i, j] = 0.0
        for k in range(2):
            senses.vehicle_states[i, j, k] = 0.0
            senses.platform_states[i, j, k] = 0.0
    left, right, turn = senses.left[i], senses.right[i], turn_of(pose, 3)
    sense_all(models, senses.vehicle_states[i], left, senses.table[i, 0], senses.vehicle[i])
    fill_still(turn, twist, right)
    sense_all(models, senses.platform_states[i], left, right, senses.platform[i])
    remember(senses, i, pose, twist, head_velocity(turn, constants.head, twist))
    senses.sums[i, 0] = 0.0
    senses.sums[i, 1] = 0.0


@device
def feel_vehicle(constants: Constants, senses: Senses, i: int, step: int) -> None:
    """Advance the senses of the vehicle's driver by the period that ends at `step`."""
    before = senses.table[i, table_index(senses, step - 1)]
    now = senses.table[i, table_index(senses, step)]
    sense_all(constants.models, senses.vehicle_states[i], before, now, senses.vehicle[i])


@device
def feel_platform(
    constants: Constants, senses: Senses, i: int, pose: FloatArray, twist: FloatArray
) -> None:
    """Advance the senses of the platform's driver by one period that ends at a motion.

    Specific force is the mean acceleration of the head over the period, from its velocities at
    both ends, so that no push between two samples is lost, and gravity in the platform's axes.
    """
    turn, left, right = turn_of(pose, 3), senses.left[i], senses.right[i]
    before, period = turn_of(senses.before[i], 3), constants.period
    velocity = head_velocity(turn, constants.head, twist)
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
    sense_all(constants.models, senses.platform_states[i], left, right, senses.platform[i])
    remember(senses, i, pose, twist, velocity)


@device
def remember(senses: Senses, i: int, pose: FloatArray, twist: FloatArray, velocity: Vector) -> None:
    """Keep the head's velocity, the attitude and the twist for the next period."""
    for k in range(3):
        senses.before[i, k] = velocity[k]
    for k in range(4):
        senses.before[i, 3 + k] = pose[3 + k]
    for k in range(6):
        senses.turning[i, k] = twist[k]
