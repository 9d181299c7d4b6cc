"""Shooting: states along a plan under its forces and gains, and what they cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.control.computed_torque import RigidMachine
from twin.kernels.control.predictive.course import Cost, Course, deviate, displace
from twin.kernels.control.predictive.rollouts import beyond, squares
from twin.kernels.dynamics.work import make_work
from twin.kernels.integrators.driven_step import driven_step
from twin.kernels.integrators.runge_kutta import Stages
from twin.kernels.jit import compiled, device
from twin.kernels.kinematics.jacobian import fill_row
from twin.kernels.legs.dispatch import actuation
from twin.kernels.legs.interface import Legs
from twin.kernels.platform_state import resting_state
from twin.kernels.vectors import cross


class Plan(NamedTuple):
    """States and forces over S spans, and where they bring the legs."""

    y: FloatArray
    """`(S + 1, 13)`"""
    forces: FloatArray
    """`(S, n)` of the motors, held over each span"""
    deviation: FloatArray
    """`(S + 1, 12)` from the reference"""
    coordinates: FloatArray
    """`(S + 1, n)`"""
    jacobian: FloatArray
    """`(S + 1, n, 6)`"""


class Correction(NamedTuple):
    """Change of a plan's forces: share * forces + gains @ change of the state."""

    forces: FloatArray
    """`(S, n)`"""
    gains: FloatArray
    """`(S, n, 12)`"""


@device
def fill_legs(legs: Legs, plan: Plan, s: int) -> None:
    """Fill coordinates and Jacobian of a plan's state."""
    at = resting_state(plan.y[s])
    for i in range(legs.rows.shape[0]):
        arm, w, plan.coordinates[s, i] = actuation(legs, i, at.position, at.matrix)
        fill_row(plan.jacobian[s], i, w, cross(arm, w))


@device
def drift(y: FloatArray, defect: FloatArray) -> None:
    """Move a state `y` (13,) on by a defect `(12,)`."""
    displace(y, defect, y)
    for k in range(6):
        y[7 + k] += defect[6 + k]


@compiled
def reference_defects(
    machine: RigidMachine, course: Course, span: float, defects: FloatArray
) -> bool:
    """Fill what the steps of a reference under its forces miss of it; False where one fails.

    A reference's forces change within a span, and those of a plan do not. Added to every step,
    the defects (S, 12) make the reference itself a plan.
    """
    y, target = np.empty(13), np.empty(13)
    stages = Stages(np.empty(13), np.empty((4, 13)), make_work(machine.legs))
    for s in range(defects.shape[0]):
        y[:7], y[7:] = course.pose[s], course.twist[s]
        target[:7], target[7:] = course.pose[s + 1], course.twist[s + 1]
        if not driven_step(
            machine.body, machine.legs, machine.inertia, y, course.forces[s], machine.no_wrench,
            span, stages,
        ):  # fmt: skip
            return False
        deviate(y, y[7:], target, defects[s])
    return True


@compiled
def shoot(
    machine: RigidMachine,
    course: Course,
    span: float,
    defects: FloatArray,
    last: Plan,
    change: Correction,
    share: float,
    plan: Plan,
) -> bool:
    """Fill `plan` from its first state on; return False where a step fails.

    Args:
        machine: constants.
        course: the reference.
        span: [s].
        defects: `(S, 12)` of the reference.
        last: the plan that is corrected.
        change: its correction.
        share: of the forces of the correction.
        plan: overwritten, except for its first state.
    """
    legs, e = machine.legs, np.empty(12)
    stages = Stages(np.empty(13), np.empty((4, 13)), make_work(legs))
    spans, n = plan.forces.shape
    for s in range(spans + 1):
        deviate(course.pose[s], course.twist[s], plan.y[s], plan.deviation[s])
        fill_legs(legs, plan, s)
        if s == spans:
            break
        deviate(last.y[s], last.y[s, 7:], plan.y[s], e)
        for i in range(n):
            force = last.forces[s, i] + share * change.forces[s, i]
            for k in range(12):
                force += change.gains[s, i, k] * e[k]
            plan.forces[s, i] = max(course.low[s, i], min(course.high[s, i], force))
        y = plan.y[s + 1]
        y[:] = plan.y[s]
        if not driven_step(
            machine.body, legs, machine.inertia, y, plan.forces[s], machine.no_wrench, span, stages
        ):
            return False
        drift(y, defects[s])
    return True


@compiled
def plan_cost(course: Course, cost: Cost, effort: FloatArray, plan: Plan) -> float:
    """Return the cost of a plan; `effort` (n, n) weighs differences from the reference's forces."""
    spans, n = plan.forces.shape
    end, total = cost.terminal, 0.0
    for k in range(6):
        last = squares(plan.deviation[spans], k, end[0, 0], end[0, 1], end[1, 1])
        total += cost.scale[k] * last
    for s in range(spans):
        for k in range(6):
            total += cost.scale[k] * squares(plan.deviation[s], k, 1.0, 0.0, cost.speed)
        more = plan.forces[s] - course.forces[s]
        for i in range(n):
            rate = 0.0
            for k in range(6):
                rate += plan.jacobian[s, i, k] * plan.y[s, 7 + k]
            total += beyond(cost, i, plan.coordinates[s, i], rate)
            for j in range(n):
                total += effort[i, j] * (more[i] * more[j])
    return total
