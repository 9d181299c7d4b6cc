"""Forward dynamics and the mass matrix: M a + C^T multipliers = wrench + J^T forces - h.

C a + c' = 0 are the constraints that some legs put on the platform; where there are none, M alone
is solved. Deflections of springs in series are accelerated by their own forces.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import assemble, energy, field
from twin.kernels.dynamics.work import Work, make_work
from twin.kernels.jit import by_kind, compiled, device, inlined
from twin.kernels.legs.dispatch import (
    attribute,
    deflection_acceleration,
    deflections_per_leg,
)
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import (
    factor_positive,
    solve_lower,
    solve_positive,
    solve_upper,
)
from twin.kernels.platform_state import PlatformState, platform_state

SINGULAR = 1e-13
"""Ratio of squared pivots below which the constraints do not determine their multipliers."""


@device
def solve_constrained(work: Work, acceleration: FloatArray, count: int) -> bool:
    """Overwrite `acceleration` (6,), the force on M, by that under `count` constraints.

    With M = L L^T and Y = L^-1 C^T the multipliers solve Y^T Y multipliers = Y^T L^-1 f + c'.
    """
    factor, system, right, rows = work.mass_matrix, work.system, work.right, work.constraints
    if not factor_positive(factor, 6):
        return False
    solve_lower(factor, acceleration, 6)
    for i in range(count):
        column = system[count + i]
        for k in range(6):
            column[k] = rows[i, k]
        solve_lower(factor, column, 6)
        right[i] = rows[i, 6]
        for k in range(6):
            right[i] += column[k] * acceleration[k]
        for j in range(i + 1):
            system[i, j] = 0.0
            for k in range(6):
                system[i, j] += column[k] * system[count + j, k]
    regular = factor_positive(system, count)
    smallest, largest = 1e300, 0.0
    for i in range(count):
        smallest, largest = min(smallest, system[i, i]), max(largest, system[i, i])
    solve_lower(system, right, count)
    solve_upper(system, right, count)
    for i in range(count):
        for k in range(6):
            acceleration[k] -= system[count + i, k] * right[i]
    solve_upper(factor, acceleration, 6)
    return regular and smallest * smallest > SINGULAR * largest * largest


def solve_motion(legs: Legs, work: Work, acceleration: FloatArray) -> bool:
    """Overwrite `acceleration` (6,), the force on M, by that which the constraints allow."""
    raise NotImplementedError


@by_kind(solve_motion)
def _solve_motion(legs: Any, work: Any, acceleration: Any) -> Callable[..., bool]:
    count = int(attribute(legs.instance_class, "CONSTRAINT_COUNT", 0))
    if count == 0:
        return lambda legs, work, acceleration: solve_positive(work.mass_matrix, acceleration, 6)
    return lambda legs, work, acceleration: solve_constrained(work, acceleration, count)


@inlined
def accelerate(
    body: FloatArray,
    legs: Legs,
    state: PlatformState,
    deflection: FloatArray,
    forces: FloatArray,
    wrench: FloatArray,
    acceleration: FloatArray,
    work: Work,
) -> bool:
    """Fill `acceleration` (6 + k,) of an assembled state; return False where it does not exist."""
    for k in range(6):
        total = wrench[k] - work.bias[k]
        for i in range(legs.rows.shape[0]):
            total += work.jacobian[i, k] * forces[i]
        acceleration[k] = total
    regular = solve_motion(legs, work, acceleration)
    for i in range(deflections_per_leg(legs) * legs.rows.shape[0]):
        acceleration[6 + i] = deflection_acceleration(
            legs, i, state, field(body), deflection, forces[i]
        )
    return regular


@device
def forward_dynamics(
    body: FloatArray,
    legs: Legs,
    state: PlatformState,
    deflection: FloatArray,
    forces: FloatArray,
    wrench: FloatArray,
    acceleration: FloatArray,
    work: Work,
) -> bool:
    """Fill `acceleration` (6 + k,) of one state; return False where it does not exist.

    `deflection` (2k,) holds that of springs in series and their rates; `work` is overwritten.
    """
    singular = assemble(body, legs, state, deflection, work)
    regular = accelerate(body, legs, state, deflection, forces, wrench, acceleration, work)
    return regular and singular < 0


@compiled
def forward_dynamics_batch(
    body: FloatArray,
    legs: Legs,
    poses: FloatArray,
    twists: FloatArray,
    deflections: FloatArray,
    forces: FloatArray,
    wrenches: FloatArray,
    accelerations: FloatArray,
) -> int:
    """Fill `accelerations` (batch, 6 + k); return the first state without one, or -1."""
    work = make_work(legs)
    failed = -1
    for k in range(poses.shape[0]):
        regular = forward_dynamics(
            body,
            legs,
            platform_state(poses[k], twists[k]),
            deflections[k],
            forces[k],
            wrenches[k],
            accelerations[k],
            work,
        )
        if not regular and failed < 0:
            failed = k
    return failed


@compiled
def mass_matrix_batch(
    body: FloatArray,
    legs: Legs,
    poses: FloatArray,
    twists: FloatArray,
    deflections: FloatArray,
    matrices: FloatArray,
) -> int:
    """Fill `matrices` (batch, 6, 6); return the first singular state, or -1."""
    work = make_work(legs)
    failed = -1
    for k in range(poses.shape[0]):
        state = platform_state(poses[k], twists[k])
        singular = assemble(body, legs, state, deflections[k], work)
        for i in range(6):
            for j in range(i + 1):
                matrices[k, i, j] = work.mass_matrix[i, j]
                matrices[k, j, i] = work.mass_matrix[i, j]
        if singular >= 0 and failed < 0:
            failed = k
    return failed


@compiled
def energy_batch(
    body: FloatArray,
    legs: Legs,
    poses: FloatArray,
    twists: FloatArray,
    deflections: FloatArray,
    energies: FloatArray,
) -> int:
    """Fill `energies` (batch, 3): kinetic, potential [J], dissipated power [W]; returns -1."""
    for k in range(poses.shape[0]):
        energies[k, 0], energies[k, 1], energies[k, 2] = energy(
            body, legs, platform_state(poses[k], twists[k]), deflections[k]
        )
    return -1
