"""Rollouts of model predictive path integral control: several at once, in lanes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.control.computed_torque import RigidMachine
from twin.kernels.control.predictive.course import Cost, Course, place
from twin.kernels.dynamics.assembly import assemble
from twin.kernels.dynamics.forward import accelerate
from twin.kernels.dynamics.motors import add_motors
from twin.kernels.jit import allocating, compiled, device
from twin.kernels.lanes.groups import Width, lanes_work
from twin.kernels.numbers.arrays import as_lanes
from twin.kernels.platform_state import platform_state


@device
def squares(deviation: FloatArray, k: int, pose: float, both: float, twist: float) -> float:
    """Return a squared deviation of axis k with weights of pose, product and twist."""
    a, b = deviation[k], deviation[6 + k]
    return pose * (a * a) + (2.0 * both) * (a * b) + twist * (b * b)


@device
def beyond(cost: Cost, i: int, coordinate: float, rate: float) -> float:
    """Return what leg i costs beyond its stroke and its speed."""
    short, long = max(0.0, cost.low[i] - coordinate), max(0.0, coordinate - cost.high[i])
    fast = max(0.0, abs(rate) - cost.fastest[i])
    stroke = cost.stroke_weight[i] * (short * short + long * long)
    return stroke + cost.speed_weight[i] * (fast * fast)


class Group(NamedTuple):
    """States of a group of rollouts, in lanes."""

    pose: FloatArray
    twist: FloatArray
    deviation: FloatArray
    command: FloatArray
    """`(6,)` acceleration beside the reference's"""
    acceleration: FloatArray
    forces: FloatArray
    coordinates: FloatArray
    rates: FloatArray
    total: FloatArray
    """`(1,)` cost so far"""


@allocating
def make_group(n: int, width: Width) -> Group:
    """Return memory for a group of rollouts of a machine with n legs."""
    w = len(width)
    return Group(
        as_lanes(np.empty((7, w)), width),
        as_lanes(np.empty((6, w)), width),
        as_lanes(np.empty((12, w)), width),
        as_lanes(np.empty((6, w)), width),
        as_lanes(np.empty((6, w)), width),
        as_lanes(np.empty((n, w)), width),
        as_lanes(np.empty((n, w)), width),
        as_lanes(np.empty((n, w)), width),
        as_lanes(np.empty((1, w)), width),
    )


@device
def drive(
    group: Group,
    course: Course,
    cost: Cost,
    slopes: FloatArray,
    jacobian: FloatArray,
    s: int,
    span: float,
) -> None:
    """Fill the forces of a group within their limits; move coordinates on, and add costs."""
    for i in range(slopes.shape[1]):
        rate, force = 0.0, course.forces[s, i]
        for k in range(6):
            rate += jacobian[i, k] * group.twist[k]
            force += slopes[s, i, k] * group.command[k]
        group.forces[i] = max(course.low[s, i], min(course.high[s, i], force))
        if s > 0:
            group.coordinates[i] += 0.5 * span * (group.rates[i] + rate)
            group.total[0] += beyond(cost, i, group.coordinates[i], rate)
        group.rates[i] = rate


@device
def move(group: Group, course: Course, cost: Cost, s: int, span: float) -> None:
    """Move the deviations of a group on by a span, and add what the acceleration costs."""
    d = group.deviation
    for k in range(6):
        more = group.acceleration[k] - course.acceleration[s, k]
        d[k] += span * d[6 + k] + (0.5 * span * span) * more
        d[6 + k] += span * more
        group.total[0] += (cost.effort * cost.scale[k]) * (more * more)


@compiled
def rollouts(
    machine: RigidMachine,
    width: Width,
    course: Course,
    cost: Cost,
    feedback: FloatArray,
    span: float,
    slopes: FloatArray,
    start: tuple[FloatArray, FloatArray],
    inputs: FloatArray,
    noise: tuple[FloatArray, FloatArray],
    totals: FloatArray,
    path: FloatArray,
) -> None:
    """Fill the costs of rollouts; infinite for groups in which one meets a singular pose.

    In each span the acceleration is the reference's plus inputs plus noise, plus feedback of the
    deviation from the second on. It becomes forces by the derivatives of those of the reference,
    limited to what the motors give. The state is then moved on with the acceleration under these
    forces.

    Args:
        machine: constants.
        width: one entry per lane.
        course: the reference.
        cost: weights.
        feedback: `(2, lanes)` of pose [1/s2] and twist [1/s], in every group.
        span: [s] between nodes.
        slopes: `(S, n, 6)` of the reference's forces by acceleration.
        start: deviation `(12,)` and coordinates `(n,)` at the first node.
        inputs: `(S, 6)` accelerations.
        noise: knots `(groups, k, 6, lanes)` [m/s2, rad/s2], and where the spans `(S,)` are among
            them, straight lines between.
        totals: `(groups, lanes)`, overwritten.
        path: `(S + 1, 12, lanes)`, overwritten with the deviations of the last group.
    """
    n, spans, legs = slopes.shape[1], slopes.shape[0], machine.legs
    work, group, back = lanes_work(legs, width), make_group(n, width), as_lanes(feedback, width)
    d, end, tape = group.deviation, cost.terminal, as_lanes(path, width)
    for g in range(totals.shape[0]):
        knots, fine = as_lanes(noise[0][g], width), True
        group.total[0] = 0.0
        for k in range(12):
            d[k] = start[0][k]
        for i in range(n):
            group.coordinates[i] = start[1][i]
        for s in range(spans):
            knot = int(noise[1][s])
            share = noise[1][s] - knot
            place(course.pose[s], d, group.pose)
            for k in range(6):
                group.twist[k] = course.twist[s, k] + d[6 + k]
                more = (1.0 - share) * knots[knot, k] + share * knots[knot + 1, k]
                group.command[k] = inputs[s, k] + more
                if s > 0:
                    group.command[k] -= back[0] * d[k] + back[1] * d[6 + k]
                    group.total[0] += cost.scale[k] * squares(d, k, 1.0, 0.0, cost.speed)
                tape[s, k], tape[s, 6 + k] = d[k], d[6 + k]
            state = platform_state(group.pose, group.twist)
            fine &= assemble(machine.body, legs, state, machine.no_deflection, work) < 0
            drive(group, course, cost, slopes, work.jacobian, s, span)
            add_motors(legs, machine.inertia, state, work)
            fine &= accelerate(
                machine.body, legs, state, machine.no_deflection, group.forces, machine.no_wrench,
                group.acceleration, work,
            )  # fmt: skip
            if not fine:
                break
            move(group, course, cost, s, span)
        for k in range(6):
            tape[spans, k], tape[spans, 6 + k] = d[k], d[6 + k]
            group.total[0] += cost.scale[k] * squares(d, k, end[0, 0], end[0, 1], end[1, 1])
        as_lanes(totals[g : g + 1], width)[0] = group.total[0]
        if not fine:
            for lane in range(totals.shape[1]):
                totals[g, lane] = np.inf
