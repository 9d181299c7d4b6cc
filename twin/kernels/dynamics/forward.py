"""Forward and inverse dynamics, with motors and payload, and the state that integrators take.

Forward dynamics solve

    M a + C^T multipliers = wrench + J^T forces - h,   C a + c' = 0,

where C are the constraints that some legs put on the platform; without them, M alone is solved.
Deflections of springs in series are accelerated by their own forces.

Inverse dynamics solve J^T forces + C^T multipliers = M a + h - wrench. Six legs without constraints
determine their forces. Where there are more actuators than degrees of freedom, the forces of
smallest norm are given: forces = J mu with

    [J^T J  C^T] [mu         ]   [M a + h - wrench]
    [C      0  ] [multipliers] = [0               ].

The inertia of motors that move with the actuators, m q'' in each, is added to the platform's
equations. With q'' = J a + J' t the forces of the motors are forces on the legs plus
m (J a + J' t). So

    (M + J^T m J) a + h + J^T m J' t = wrench + J^T motor forces.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import Work, assemble, energy, field, fill_body, make_work
from twin.kernels.jit import by_kind, compiled, device, inlined
from twin.kernels.kinematics import coordinates_and_rates
from twin.kernels.legs.dispatch import (
    actuation_rate,
    attribute,
    constraint_count,
    deflection_acceleration,
    deflections_per_leg,
    project_onto_constraints,
)
from twin.kernels.legs.interface import Legs, PlatformState, platform_state
from twin.kernels.linear_algebra import (
    dot,
    factor_positive,
    quaternion_product,
    quaternion_rate,
    solve_general,
    solve_lower,
    solve_positive,
    solve_upper,
)

MULTIPLIER_PIVOT_RATIO = 1e-13
"""Ratio of squared pivots below which the constraints do not determine their multipliers."""

FORCE_PIVOT_RATIO = 1e-12
"""Ratio of pivots of J^T below which forces are rounding error."""

SQUARED_PIVOT_RATIO = 1e-15
"""Ratio of pivots below which J^T J is singular; they are squares of the pivots of J, and
constraints add their own scale."""

STATE_SIZE = 13
"""Entries of a state without deflections."""


@device
def solve_constrained(work: Work, acceleration: FloatArray, count: int) -> bool:
    """Overwrite `acceleration` (6,), the force on M, by that under `count` constraints.

    With M = L L^T and Y = L^-1 C^T the multipliers solve Y^T Y multipliers = Y^T L^-1 f + c'.
    """
    factor, system, right, constraint_rows = (
        work.mass_matrix,
        work.system,
        work.right,
        work.constraints,
    )
    if not factor_positive(factor, 6):
        return False
    solve_lower(factor, acceleration, 6)
    for i in range(count):
        column = system[count + i]
        for k in range(6):
            column[k] = constraint_rows[i, k]
        solve_lower(factor, column, 6)
        right[i] = constraint_rows[i, 6]
        for k in range(6):
            right[i] += column[k] * acceleration[k]
        for j in range(i + 1):
            system[i, j] = 0.0
            for k in range(6):
                system[i, j] += column[k] * system[count + j, k]
    regular = factor_positive(system, count)
    smallest_pivot, largest_pivot = 1e300, 0.0
    for i in range(count):
        smallest_pivot, largest_pivot = (
            min(smallest_pivot, system[i, i]),
            max(largest_pivot, system[i, i]),
        )
    solve_lower(system, right, count)
    solve_upper(system, right, count)
    for i in range(count):
        for k in range(6):
            acceleration[k] -= system[count + i, k] * right[i]
    solve_upper(factor, acceleration, 6)
    return (
        regular
        and smallest_pivot * smallest_pivot > MULTIPLIER_PIVOT_RATIO * largest_pivot * largest_pivot
    )


def solve_motion(legs: Legs, work: Work, acceleration: FloatArray) -> bool:
    """Overwrite `acceleration` (6,), the force on M, by that which the constraints allow."""
    raise NotImplementedError


@by_kind(solve_motion)
def _solve_motion(legs: Any, work: Any, acceleration: Any) -> Callable[..., bool]:
    """Return the solver for a kind of legs; the arguments are numba's types while it compiles."""
    n_constraints = int(attribute(legs.instance_class, "CONSTRAINT_COUNT", 0))
    if n_constraints == 0:
        return lambda legs, work, acceleration: solve_positive(work.mass_matrix, acceleration, 6)
    return lambda legs, work, acceleration: solve_constrained(work, acceleration, n_constraints)


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
    singular_leg = assemble(body, legs, state, deflection, work)
    regular = accelerate(body, legs, state, deflection, forces, wrench, acceleration, work)
    return regular and singular_leg < 0


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
    first_failed = -1
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
        if not regular and first_failed < 0:
            first_failed = k
    return first_failed


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
    first_failed = -1
    for k in range(poses.shape[0]):
        state = platform_state(poses[k], twists[k])
        singular_leg = assemble(body, legs, state, deflections[k], work)
        for i in range(6):
            for j in range(i + 1):
                matrices[k, i, j] = work.mass_matrix[i, j]
                matrices[k, j, i] = work.mass_matrix[i, j]
        if singular_leg >= 0 and first_failed < 0:
            first_failed = k
    return first_failed


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


@device
def fill_jacobian_transposed(work: Work) -> None:
    """Fill the system of six forces that a wrench determines: J^T."""
    for i in range(6):
        for j in range(6):
            work.system[i, j] = work.jacobian[j, i]


@device
def fill_least_norm_system(work: Work, count: int) -> None:
    """Fill the system of the forces of least norm; right-hand sides of constraints become zero.

    See the module; `count` is the number of constraints.
    """
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
    singular_leg = assemble(body, legs, state, deflection, work)
    right = work.right
    for i in range(6):
        required = work.bias[i] - wrench[i]
        for j in range(6):
            entry = work.mass_matrix[i, j] if j <= i else work.mass_matrix[j, i]
            required += entry * acceleration[j]
        right[i] = required
    n, n_constraints = legs.rows.shape[0], constraint_count(legs)
    is_determined = n == 6 and n_constraints == 0
    if is_determined:
        fill_jacobian_transposed(work)
    else:
        fill_least_norm_system(work, n_constraints)
    ratio = abs(solve_general(work.system, right, 6 + n_constraints))
    if is_determined:
        for i in range(6):
            forces[i] = right[i]
        return ratio > FORCE_PIVOT_RATIO and singular_leg < 0
    for k in range(n):
        forces[k] = 0.0
        for j in range(6):
            forces[k] += work.jacobian[k, j] * right[j]
    return ratio > SQUARED_PIVOT_RATIO and singular_leg < 0


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
    first_failed = -1
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
        if not regular and first_failed < 0:
            first_failed = k
    return first_failed


RUN_DONE, BEYOND_ENDS, TOO_FAST = 0, 1, 2
"""Outcome of a run: done, or skipped because an actuator exceeds its ends or its speed."""


class Motion(NamedTuple):
    """Motion of s samples about a level origin, added to a centre pose."""

    shifts: FloatArray
    """`(s, 7)` poses"""
    twists: FloatArray
    """`(s, 6)` of the platform, base axes [m/s, rad/s]"""
    accelerations: FloatArray
    """`(s, 6)` of the platform, base axes [m/s2, rad/s2]"""


class Limits(NamedTuple):
    """Limits of the actuators, and how they are judged."""

    values: FloatArray
    """`(4, n)`: lower and upper coordinates, speeds, forces"""
    signed: bool
    """whether only positive forces are limited"""
    checked: bool
    """whether runs beyond coordinates or speeds are left out"""


@device
def fill_shifted_pose(center: FloatArray, shift: FloatArray, pose: FloatArray) -> None:
    """Fill `pose` (7,) with a small motion about a level origin, added to a centre pose."""
    for i in range(3):
        pose[i] = center[i] + shift[i]
    pose[3], pose[4], pose[5], pose[6] = quaternion_product(
        (shift[3], shift[4], shift[5], shift[6]), (center[3], center[4], center[5], center[6])
    )


@device
def outcome(
    legs: Legs,
    center: FloatArray,
    motion: Motion,
    limits: FloatArray,
    pose: FloatArray,
    coordinates: FloatArray,
    rates: FloatArray,
) -> int:
    """Return the outcome of a run: whether the actuators keep within their ends and speeds."""
    for s in range(motion.shifts.shape[0]):
        fill_shifted_pose(center, motion.shifts[s], pose)
        coordinates_and_rates(legs, pose, motion.twists[s], coordinates, rates)
        for i in range(coordinates.shape[0]):
            # Written so that a coordinate that does not exist is beyond the ends.
            if not (limits[0, i] <= coordinates[i] <= limits[1, i]):
                return BEYOND_ENDS
            if abs(rates[i]) > limits[2, i]:
                return TOO_FAST
    return RUN_DONE


@device
def fill_unit_forces(
    unit_body: FloatArray,
    state: PlatformState,
    acceleration: FloatArray,
    work: Work,
    unit_work: Work,
) -> None:
    """Fill `work.right` with the forces (6,) per kilogram of the body.

    `work.jacobian` is that of the pose already.
    """
    fill_body(unit_body, state.matrix, state.omega, unit_work.mass_matrix, unit_work.bias)
    for i in range(6):
        work.right[i] = unit_work.bias[i]
        for j in range(6):
            work.right[i] += unit_work.mass_matrix[max(i, j), min(i, j)] * acceleration[j]
    fill_jacobian_transposed(work)
    solve_general(work.system, work.right, 6)


@device
def largest_mass(force_without_payload: float, force_per_mass: float, limit: float) -> float:
    """Return the mass up to which `force_without_payload` + mass * `force_per_mass` <= limit."""
    if force_without_payload > limit:
        return 0.0
    return (limit - force_without_payload) / force_per_mass if force_per_mass > 0.0 else 1e300


@compiled
def largest_payloads(
    unit_body: FloatArray,
    massless_body: FloatArray,
    legs: Legs,
    motion: Motion,
    limits: Limits,
    centers: FloatArray,
    out: FloatArray,
) -> int:
    """Fill `out` (k, 3) of centre poses (k, 7): largest mass [kg], its leg from 1, outcome.

    For machines with six actuators and degrees of freedom. Singular poses hold nothing.

    Args:
        unit_body: body of one kilogram, `(BODY_SIZE,)`.
        massless_body: the same without mass.
        legs: leg constants.
        motion: about each centre pose.
        limits: of the actuators.
        centers: `(k, 7)`.
        out: `(k, 3)`, filled.

    Returns:
        -1.
    """
    work, payload_work = make_work(legs), make_work(legs)
    pose, coordinates, rates, forces = np.empty(7), np.empty(6), np.empty(6), np.empty(6)
    deflection, wrench, force_limits = np.empty(0), np.zeros(6), limits.values[3]
    for k in range(centers.shape[0]):
        out[k, 0], out[k, 1], out[k, 2] = 1e300, 0.0, 0.0
        if limits.checked:
            out[k, 2] = outcome(legs, centers[k], motion, limits.values, pose, coordinates, rates)
            if out[k, 2] > 0.0:
                continue
        for s in range(motion.shifts.shape[0]):
            fill_shifted_pose(centers[k], motion.shifts[s], pose)
            state, acceleration = platform_state(pose, motion.twists[s]), motion.accelerations[s]
            regular = inverse_dynamics(
                massless_body, legs, state, deflection, acceleration, wrench, forces, work
            )
            fill_unit_forces(unit_body, state, acceleration, work, payload_work)
            for i in range(6):
                mass = largest_mass(forces[i], work.right[i], force_limits[i])
                if not limits.signed:
                    mass = min(mass, largest_mass(-forces[i], -work.right[i], force_limits[i]))
                if not regular:
                    mass = 0.0
                if mass < out[k, 0]:
                    out[k, 0], out[k, 1] = mass, i + 1.0
    return -1


class Load(NamedTuple):
    """Forces on a machine over a time: actuator forces `forces + t * slope`, constant wrench.

    Kernels that Python calls every step take it as a plain tuple: numba needs a microsecond to
    recognise each NamedTuple of a call.
    """

    forces: FloatArray
    """`(n,)` [N] or [N m] at t = 0"""
    slope: FloatArray
    """`(n,)` their rate [N/s]"""
    wrench: FloatArray
    """`(6,)` on the platform, base axes [N, N m]"""


@device
def derivative(
    body: FloatArray,
    legs: Legs,
    y: FloatArray,
    load: Load,
    time: float,
    dy: FloatArray,
    work: Work,
) -> bool:
    """Fill `dy` at `y` (13 + 2k,) under the load at `time` [s]; return False if singular.

    `work` comes from `make_work` and is overwritten.
    """
    force = work.force
    for i in range(legs.rows.shape[0]):
        force[i] = load.forces[i] + time * load.slope[i]
    fill_pose_rate(y, dy)
    state = platform_state(y[:7], y[7:13])
    regular = forward_dynamics(body, legs, state, y[13:], force, load.wrench, dy[7:], work)
    sort_deflection_rates(y, dy, deflections_per_leg(legs) * legs.rows.shape[0])
    return regular


@device
def sort_deflection_rates(y: FloatArray, dy: FloatArray, count: int) -> None:
    """Move the accelerations of `count` deflections, after six others in `dy`, behind the rates."""
    for i in range(count):
        dy[13 + count + i] = dy[13 + i]
        dy[13 + i] = y[13 + count + i]


@device
def fill_pose_rate(y: FloatArray, dy: FloatArray) -> None:
    """Fill the rate of the pose in `dy` from the twist in `y` (13 or more)."""
    for k in range(3):
        dy[k] = y[7 + k]
    dy[3], dy[4], dy[5], dy[6] = quaternion_rate(y[3], y[4], y[5], y[6], y[10], y[11], y[12])


@device
def normalise_quaternion(state: FloatArray, start: int) -> None:
    """Scale the quaternion from entry `start` on to length one; integration lets it drift."""
    w, x, y, z = state[start], state[start + 1], state[start + 2], state[start + 3]
    inverse = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    for k in range(start, start + 4):
        state[k] *= inverse


@device
def normalise(legs: Legs, y: FloatArray) -> None:
    """Remove the drift of an integration from `y`: quaternion's length, constraints."""
    normalise_quaternion(y, 3)
    project_onto_constraints(legs, y)


@device
def add_motors(legs: Legs, inertia: FloatArray, state: PlatformState, work: Work) -> None:
    """Add motors of `inertia` (n,) [kg, kg m2] to an assembled state."""
    for i in range(legs.rows.shape[0]):
        if inertia[i] > 0.0:
            linear, angular = actuation_rate(legs, i, state)
            bias_acceleration = dot(linear, state.velocity) + dot(angular, state.omega)
            for k in range(6):
                scaled = inertia[i] * work.jacobian[i, k]
                work.bias[k] += scaled * bias_acceleration
                for j in range(k + 1):
                    work.mass_matrix[k, j] += scaled * work.jacobian[i, j]


@device
def driven_derivative(
    body: FloatArray,
    legs: Legs,
    inertia: FloatArray,
    y: FloatArray,
    forces: FloatArray,
    wrench: FloatArray,
    dy: FloatArray,
    work: Work,
) -> bool:
    """Fill `dy` at `y` (13 + 2k,) under forces (n,) of the motors; return False if singular."""
    fill_pose_rate(y, dy)
    state = platform_state(y[:7], y[7:13])
    singular_leg = assemble(body, legs, state, y[13:], work)
    add_motors(legs, inertia, state, work)
    regular = accelerate(body, legs, state, y[13:], forces, wrench, dy[7:], work)
    sort_deflection_rates(y, dy, deflections_per_leg(legs) * legs.rows.shape[0])
    return regular and singular_leg < 0
