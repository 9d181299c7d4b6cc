"""Common parts of all tasks: arrays, observations, rewards, termination and base motion."""

from __future__ import annotations

from math import cos, inf, log1p, pi, sin
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.batched.analytic import Machines
from twin.kernels.control.controllers import rotation_error
from twin.kernels.jit import compiled, device
from twin.kernels.kinematics import inverse_kinematics
from twin.kernels.lanes import lanes_memory
from twin.kernels.legs.dispatch import project_onto_constraints
from twin.kernels.linear_algebra import displace
from twin.kernels.numbers.arrays import as_lanes
from twin.kernels.numbers.lanes import lane

INFINITY = inf

OBSERVATION_BOUND = 10.0
"""Bound of every observation relative to its channel's scale; larger values are clipped."""

STILL_FRACTION = 0.1
"""Motion relative to the level, up to which `stillness` falls little."""

MOVING_FRACTION = 10.0
"""Motion relative to the level, from which on `stillness` is zero."""

AXIS_LANES = (0, 0, 0, 0)
"""Tuple whose length alone counts: lanes for x, y, z and one unused, to fill a register of four."""

SINE_REFRESH_STEPS = 128
"""Steps after which sines are evaluated directly: each recursion step adds a rounding error."""


class Scales(NamedTuple):
    """Typical sizes of the quantities of a machine's actuators."""

    lower: FloatArray
    """`(n,)` least coordinate [m, rad]"""
    upper: FloatArray
    """`(n,)` greatest coordinate [m, rad]"""
    middle: FloatArray
    """`(n,)` middle of both [m, rad]"""
    half: FloatArray
    """`(n,)` half the range between both [m, rad]"""
    speed: FloatArray
    """`(n,)` the actuator's limit; without one, half the range in 1 / (2 pi) s [m/s, rad/s]"""
    effort: FloatArray
    """`(n,)` the actuator's limit; without one, twice the force that holds the machine [N, N m]"""
    holding: FloatArray
    """`(n,)` forces that hold the machine at home"""


class History(NamedTuple):
    """Control periods since the reset, with the last two actions."""

    steps: IndexArray
    """`(N,)` control periods"""
    last_action: FloatArray
    """`(N, a)` actions of the last period, in -1 to 1"""
    previous_action: FloatArray
    """`(N, a)` actions of the period before"""


class Results(NamedTuple):
    """Results of a control period, with the constants that scale them."""

    observation: Any
    """`(N, o)`, float32"""
    scale: FloatArray
    """`(o,)` physical value that 1 in an observation means"""
    term_values: FloatArray
    """`(N, t)` of the reward, not weighted"""
    weights: FloatArray
    """`(t,)` weights of the reward's terms"""
    reward: FloatArray
    """`(N,)` weighted sum of the terms"""
    reason: IndexArray
    """`(N,)` code of why the episode ends; 0 where it continues"""


class ActionLaw(NamedTuple):
    """Meaning of actions, and the loop around the encoders that follows them."""

    scale: FloatArray
    """`(a,)` physical value of action 1; for increments, the change in one period"""
    bounds: FloatArray
    """`(a,)` largest displacement that increments add up to [m, rad]"""
    gain: float
    """gain of the position loop [1/s]"""
    period: float
    """control period [s]"""
    residual: bool
    """whether actions come on top of the reference"""


@device
def add_increment(offset: FloatArray, k: int, action: float, law: ActionLaw) -> float:
    """Add an action to entry k of a displacement `(a,)`, within its bounds; return the entry."""
    new_offset = offset[k] + law.scale[k] * action
    offset[k] = min(max(new_offset, -law.bounds[k]), law.bounds[k])
    return float(offset[k])


@device
def displaced_coordinates(
    legs: Any, pose: FloatArray, offset: FloatArray, y: FloatArray, coordinates: FloatArray
) -> bool:
    """Fill `coordinates` (n,) of a `pose` (7,) displaced by `offset` (6,) along the base axes.

    `y` (13,) is work: the displaced pose, at rest, projected onto the constraints of the legs.
    Returns False where an actuator cannot reach it.
    """
    displace(pose, 1.0, offset, y)
    for k in range(6):
        y[7 + k] = 0.0
    project_onto_constraints(legs, y)
    return inverse_kinematics(legs, y[:7], coordinates)


@device
def following_speed(
    setpoint: float, last_setpoint: float, measured: float, law: ActionLaw
) -> float:
    """Return the speed of an actuator from its last setpoint to the next within one period."""
    return (setpoint - last_setpoint) / law.period + law.gain * (last_setpoint - measured)


@device
def write_scalar(out: Any, index: int, value: float) -> int:
    """Write a value without unit, clipped, zero for NaN; return the next index."""
    out[index] = min(max(value, -OBSERVATION_BOUND), OBSERVATION_BOUND) if value == value else 0.0
    return index + 1


@device
def write(out: Any, index: int, value: float, scale: FloatArray) -> int:
    """Write `value` / `scale[index]` to `out[index]`, clipped; return the next index."""
    return write_scalar(out, index, value / scale[index])


@device
def write_all(out: Any, index: int, values: FloatArray, scale: FloatArray) -> int:
    """Write all `values` (k,) as `write` does; return the next index."""
    for j in range(values.shape[0]):
        index = write(out, index, values[j], scale)
    return index


@device
def write_scalars(out: Any, index: int, values: FloatArray) -> int:
    """Write all `values` (k,) as `write_scalar` does; return the next index."""
    for j in range(values.shape[0]):
        index = write_scalar(out, index, values[j])
    return index


@device
def write_difference(
    out: Any, index: int, values: FloatArray, origin: FloatArray, scale: FloatArray
) -> int:
    """Write `values` (k,) less `origin` (k,) as `write` does; return the next index."""
    for j in range(values.shape[0]):
        index = write(out, index, values[j] - origin[j], scale)
    return index


@device
def fill_pose_error(
    reference: FloatArray, pose: FloatArray, position: FloatArray, rotation: FloatArray
) -> None:
    """Fill `position` (3,) and `rotation` (3,), the rotation vector from `pose` to `reference`.

    Both in base axes; the rotation is the shorter way round.
    """
    rotation_vector = rotation_error(reference, pose)
    for k in range(3):
        position[k] = reference[k] - pose[k]
        rotation[k] = rotation_vector[k]


@compiled
def accept(actions: Any, out: FloatArray) -> bool:
    """Fill `out` (N, a) with `actions` clipped to 1; return False where one is not finite."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            action_value = float(actions[i, j])
            if not abs(action_value) < INFINITY:
                return False
            out[i, j] = min(max(action_value, -1.0), 1.0)
    return True


@device
def count(
    actions: FloatArray, steps: IndexArray, last_action: FloatArray, previous_action: FloatArray
) -> None:
    """Add a control period with `actions` (N, a) to arrays of a `History`; none where N is 0."""
    for i in range(actions.shape[0]):
        steps[i] += 1
        for j in range(actions.shape[1]):
            previous_action[i, j] = last_action[i, j]
            last_action[i, j] = actions[i, j]


@device
def closeness(error: float, scale: float, largest_error: float) -> float:
    """Return 1 without error, 0 at the largest, falling with the logarithm of 1 + error / scale.

    So an error of a tenth of the scale still matters, and one of a hundred times the scale too.
    """
    return max(0.0, 1.0 - log1p(error / scale) / log1p(largest_error / scale))


@device
def stillness(size: float, level: float) -> float:
    """Return 1 without motion, 0 from ten times the level on, falling with its logarithm.

    The level is the size of the base's motion: a platform that moves as much gets 0.48, a tenth of
    it 0.85.
    """
    return closeness(size / level, STILL_FRACTION, MOVING_FRACTION)


@device
def calmness(speed: float, scale: float) -> float:
    """Return minus the squared ratio of a speed [m/s] to its `scale`, no less than -1."""
    ratio = speed / scale
    return -min(ratio * ratio, 1.0)


@device
def smoothness(action: FloatArray, last_action: FloatArray) -> float:
    """Return minus the mean square change of an action `(a,)` since the one before, 0 to -4."""
    square_sum = 0.0
    for j in range(action.shape[0]):
        action_change = action[j] - last_action[j]
        square_sum += action_change * action_change
    return -square_sum / action.shape[0]


@device
def economy(effort: FloatArray, largest: FloatArray) -> float:
    """Return minus the mean square of efforts `(n,)` relative to the `largest` `(n,)`."""
    square_sum = 0.0
    for j in range(effort.shape[0]):
        effort_fraction = effort[j] / largest[j]
        square_sum += effort_fraction * effort_fraction
    return -square_sum / effort.shape[0]


@device
def stroke(coordinates: FloatArray, start: FloatArray, half: FloatArray) -> float:
    """Return minus the mean square of coordinates `(n,)` from `start`, relative to `half` (n,)."""
    square_sum = 0.0
    for j in range(coordinates.shape[0]):
        stroke_fraction = (coordinates[j] - start[j]) / half[j]
        square_sum += stroke_fraction * stroke_fraction
    return -square_sum / coordinates.shape[0]


@device
def add_terms(results: Results, i: int) -> None:
    """Fill the reward of environment i with the weighted sum of its terms."""
    weighted_sum = 0.0
    for j in range(results.weights.shape[0]):
        weighted_sum += results.weights[j] * results.term_values[i, j]
    results.reward[i] = weighted_sum


@device
def smooth_step(phase: float) -> tuple[float, float]:
    """Return 0 below 0, 1 above 1, smooth to the second derivative between, and its slope."""
    u = min(1.0, max(0.0, phase))
    complement = u * (1.0 - u)
    return u * u * u * (10.0 - u * (15.0 - 6.0 * u)), 30.0 * complement * complement


@device
def window(time: float, duration: float, fade: float) -> tuple[float, float]:
    """Return the fade-in and fade-out factor, 0 to 1, and its rate [1/s]."""
    fade_in, fade_in_rate = smooth_step(time / fade)
    fade_out, fade_out_rate = smooth_step((duration - time) / fade)
    return fade_in * fade_out, (fade_in_rate * fade_out - fade_in * fade_out_rate) / fade


@device
def advanced_phase(
    cosine: float, sine: float, step_cosine: float, step_sine: float
) -> tuple[float, float]:
    """Return cosine and sine of an angle, larger by that of `step_cosine` and `step_sine`."""
    return cosine * step_cosine - sine * step_sine, sine * step_cosine + cosine * step_sine


@compiled
def fill_shaking(
    lines: FloatArray,
    duration: float,
    fade: float,
    step: float,
    mean: FloatArray,
    displacement: FloatArray,
) -> None:
    """Fill the motion of a base that swings as the sum of `lines`, from rest to rest.

    Each line of acceleration A sin(omega t + phi) displaces by -A sin(omega t + phi) / omega^2;
    the sum is faded in and out. Mean accelerations over steps are differences of exact velocities,
    so that a base that takes them is nowhere faster or slower than the sum.

    Args:
        lines: `(3, k, 3)` per axis: frequency [Hz], acceleration [m/s2], phase [rad].
        duration: [s], at its end the base is back at rest.
        fade: [s].
        step: of the engine [s].
        mean: `(p, ratio, 3)` filled with the mean acceleration over each step of each period.
        displacement: `(p + 1, 3)` filled with the displacement at the periods' ends [m].
    """
    ratio, n_lines, width = mean.shape[1], lines.shape[1], AXIS_LANES
    lane_values = np.ones((7, n_lines, len(width)))
    for axis in range(3):
        for k in range(n_lines):
            omega = 2.0 * pi * lines[axis, k, 0]
            speed_amplitude, phase_step = lines[axis, k, 1] / omega, omega * step
            line_values = (
                omega,
                lines[axis, k, 2],
                speed_amplitude,
                speed_amplitude / omega,
                sin(phase_step),
                cos(phase_step),
            )
            for j in range(6):
                lane_values[j, k, axis] = line_values[j]
    lane_values[6] = 0.0
    lanes = as_lanes(lane_values, width)
    omegas, phases, speed_amplitudes, amplitudes = lanes[0], lanes[1], lanes[2], lanes[3]
    turn_sines, turn_cosines, at_rest = lanes[4], lanes[5], lanes[6, 0]
    sines, cosines = lanes_memory(n_lines, width), lanes_memory(n_lines, width)
    previous_speed = at_rest
    for index in range(mean.shape[0] * ratio + 1):
        period, substep = index // ratio, index % ratio
        if index % SINE_REFRESH_STEPS == 0:
            for k in range(n_lines):
                angle = omegas[k] * (index * step) + phases[k]
                sines[k] = sin(angle)
                cosines[k] = cos(angle)
        position, rate = at_rest, at_rest
        for k in range(n_lines):
            sine, cosine = sines[k], cosines[k]
            position -= amplitudes[k] * sine
            rate -= speed_amplitudes[k] * cosine
            cosines[k], sines[k] = advanced_phase(cosine, sine, turn_cosines[k], turn_sines[k])
        level, slope = window(index * step, duration, fade)
        speed = level * rate + slope * position
        for axis in range(3):
            if substep == 0:
                displacement[period, axis] = level * lane(position, axis)
            if index > 0:
                speed_gain = lane(speed, axis) - lane(previous_speed, axis)
                mean[(index - 1) // ratio, (index - 1) % ratio, axis] = speed_gain / step
        previous_speed = speed


EPISODE_CONTINUES, ENGINE_TERMINATION = 0, 1
"""Codes of all tasks: the episode continues, or the engine failed."""


@device
def beyond_travel(machines: Machines, i: int, scales: Scales, overtravel: float) -> bool:
    """Return whether an actuator of environment i is `overtravel` of its travel out of range."""
    for j in range(scales.lower.shape[0]):
        allowed_overtravel = overtravel * (scales.upper[j] - scales.lower[j])
        coordinate = machines.coordinates[i, j]
        if (
            coordinate < scales.lower[j] - allowed_overtravel
            or coordinate > scales.upper[j] + allowed_overtravel
        ):
            return True
    return False
