"""Inverse dynamics: J^T forces + C^T multipliers = M a + h - wrench.

Six legs without constraints determine their forces. Where there are more actuators than degrees of
freedom, the forces of smallest norm are given: forces = J mu with

    [J^T J  C^T] [mu         ]   [M a + h - wrench]
    [C      0  ] [multipliers] = [0               ].
"""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import assemble
from twin.kernels.dynamics.work import Work, make_work
from twin.kernels.jit import compiled, device
from twin.kernels.legs.dispatch import constraint_count
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import solve_general
from twin.kernels.platform_state import PlatformState, platform_state

SINGULAR = 1e-12
"""Ratio of pivots of J^T below which forces are rounding error."""

SINGULAR_SQUARE = 1e-15
"""The same for J^T J, whose pivots are squares of those of J; constraints add their own scale."""


@device
def fill_transposed(work: Work) -> None:
    """Write the system of forces that are determined: J^T."""
    for i in range(6):
        for j in range(6):
            work.system[i, j] = work.jacobian[j, i]


@device
def fill_smallest(work: Work, count: int) -> None:
    """Write the system of the smallest forces, with zeros on the right of `count` constraints."""
    system, jacobian, constraints = work.system, work.jacobian, work.constraints
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            for k in range(jacobian.shape[0]):
                total += jacobian[k, i] * jacobian[k, j]
            system[i, j] = total
            system[j, i] = total
    for i in range(count):
        work.right[6 + i] = 0.0
        for j in range(6):
            system[6 + i, j] = constraints[i, j]
            system[j, 6 + i] = constraints[i, j]
        for j in range(count):
            system[6 + i, 6 + j] = 0.0


@device
def inverse_dynamics(
    body: FloatArray,
    legs: Legs,
    state: PlatformState,
    deflection: FloatArray,
    acceleration: FloatArray,
    wrench: FloatArray,
    forces: FloatArray,
    work: Work,
) -> bool:
    """Fill `forces` (n,) of one state; return False at a singular pose; `work` is overwritten."""
    singular = assemble(body, legs, state, deflection, work)
    right = work.right
    for i in range(6):
        total = work.bias[i] - wrench[i]
        for j in range(6):
            entry = work.mass_matrix[i, j] if j <= i else work.mass_matrix[j, i]
            total += entry * acceleration[j]
        right[i] = total
    n, count = legs.rows.shape[0], constraint_count(legs)
    determined = n == 6 and count == 0
    if determined:
        fill_transposed(work)
    else:
        fill_smallest(work, count)
    ratio = abs(solve_general(work.system, right, 6 + count))
    if determined:
        for i in range(6):
            forces[i] = right[i]
        return ratio > SINGULAR and singular < 0
    for k in range(n):
        forces[k] = 0.0
        for j in range(6):
            forces[k] += work.jacobian[k, j] * right[j]
    return ratio > SINGULAR_SQUARE and singular < 0


@compiled
def inverse_dynamics_batch(
    body: FloatArray,
    legs: Legs,
    poses: FloatArray,
    twists: FloatArray,
    deflections: FloatArray,
    accelerations: FloatArray,
    wrenches: FloatArray,
    forces: FloatArray,
) -> int:
    """Fill `forces` (batch, n); return the first singular state, or -1."""
    work = make_work(legs)
    failed = -1
    for k in range(poses.shape[0]):
        regular = inverse_dynamics(
            body,
            legs,
            platform_state(poses[k], twists[k]),
            deflections[k],
            accelerations[k],
            wrenches[k],
            forces[k],
            work,
        )
        if not regular and failed < 0:
            failed = k
    return failed
