"""Forward dynamics and the mass matrix: M a + C^T multipliers = wrench + J^T forces - h.

C a + c' = 0 are the constraints that some legs put on the platform; where there are none, M alone
is solved. Coordinates inside the legs are accelerated by their own forces.
"""

from __future__ import annotations

from twin.kernels.dynamics.assembly import assemble, energy, field
from twin.kernels.dynamics.work import make_work
from twin.kernels.jit import by_kind, compiled, device
from twin.kernels.legs.dynamics import deflection_acceleration, deflection_count
from twin.kernels.legs.kinematics import CONSTRAINTS
from twin.kernels.linear_algebra.solve import solve_general, solve_positive
from twin.kernels.vectors import rotation

SINGULAR = 1e-13
"""Ratio of pivots below which the constraints do not determine their multipliers."""


@device
def solve_constrained(work, acceleration, count):
    """Overwrite `acceleration` (6,), the force on M, by the acceleration that meets constraints."""
    system, right, constraints = work.system, work.right, work.constraints
    for i in range(6):
        right[i] = acceleration[i]
        for j in range(i + 1):
            system[i, j] = work.mass_matrix[i, j]
            system[j, i] = work.mass_matrix[i, j]
    for i in range(count):
        right[6 + i] = -constraints[i, 6]
        for j in range(6):
            system[6 + i, j] = constraints[i, j]
            system[j, 6 + i] = constraints[i, j]
        for j in range(count):
            system[6 + i, 6 + j] = 0.0
    regular = abs(solve_general(system, right, 6 + count)) > SINGULAR
    for i in range(6):
        acceleration[i] = right[i]
    return regular


def accelerate(legs, work, acceleration):
    """Overwrite `acceleration` (6,), the force on M, by the acceleration; False: there is none."""
    raise NotImplementedError


@by_kind(accelerate)
def _accelerate(legs, work, acceleration):
    count = CONSTRAINTS.get(legs.instance_class, 0)
    if count == 0:
        return lambda legs, work, acceleration: solve_positive(work.mass_matrix, acceleration, 6)
    return lambda legs, work, acceleration: solve_constrained(work, acceleration, count)


@device
def forward_dynamics(body, legs, pose, twist, deflection, forces, wrench, acceleration, work):
    """Fill `acceleration` (6 + k,) of one state; return False where it does not exist.

    `deflection` (2k,) holds coordinates inside the legs and their rates; `work` is overwritten.
    """
    singular = assemble(body, legs, pose, twist, deflection, work)
    for k in range(6):
        total = wrench[k] - work.bias[k]
        for i in range(legs.rows.shape[0]):
            total += work.jacobian[i, k] * forces[i]
        acceleration[k] = total
    regular = accelerate(legs, work, acceleration)
    for i in range(deflection_count(legs)):
        acceleration[6 + i] = deflection_acceleration(
            legs,
            i,
            (pose[0], pose[1], pose[2]),
            rotation(pose[3], pose[4], pose[5], pose[6]),
            (twist[0], twist[1], twist[2]),
            (twist[3], twist[4], twist[5]),
            field(body),
            deflection,
            forces[i],
        )
    return regular and singular < 0


@compiled
def forward_dynamics_batch(body, legs, poses, twists, deflections, forces, wrenches, accelerations):
    """Fill `accelerations` (batch, 6 + k); return the first state without one, or -1."""
    work = make_work(legs)
    failed = -1
    for k in range(poses.shape[0]):
        regular = forward_dynamics(
            body,
            legs,
            poses[k],
            twists[k],
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
def mass_matrix_batch(body, legs, poses, twists, deflections, matrices):
    """Fill `matrices` (batch, 6, 6); return the first singular state, or -1."""
    work = make_work(legs)
    failed = -1
    for k in range(poses.shape[0]):
        singular = assemble(body, legs, poses[k], twists[k], deflections[k], work)
        for i in range(6):
            for j in range(i + 1):
                matrices[k, i, j] = work.mass_matrix[i, j]
                matrices[k, j, i] = work.mass_matrix[i, j]
        if singular >= 0 and failed < 0:
            failed = k
    return failed


@compiled
def energy_batch(body, legs, poses, twists, deflections, energies):
    """Fill `energies` (batch, 3): kinetic, potential [J], dissipated power [W]; returns -1."""
    for k in range(poses.shape[0]):
        energies[k, 0], energies[k, 1], energies[k, 2] = energy(
            body, legs, poses[k], twists[k], deflections[k]
        )
    return -1
