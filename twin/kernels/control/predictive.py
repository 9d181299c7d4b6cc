"""Predictive control: costs, the backward pass and shooting.

A deviation (12,) is a displacement [m] and a rotation vector [rad] from the reference's pose, base
axes, and the difference of the twists.

The backward pass is that of the iterative linear-quadratic regulator, with limits of the forces.

References:
    Li and Todorov, Iterative linear quadratic regulator design for nonlinear biological movement
    systems, ICINCO 2004; Tassa, Mansard and Todorov, Control-limited differential dynamic
    programming, ICRA 2014.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.control.controllers import POSE_FOUND, RigidMachine, pose_error, required_forces
from twin.kernels.dynamics.assembly import make_work
from twin.kernels.integrators import Stages, driven_step
from twin.kernels.jit import compiled, device
from twin.kernels.legs.dispatch import actuation
from twin.kernels.legs.interface import Legs, resting_state
from twin.kernels.linear_algebra import (
    copy,
    displace,
    factor_positive,
    fill_row,
    solve_lower,
    solve_upper,
)


class PlanReference(NamedTuple):
    """The reference at the S + 1 nodes of a plan, and between them."""

    pose: FloatArray
    """`(S + 1, 7)` of the platform in the base: position [m], unit quaternion (scalar first)"""
    twist: FloatArray
    """`(S + 1, 6)` of the platform, base axes [m/s, rad/s]"""
    acceleration: FloatArray
    """`(S, 6)` mean between two nodes"""
    forces: FloatArray
    """`(S, n)` of the motors, friction left out"""
    low: FloatArray
    """`(S, n)` smallest forces of the motors"""
    high: FloatArray
    """`(S, n)` largest"""


class Cost(NamedTuple):
    """Weights of a plan's cost, which has no unit."""

    pose_weight: FloatArray
    """`(6,)` of squared deviations of the pose [1/m2, 1/rad2]"""
    twist_weight: float
    """weight of squared deviations of the twist, relative to `pose_weight` [s2]"""
    terminal_weight: FloatArray
    """`(2, 2)` of pose and twist at the end, relative to `pose_weight`"""
    low: FloatArray
    """`(n,)` coordinates [m, rad] below which a leg adds cost"""
    high: FloatArray
    """`(n,)` coordinates [m, rad] above which a leg adds cost"""
    speed_limit: FloatArray
    """`(n,)` rates [m/s, rad/s] above which a leg adds cost"""
    stroke_weight: FloatArray
    """`(n,)` of squared coordinates beyond [1/m2, 1/rad2]"""
    speed_weight: FloatArray
    """`(n,)` of squared rates beyond"""


@compiled
def reference_forces(
    machine: RigidMachine, y: FloatArray, accelerations: FloatArray, forces: FloatArray, work: Any
) -> int:
    """Fill the motors' forces `(S, n)` of states `(S, 13)` and accelerations `(S, 6)`.

    Returns:
        A code of `twin.kernels.control.controllers`.
    """
    leg_forces, motor_forces = forces[0].copy(), forces[0].copy()
    for s in range(forces.shape[0]):
        code = required_forces(machine, y[s], accelerations[s], leg_forces, motor_forces, work)
        if code != POSE_FOUND:
            return code
        for i in range(forces.shape[1]):
            forces[s, i] = leg_forces[i] + motor_forces[i]
    return POSE_FOUND


@device
def deviate(pose: FloatArray, twist: FloatArray, y: FloatArray, out: FloatArray) -> None:
    """Fill the deviation `out` (12,) of a state `y` (13,) from a pose and a twist."""
    pose_error(y, pose, out)
    for k in range(6):
        out[6 + k] = y[7 + k] - twist[k]


@compiled
def deviation_of(pose: FloatArray, twist: FloatArray, y: FloatArray, out: FloatArray) -> None:
    """Fill the deviation `out` (12,) of a state `y` (13,) from a pose and a twist."""
    deviate(pose, twist, y, out)


@compiled
def add_path_deviation(
    path: FloatArray, span: float, fraction: float, setpoint: FloatArray
) -> None:
    """Add the deviation between two nodes to a setpoint, by the cubic that has both rates.

    Args:
        path: `(2, 12)` deviations at the nodes.
        span: [s] between them.
        fraction: of the span, 0 to 1.
        setpoint: `(19,)` pose, twist and acceleration, overwritten.
    """
    u, v = fraction, 1.0 - fraction
    pose, deviation = setpoint[:7].copy(), path[0].copy()
    for k in range(6):
        start_deviation, end_deviation, start_change, end_change = (
            path[0, k],
            path[1, k],
            span * path[0, 6 + k],
            span * path[1, 6 + k],
        )
        deviation[k] = v * v * (start_deviation * (1.0 + 2.0 * u) + start_change * u) + u * u * (
            end_deviation * (1.0 + 2.0 * v) - end_change * v
        )
        rate = (
            6.0 * u * v * (end_deviation - start_deviation)
            + start_change * v * (1.0 - 3.0 * u)
            + end_change * u * (3.0 * u - 2.0)
        )
        deviation_curvature = (
            6.0 * (end_deviation - start_deviation) * (1.0 - 2.0 * u)
            + start_change * (6.0 * u - 4.0)
            + end_change * (6.0 * u - 2.0)
        )
        setpoint[7 + k] += rate / span
        setpoint[13 + k] += deviation_curvature / (span * span)
    displace(pose, 1.0, deviation, setpoint)


@device
def weighted_squares(
    deviation: FloatArray, k: int, pose_weight: float, product_weight: float, twist_weight: float
) -> float:
    """Return the weighted squares and product of axis k of a deviation: displacement and rate."""
    a, b = deviation[k], deviation[6 + k]
    return pose_weight * (a * a) + (2.0 * product_weight) * (a * b) + twist_weight * (b * b)


@device
def limit_cost(cost: Cost, i: int, coordinate: float, rate: float) -> float:
    """Return the cost of leg i beyond its stroke and speed limits."""
    shortfall, excess = max(0.0, cost.low[i] - coordinate), max(0.0, coordinate - cost.high[i])
    overspeed = max(0.0, abs(rate) - cost.speed_limit[i])
    stroke = cost.stroke_weight[i] * (shortfall * shortfall + excess * excess)
    return stroke + cost.speed_weight[i] * (overspeed * overspeed)


class Plan(NamedTuple):
    """States and forces over S spans, with leg coordinates and Jacobians at the nodes."""

    y: FloatArray
    """`(S + 1, 13)` states at the nodes: pose, twist"""
    forces: FloatArray
    """`(S, n)` of the motors, held over each span"""
    deviation: FloatArray
    """`(S + 1, 12)` from the reference"""
    coordinates: FloatArray
    """`(S + 1, n)` of the actuators [m, rad]"""
    jacobian: FloatArray
    """`(S + 1, n, 6)` of the legs at the nodes"""


class Correction(NamedTuple):
    """Change of a plan's forces: fraction * forces + gains @ change of the state."""

    forces: FloatArray
    """`(S, n)` change of the motors' forces [N, N m]"""
    gains: FloatArray
    """`(S, n, 12)` change of the motors' forces per change of the state from the old plan's"""


@device
def fill_legs(legs: Legs, plan: Plan, s: int) -> None:
    """Fill coordinates and Jacobian of a plan's state."""
    state = resting_state(plan.y[s])
    for i in range(legs.rows.shape[0]):
        w, moment, plan.coordinates[s, i] = actuation(legs, i, state.position, state.matrix)
        fill_row(plan.jacobian[s], i, w, moment)


@device
def add_defect(y: FloatArray, defect: FloatArray) -> None:
    """Add a defect `(12,)` of a step to the state `y` (13,) after it."""
    displace(y, 1.0, defect, y)
    for k in range(6):
        y[7 + k] += defect[6 + k]


@compiled
def reference_defects(
    machine: RigidMachine, reference: PlanReference, span: float, defects: FloatArray
) -> bool:
    """Fill the errors of a reference's steps under its forces; False where one fails.

    A reference's forces change within a span, and those of a plan do not. Added to every step,
    the defects (S, 12) make the reference itself a plan.
    """
    y, next_state = np.empty(13), np.empty(13)
    stages = Stages(np.empty(13), np.empty((4, 13)), make_work(machine.legs))
    for s in range(defects.shape[0]):
        y[:7], y[7:] = reference.pose[s], reference.twist[s]
        next_state[:7], next_state[7:] = reference.pose[s + 1], reference.twist[s + 1]
        if not driven_step(
            machine.body, machine.legs, machine.inertia, y, reference.forces[s], machine.no_wrench,
            span, stages,
        ):  # fmt: skip
            return False
        deviate(y, y[7:], next_state, defects[s])
    return True


@compiled
def shoot(
    machine: RigidMachine,
    reference: PlanReference,
    span: float,
    defects: FloatArray,
    old_plan: Plan,
    change: Correction,
    fraction: float,
    plan: Plan,
) -> bool:
    """Fill `plan` from its first state on; return False where a step fails.

    Args:
        machine: constants.
        reference: the reference.
        span: [s].
        defects: `(S, 12)` of the reference.
        old_plan: the plan that is corrected.
        change: its correction.
        fraction: of the forces of the correction.
        plan: overwritten, except for its first state.
    """
    legs, state_change = machine.legs, np.empty(12)
    stages = Stages(np.empty(13), np.empty((4, 13)), make_work(legs))
    spans, n = plan.forces.shape
    for s in range(spans + 1):
        deviate(reference.pose[s], reference.twist[s], plan.y[s], plan.deviation[s])
        fill_legs(legs, plan, s)
        if s == spans:
            break
        deviate(old_plan.y[s], old_plan.y[s, 7:], plan.y[s], state_change)
        for i in range(n):
            force = old_plan.forces[s, i] + fraction * change.forces[s, i]
            for k in range(12):
                force += change.gains[s, i, k] * state_change[k]
            plan.forces[s, i] = max(reference.low[s, i], min(reference.high[s, i], force))
        y = plan.y[s + 1]
        y[:] = plan.y[s]
        if not driven_step(
            machine.body, legs, machine.inertia, y, plan.forces[s], machine.no_wrench, span, stages
        ):
            return False
        add_defect(y, defects[s])
    return True


@compiled
def plan_cost(reference: PlanReference, cost: Cost, effort: FloatArray, plan: Plan) -> float:
    """Return the cost of a plan; `effort` (n, n) weighs differences from the reference's forces."""
    n_spans, n = plan.forces.shape
    terminal, total = cost.terminal_weight, 0.0
    for k in range(6):
        terminal_cost = weighted_squares(
            plan.deviation[n_spans], k, terminal[0, 0], terminal[0, 1], terminal[1, 1]
        )
        total += cost.pose_weight[k] * terminal_cost
    for s in range(n_spans):
        for k in range(6):
            total += cost.pose_weight[k] * weighted_squares(
                plan.deviation[s], k, 1.0, 0.0, cost.twist_weight
            )
        force_difference = plan.forces[s] - reference.forces[s]
        for i in range(n):
            rate = 0.0
            for k in range(6):
                rate += plan.jacobian[s, i, k] * plan.y[s, 7 + k]
            total += limit_cost(cost, i, plan.coordinates[s, i], rate)
            for j in range(n):
                total += effort[i, j] * (force_difference[i] * force_difference[j])
    return total


MAX_NEWTON_STEPS = 30
"""Engineering choice: largest number of projected Newton steps of a box-constrained quadratic
program. Each step may fix one more force at its limit; a machine has eight at most."""

MIN_STEP_FRACTION = 1e-4
"""Engineering choice: smallest fraction of a Newton step that the line search tries."""


@device
def solve_free(factor: FloatArray, free: FloatArray, right: FloatArray, work: FloatArray) -> None:
    """Overwrite `right` (n,) by its solution in the free entries, and zeros in the others."""
    n_free = 0
    for i in range(right.shape[0]):
        if free[i] > 0.0:
            work[n_free] = right[i]
            n_free += 1
    solve_lower(factor, work, n_free)
    solve_upper(factor, work, n_free)
    n_free = 0
    for i in range(right.shape[0]):
        right[i] = 0.0
        if free[i] > 0.0:
            right[i] = work[n_free]
            n_free += 1


@device
def free_factor(matrix: FloatArray, free: FloatArray, factor: FloatArray) -> None:
    """Fill the Cholesky factor of the rows and columns of a matrix that are free."""
    row = 0
    for i in range(free.shape[0]):
        if free[i] > 0.0:
            column = 0
            for j in range(i + 1):
                if free[j] > 0.0:
                    factor[row, column] = matrix[i, j]
                    column += 1
            row += 1
    factor_positive(factor, row)


@device
def quadratic_value(matrix: FloatArray, slope: FloatArray, x: FloatArray) -> float:
    """Return x' matrix x / 2 + slope' x."""
    total = 0.0
    for i in range(x.shape[0]):
        half_gradient = slope[i]
        for j in range(x.shape[0]):
            half_gradient += 0.5 * matrix[i, j] * x[j]
        total += half_gradient * x[i]
    return total


@compiled
def minimise_in_box(
    matrix: FloatArray,
    slope: FloatArray,
    low: FloatArray,
    high: FloatArray,
    x: FloatArray,
    free: FloatArray,
    factor: FloatArray,
) -> None:
    """Fill `x` (n,) with the minimiser of x' matrix x / 2 + slope' x between limits.

    By projected Newton steps, halved until they lower the value. `free` (n,) is 1 where x is
    between its limits, and `factor` (n, n) the Cholesky factor of the matrix in these entries.
    """
    n = x.shape[0]
    newton_step, work, trial = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        x[i] = max(low[i], min(high[i], 0.0))
    best_value = quadratic_value(matrix, slope, x)
    for _ in range(MAX_NEWTON_STEPS):
        for i in range(n):
            newton_step[i] = -slope[i]
            for j in range(n):
                newton_step[i] -= matrix[i, j] * x[j]
            at_limit = (x[i] <= low[i] and newton_step[i] < 0.0) or (
                x[i] >= high[i] and newton_step[i] > 0.0
            )
            free[i] = 0.0 if at_limit or low[i] == high[i] else 1.0
        free_factor(matrix, free, factor)
        solve_free(factor, free, newton_step, work)
        fraction, is_lower = 1.0, False
        while fraction > MIN_STEP_FRACTION and not is_lower:
            for i in range(n):
                trial[i] = max(low[i], min(high[i], x[i] + fraction * newton_step[i]))
            trial_value = quadratic_value(matrix, slope, trial)
            is_lower = trial_value < best_value
            fraction *= 0.5
        if not is_lower:
            break
        copy(trial, x)
        best_value = trial_value


@device
def add_limits(cost: Cost, plan: Plan, s: int, value: FloatArray) -> None:
    """Add the derivatives of a state's cost beyond stroke and speed, to first order."""
    for i in range(plan.coordinates.shape[1]):
        leg_jacobian, coordinate = plan.jacobian[s, i], plan.coordinates[s, i]
        rate = 0.0
        for k in range(6):
            rate += leg_jacobian[k] * plan.y[s, 7 + k]
        stroke_excess = max(0.0, coordinate - cost.high[i]) - max(0.0, cost.low[i] - coordinate)
        overspeed = max(0.0, rate - cost.speed_limit[i]) - max(0.0, -rate - cost.speed_limit[i])
        stroke_weight = cost.stroke_weight[i] if stroke_excess != 0.0 else 0.0
        speed_weight = cost.speed_weight[i] if overspeed != 0.0 else 0.0
        for k in range(6):
            value[k, 12] += stroke_weight * stroke_excess * leg_jacobian[k]
            value[6 + k, 12] += speed_weight * overspeed * leg_jacobian[k]
            for j in range(6):
                value[k, j] += stroke_weight * leg_jacobian[k] * leg_jacobian[j]
                value[6 + k, 6 + j] += speed_weight * leg_jacobian[k] * leg_jacobian[j]


@device
def add_deviation(
    value: FloatArray,
    k: int,
    scale: float,
    weights: tuple[float, float, float],
    deviation: FloatArray,
) -> None:
    """Add the derivatives of the cost of a deviation (12,) along axis k: pose, both, twist."""
    pose_weight, product_weight, twist_weight = (
        scale * weights[0],
        scale * weights[1],
        scale * weights[2],
    )
    value[k, k] += pose_weight
    value[k, 6 + k] += product_weight
    value[6 + k, k] += product_weight
    value[6 + k, 6 + k] += twist_weight
    value[k, 12] += pose_weight * deviation[k] + product_weight * deviation[6 + k]
    value[6 + k, 12] += product_weight * deviation[k] + twist_weight * deviation[6 + k]


@device
def add_product(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    """Add a b to the columns of `out` that b has."""
    for i in range(out.shape[0]):
        for j in range(b.shape[1]):
            for k in range(b.shape[0]):
                out[i, j] += a[i, k] * b[k, j]


@device
def add_transposed(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    """Add a' b to `out`, of as many columns of a and b as it has rows and columns."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(a.shape[0]):
                out[i, j] += a[k, i] * b[k, j]


@compiled
def backward(
    slopes: tuple[FloatArray, FloatArray],
    reference: PlanReference,
    cost: Cost,
    effort: FloatArray,
    plan: Plan,
    damping: float,
    change: Correction,
) -> float:
    """Fill the `change` that lowers `plan_cost` most; return by how much, to second order.

    A change x of a node's state changes half the cost from there on by x' V x / 2 + p' x. Matrices
    with a column 12 hold V and p, or gains and forces, side by side. `value_a` is V A, `value_b`
    V B.

    Args:
        slopes: of each step by state, A `(S, 12, 12)`, and by forces, B `(S, 12, n)`.
        reference: the reference.
        cost: weights.
        effort: `(n, n)` weights of the forces.
        plan: that is improved.
        damping: weight of force changes, relative to the weight of the forces.
        change: overwritten.
    """
    spans, n = plan.forces.shape
    value, terminal, reduction = np.zeros((12, 13)), cost.terminal_weight, 0.0
    x, free, factor = np.empty(n), np.empty(n), np.empty((n, n))
    work, gradient, lower, upper = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for k in range(6):
        weights = (terminal[0, 0], terminal[0, 1], terminal[1, 1])
        add_deviation(value, k, cost.pose_weight[k], weights, plan.deviation[spans])
    for s in range(spans - 1, -1, -1):
        by_state, by_force = slopes[0][s], slopes[1][s]
        value_a, value_b, cross_terms = np.zeros((12, 13)), np.zeros((12, n)), np.zeros((n, 13))
        hessian, law = np.zeros((n, n)), np.zeros((n, 13))
        add_product(value, by_state, value_a)
        add_product(value, by_force, value_b)
        for k in range(12):
            value_a[k, 12] = value[k, 12]
        add_transposed(by_force, value_b, hessian)
        add_transposed(by_force, value_a, cross_terms)
        for i in range(n):
            for j in range(n):
                hessian[i, j] += (1.0 + damping) * effort[i, j]
                cross_terms[i, 12] += effort[i, j] * (plan.forces[s, j] - reference.forces[s, j])
            gradient[i] = cross_terms[i, 12]
            lower[i] = reference.low[s, i] - plan.forces[s, i]
            upper[i] = reference.high[s, i] - plan.forces[s, i]
        minimise_in_box(hessian, gradient, lower, upper, x, free, factor)
        for i in range(n):
            law[i, 12] = change.forces[s, i] = x[i]
        for k in range(12):
            for i in range(n):
                x[i] = -cross_terms[i, k]
            solve_free(factor, free, x, work)
            for i in range(n):
                law[i, k] = change.gains[s, i, k] = x[i]
        law_terms = cross_terms.copy()
        add_product(hessian, law, law_terms)
        value = np.zeros((12, 13))
        add_transposed(by_state, value_a, value)
        add_transposed(cross_terms, law, value)
        add_transposed(law, law_terms, value)
        for i in range(n):
            reduction -= law[i, 12] * (cross_terms[i, 12] + law_terms[i, 12])
        for k in range(6):
            weights = (1.0, 0.0, cost.twist_weight)
            add_deviation(value, k, cost.pose_weight[k], weights, plan.deviation[s])
        add_limits(cost, plan, s, value)
        for i in range(12):
            for j in range(i):
                value[i, j] = value[j, i] = 0.5 * (value[i, j] + value[j, i])
    return reduction
