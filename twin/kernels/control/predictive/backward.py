"""Backward pass of the iterative linear-quadratic regulator with limits of the forces.

References:
    Li and Todorov, Iterative linear quadratic regulator design for nonlinear biological movement
    systems, ICINCO 2004; Tassa, Mansard and Todorov, Control-limited differential dynamic
    programming, ICRA 2014.
"""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.control.predictive.course import Cost, Course
from twin.kernels.control.predictive.shooting import Correction, Plan
from twin.kernels.jit import compiled, device
from twin.kernels.linear_algebra import factor_positive, solve_lower, solve_upper

ROUNDS, SMALLEST_SHARE = 30, 1e-4
"""Adopted: most Newton steps between the limits; one for each force that reaches its own, and more;
and the smallest share of one."""


@device
def solve_free(factor: FloatArray, free: FloatArray, right: FloatArray, work: FloatArray) -> None:
    """Overwrite `right` (n,) by its solution in the free entries, and zeros in the others."""
    count = 0
    for i in range(right.shape[0]):
        if free[i] > 0.0:
            work[count] = right[i]
            count += 1
    solve_lower(factor, work, count)
    solve_upper(factor, work, count)
    count = 0
    for i in range(right.shape[0]):
        right[i] = 0.0
        if free[i] > 0.0:
            right[i] = work[count]
            count += 1


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
def value_of(matrix: FloatArray, slope: FloatArray, x: FloatArray) -> float:
    """Return x' matrix x / 2 + slope' x."""
    total = 0.0
    for i in range(x.shape[0]):
        half = slope[i]
        for j in range(x.shape[0]):
            half += 0.5 * matrix[i, j] * x[j]
        total += half * x[i]
    return total


@compiled
def least_between(
    matrix: FloatArray,
    slope: FloatArray,
    low: FloatArray,
    high: FloatArray,
    x: FloatArray,
    free: FloatArray,
    factor: FloatArray,
) -> None:
    """Fill `x` (n,) with the least of x' matrix x / 2 + slope' x between limits.

    By projected Newton steps, halved until they lower the value. `free` (n,) is 1 where x is
    between its limits, and `factor` (n, n) the Cholesky factor of the matrix in these entries.
    """
    n = x.shape[0]
    change, work, tried = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        x[i] = max(low[i], min(high[i], 0.0))
    best = value_of(matrix, slope, x)
    for _ in range(ROUNDS):
        for i in range(n):
            change[i] = -slope[i]
            for j in range(n):
                change[i] -= matrix[i, j] * x[j]
            held = (x[i] <= low[i] and change[i] < 0.0) or (x[i] >= high[i] and change[i] > 0.0)
            free[i] = 0.0 if held or low[i] == high[i] else 1.0
        free_factor(matrix, free, factor)
        solve_free(factor, free, change, work)
        share, lower = 1.0, False
        while share > SMALLEST_SHARE and not lower:
            for i in range(n):
                tried[i] = max(low[i], min(high[i], x[i] + share * change[i]))
            found = value_of(matrix, slope, tried)
            lower = found < best
            share *= 0.5
        if not lower:
            break
        for i in range(n):
            x[i] = tried[i]
        best = found


@device
def add_limits(cost: Cost, plan: Plan, s: int, value: FloatArray) -> None:
    """Add the derivatives of what a state costs beyond stroke and speed, to first order."""
    for i in range(plan.coordinates.shape[1]):
        row, at = plan.jacobian[s, i], plan.coordinates[s, i]
        rate = 0.0
        for k in range(6):
            rate += row[k] * plan.y[s, 7 + k]
        over = max(0.0, at - cost.high[i]) - max(0.0, cost.low[i] - at)
        fast = max(0.0, rate - cost.fastest[i]) - max(0.0, -rate - cost.fastest[i])
        a = cost.stroke_weight[i] if over != 0.0 else 0.0
        b = cost.speed_weight[i] if fast != 0.0 else 0.0
        for k in range(6):
            value[k, 12] += a * over * row[k]
            value[6 + k, 12] += b * fast * row[k]
            for j in range(6):
                value[k, j] += a * row[k] * row[j]
                value[6 + k, 6 + j] += b * row[k] * row[j]


@device
def add_deviation(
    value: FloatArray, k: int, scale: float, weights: tuple[float, float, float], d: FloatArray
) -> None:
    """Add the derivatives of what a deviation (12,) costs along axis k: pose, both, twist."""
    pose, both, twist = scale * weights[0], scale * weights[1], scale * weights[2]
    value[k, k] += pose
    value[k, 6 + k] += both
    value[6 + k, k] += both
    value[6 + k, 6 + k] += twist
    value[k, 12] += pose * d[k] + both * d[6 + k]
    value[6 + k, 12] += both * d[k] + twist * d[6 + k]


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
    course: Course,
    cost: Cost,
    effort: FloatArray,
    plan: Plan,
    damping: float,
    change: Correction,
) -> float:
    """Fill the `change` that lowers `plan_cost` most; return by how much, to second order.

    What lies ahead of a node costs x' V x / 2 + p' x for a change x of its state. Matrices with a
    column 12 hold V and p, or gains and forces, side by side.

    Args:
        slopes: of each step by state, A `(S, 12, 12)`, and by forces, B `(S, 12, n)`.
        course: the reference.
        cost: weights.
        effort: `(n, n)` weights of the forces.
        plan: that is improved.
        damping: weight of changes of the forces, in parts of that of the forces.
        change: overwritten.
    """
    spans, n = plan.forces.shape
    value, end, gained = np.zeros((12, 13)), cost.terminal, 0.0
    x, free, factor = np.empty(n), np.empty(n), np.empty((n, n))
    work, slope, low, high = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for k in range(6):
        weights = (end[0, 0], end[0, 1], end[1, 1])
        add_deviation(value, k, cost.scale[k], weights, plan.deviation[spans])
    for s in range(spans - 1, -1, -1):
        by_state, by_force = slopes[0][s], slopes[1][s]
        ahead, moved, mixed = np.zeros((12, 13)), np.zeros((12, n)), np.zeros((n, 13))
        bend, both, law = np.zeros((n, n)), np.zeros((n, 13)), np.zeros((n, 13))
        add_product(value, by_state, ahead)
        add_product(value, by_force, moved)
        for k in range(12):
            ahead[k, 12] = value[k, 12]
        add_transposed(by_force, moved, bend)
        add_transposed(by_force, ahead, mixed)
        for i in range(n):
            for j in range(n):
                bend[i, j] += (1.0 + damping) * effort[i, j]
                mixed[i, 12] += effort[i, j] * (plan.forces[s, j] - course.forces[s, j])
            slope[i] = mixed[i, 12]
            low[i] = course.low[s, i] - plan.forces[s, i]
            high[i] = course.high[s, i] - plan.forces[s, i]
        least_between(bend, slope, low, high, x, free, factor)
        for i in range(n):
            law[i, 12] = change.forces[s, i] = x[i]
        for k in range(12):
            for i in range(n):
                x[i] = -mixed[i, k]
            solve_free(factor, free, x, work)
            for i in range(n):
                law[i, k] = change.gains[s, i, k] = x[i]
        for i in range(n):
            for k in range(13):
                both[i, k] = mixed[i, k]
        add_product(bend, law, both)
        value = np.zeros((12, 13))
        add_transposed(by_state, ahead, value)
        add_transposed(mixed, law, value)
        add_transposed(law, both, value)
        for i in range(n):
            gained -= law[i, 12] * (mixed[i, 12] + both[i, 12])
        for k in range(6):
            weights = (1.0, 0.0, cost.speed)
            add_deviation(value, k, cost.scale[k], weights, plan.deviation[s])
        add_limits(cost, plan, s, value)
        for i in range(12):
            for j in range(i):
                value[i, j] = value[j, i] = 0.5 * (value[i, j] + value[j, i])
    return gained
