"""Kinematics: inverse and forward, Jacobian, constraints and gaps of the loops.

Forward kinematics: actuator coordinates to pose, by Newton with continuation.

The Newton step solves J delta = q* - q(pose) for a small twist and turns the pose by it. Steps
that do not reduce the largest residual are halved. When Newton from the guess fails or would
leave the assembly branch (the Jacobian's determinant changes sign), the coordinates are moved from
those of the guess to the given ones in smaller and smaller pieces, each solved from the last.

Constraints on the platform's motion are further rows, and with more rows than unknowns the step is
a least-squares step; consistent coordinates leave no residual.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.jit import compiled, device, replaceable_by_type
from twin.kernels.legs.dispatch import (
    actuation,
    actuation_rate,
    constraint_count,
    fill_constraints,
    fill_joints,
    project_onto_constraints,
    smallest_scale,
)
from twin.kernels.legs.interface import (
    Acceleration,
    Legs,
    PlatformState,
    platform_state,
    resting_state,
)
from twin.kernels.linear_algebra import (
    Vector,
    add,
    copy,
    cross,
    displace,
    dot,
    fill_row,
    norm,
    rotate,
    rotation,
    row,
    scale,
    solve_general,
    subtract,
    vector_at,
)

THREE_DOF_CONSTRAINTS = 3
"""Constraints of machines whose legs have any: a fixed foot, or three planes."""

MOTION_TOLERANCE = 1e-9
"""Allowed constraint error [m, rad; per s; per s2] of a motion, relative to its size above one."""

CONVERGED_RESIDUAL = 2e-15
"""Residual relative to the longest leg at which Newton has converged to float64 precision."""

ACCEPTED_RESIDUAL = 2e-13
"""Relative residual accepted when rounding stops the descent."""

MAX_TURN = 0.5
"""Largest rotation [rad] of one Newton step; the linearisation is invalid beyond."""

SINGULAR_PIVOT_RATIO = 1e-14
"""Ratio of the Jacobian's pivots below which a Newton step is rounding error."""

NEWTON_STEPS = 25

MAX_PIECE = 0.25
"""Part of the way from the guess of forward kinematics that one search takes after a failure."""

MIN_PIECE = 1.0 / 512.0


@device
def allowed(rows: FloatArray, motion: FloatArray, with_drift: float) -> bool:
    """Return whether a twist (with_drift 0) or an acceleration (1) meets the constraints."""
    scale = max(1.0, abs(motion[0]))
    for k in range(1, 6):
        scale = max(scale, abs(motion[k]))
    all_met = True
    for i in range(rows.shape[0]):
        constraint_error = with_drift * rows[i, 6]
        for k in range(6):
            constraint_error += rows[i, k] * motion[k]
        if not abs(constraint_error) <= MOTION_TOLERANCE * scale:
            all_met = False
    return all_met


@device
def inverse_kinematics(legs: Legs, pose: FloatArray, coordinates: FloatArray) -> bool:
    """Fill `coordinates` (n,) of one pose (7,): lengths [m] or crank angles [rad].

    Returns False where a leg cannot reach the pose; its coordinate is NaN then.

    Reference: Stewart thesis, equations (2.3) to (2.5), with the rotation platform to base.
    """
    state = resting_state(pose)
    all_reached = True
    for i in range(legs.rows.shape[0]):
        coordinates[i] = actuation(legs, i, state.position, state.matrix)[2]
        all_reached &= isfinite(coordinates[i])
    return all_reached


@compiled
def inverse_kinematics_batch(legs: Legs, poses: FloatArray, coordinates: FloatArray) -> int:
    """Fill `coordinates` (batch, n) of `poses` (batch, 7); return the first out of reach or -1."""
    first_failed = -1
    for k in range(poses.shape[0]):
        if not inverse_kinematics(legs, poses[k], coordinates[k]) and first_failed < 0:
            first_failed = k
    return first_failed


@compiled
def leg_coordinates_batch(
    legs: Legs,
    home: FloatArray,
    poses: FloatArray,
    twists: FloatArray,
    accelerations: FloatArray,
    out: FloatArray,
) -> int:
    """Fill `out` (batch, n, joints, 3): values, rates and accelerations of all legs' joints.

    `home` (n, HOME_SIZE) holds the joints' zeros. Returns the index of the first state without
    such coordinates, or -1.
    """
    for k in range(poses.shape[0]):
        state, a = platform_state(poses[k], twists[k]), accelerations[k]
        acceleration = Acceleration(vector_at(a, 0), vector_at(a, 3))
        for i in range(legs.rows.shape[0]):
            if not fill_joints(legs, home, i, state, acceleration, out[k, i]):
                return k
    return -1


@compiled
def coordinates_and_rates(
    legs: Legs,
    pose: FloatArray,
    twist: FloatArray,
    coordinates: FloatArray,
    rates: FloatArray,
) -> bool:
    """Fill actuator `coordinates` (n,) and `rates` (n,); return whether all are finite."""
    state = platform_state(pose, twist)
    total = 0.0
    for i in range(legs.rows.shape[0]):
        w, moment, coordinates[i] = actuation(legs, i, state.position, state.matrix)
        rates[i] = dot(w, state.velocity) + dot(moment, state.omega)
        total += coordinates[i] + rates[i]
    return isfinite(total)


@device
def jacobian(legs: Legs, pose: FloatArray, out: FloatArray) -> None:
    """Fill `out` (n, 6): rows (w_i, m_i), so that actuator rates = J twist."""
    state = resting_state(pose)
    for i in range(legs.rows.shape[0]):
        w, moment, _ = actuation(legs, i, state.position, state.matrix)
        fill_row(out, i, w, moment)


@compiled
def jacobian_batch(legs: Legs, poses: FloatArray, out: FloatArray) -> int:
    """Fill `out` (batch, n, 6); returns -1."""
    for k in range(poses.shape[0]):
        jacobian(legs, poses[k], out[k])
    return -1


@device
def jacobian_derivative(legs: Legs, state: PlatformState, out: FloatArray) -> None:
    """Fill `out` (n, 6) with dJ/dt: actuator accelerations = J a + dJ/dt twist."""
    for i in range(legs.rows.shape[0]):
        linear, angular = actuation_rate(legs, i, state)
        fill_row(out, i, linear, angular)


@compiled
def jacobian_derivative_batch(
    legs: Legs, poses: FloatArray, twists: FloatArray, out: FloatArray
) -> int:
    """Fill `out` (batch, n, 6) with dJ/dt; returns -1."""
    for k in range(poses.shape[0]):
        jacobian_derivative(legs, platform_state(poses[k], twists[k]), out[k])
    return -1


@compiled
def constraints_batch(legs: Legs, poses: FloatArray, twists: FloatArray, out: FloatArray) -> int:
    """Fill `out` (batch, constraints, 8): C (6 entries), dC/dt twist, and the error of the pose."""
    for k in range(poses.shape[0]):
        fill_constraints(legs, platform_state(poses[k], twists[k]), out[k])
    return -1


@compiled
def constrain_batch(legs: Legs, states: FloatArray, accelerations: FloatArray) -> int:
    """Move `states` (batch, 13) and `accelerations` (batch, 6) onto the constraints.

    Height and normal of the platform keep their value, rate and acceleration. The normal n
    accelerates with alpha x n + omega x (omega x n); a change of the second term is made up by the
    angular acceleration.
    """
    constraint_values, matrix, right = (
        np.empty((THREE_DOF_CONSTRAINTS, 8)),
        np.empty((6, 6)),
        np.empty(6),
    )
    for k in range(states.shape[0]):
        y, a = states[k], accelerations[k]
        original_omega = vector_at(y, 10)
        project_onto_constraints(legs, y)
        state = platform_state(y[:7], y[7:13])
        fill_constraints(legs, state, constraint_values)
        omega, n = state.omega, (state.matrix[2], state.matrix[5], state.matrix[8])
        normal_change = subtract(
            cross(original_omega, cross(original_omega, n)), cross(omega, cross(omega, n))
        )
        required_alpha = add(vector_at(a, 3), cross(n, normal_change))
        normal_axis = (0.0, n[2], -n[1])
        first_axis = scale(1.0 / norm(normal_axis), normal_axis)
        second_axis = cross(first_axis, n)
        for j in range(6):
            for i in range(THREE_DOF_CONSTRAINTS):
                matrix[i, j] = constraint_values[i, j]
                matrix[THREE_DOF_CONSTRAINTS + i, j] = 0.0
        for i in range(THREE_DOF_CONSTRAINTS):
            right[i] = -constraint_values[i, 6]
            matrix[4, 3 + i] = first_axis[i]
            matrix[5, 3 + i] = second_axis[i]
        matrix[3, 2] = 1.0
        right[3], right[4], right[5] = (
            a[2],
            dot(first_axis, required_alpha),
            dot(second_axis, required_alpha),
        )
        solve_general(matrix, right, 6)
        copy(right, a)
    return -1


class PoseMemory(NamedTuple):
    """Arrays that one solution overwrites; n legs, c constraints."""

    right: FloatArray
    """`(n + c,)` residuals: target less present coordinates, then constraints"""
    matrix: FloatArray
    """`(n + c, 6)` Jacobian of coordinates and constraints"""
    rows: FloatArray
    """`(c, 8)` constraints of the legs"""
    normal: FloatArray
    """`(6, 6)` matrix of the normal equations"""
    step: FloatArray
    """`(6,)` Newton step: displacement [m], rotation vector [rad]"""
    trial: FloatArray
    """`(7,)` pose after a step"""
    last: FloatArray
    """`(7,)` last accepted pose"""
    start: FloatArray
    """`(n,)` coordinates of the guess [m, rad]"""
    target: FloatArray
    """`(n,)` coordinates of the present piece of the path [m, rad]"""


@compiled
def make_work(count: int, constraints: int) -> PoseMemory:
    """Return the work arrays of a machine with so many legs and constraints."""
    size = count + constraints
    return PoseMemory(
        np.empty(size),
        np.empty((size, 6)),
        np.empty((constraints, 8)),
        np.empty((6, 6)),
        np.empty(6),
        np.empty(7),
        np.empty(7),
        np.empty(count),
        np.empty(count),
    )


@replaceable_by_type
def larger(error: float, largest: float) -> float:
    """Return the larger of two residuals; NaN counts as infinite and never passes as solved.

    Numbers in lanes cannot branch: `twin.kernels.lanes.lanes_larger` computes the same for them.
    """
    if not error <= largest:
        return error if error > largest else inf
    return largest


@device
def residual(
    legs: Legs,
    pose: FloatArray,
    coordinates: FloatArray,
    right: FloatArray,
    matrix: FloatArray,
    rows: FloatArray,
) -> float:
    """Fill `right` with q* - q(pose) and `matrix` with J; return the largest residual.

    Constraints follow after the legs; `rows` (constraints, 8) is overwritten. Arrays one by one:
    the whole `PoseMemory` in their place takes a third more time.
    """
    state = resting_state(pose)
    largest_residual = 0.0
    n_legs = legs.rows.shape[0]
    for i in range(n_legs):
        w, moment, coordinate = actuation(legs, i, state.position, state.matrix)
        fill_row(matrix, i, w, moment)
        right[i] = coordinates[i] - coordinate
        largest_residual = larger(abs(right[i]), largest_residual)
    fill_constraints(legs, state, rows)
    for i in range(constraint_count(legs)):
        for k in range(6):
            matrix[n_legs + i, k] = rows[i, k]
        right[n_legs + i] = -rows[i, 7]
        largest_residual = larger(abs(rows[i, 7]), largest_residual)
    return largest_residual


@device
def newton_step(
    matrix: FloatArray, right: FloatArray, step: FloatArray, normal: FloatArray
) -> float:
    """Fill `step` (6,) with the solution of `matrix step = right`, by least squares if need be.

    Returns the same as `solve_general`; without the sign where there is no determinant.
    """
    size = matrix.shape[0]
    system = matrix if size == 6 else normal
    for i in range(6):
        if size == 6:
            step[i] = right[i]
            continue
        step[i] = 0.0
        for k in range(size):
            step[i] += matrix[k, i] * right[k]
        for j in range(6):
            normal[i, j] = 0.0
            for k in range(size):
                normal[i, j] += matrix[k, i] * matrix[k, j]
    return solve_general(system, step, 6)


@device
def newton(
    legs: Legs, coordinates: FloatArray, pose: FloatArray, work: PoseMemory
) -> tuple[bool, float, int]:
    """Improve `pose` in place; return (converged, residual, iterations).

    A change of sign of the Jacobian's determinant on the way ends the search: the other side is
    another assembly branch.
    """
    right, matrix, constraint_values = work.right, work.matrix, work.rows
    trial, step = work.trial, work.step
    length_scale, branch = smallest_scale(legs), 0.0
    for i in range(legs.rows.shape[0]):
        length_scale = max(length_scale, abs(coordinates[i]))
    error = residual(legs, pose, coordinates, right, matrix, constraint_values)
    for iteration in range(NEWTON_STEPS):
        if error <= CONVERGED_RESIDUAL * length_scale:
            return True, error, iteration
        pivot_ratio = newton_step(matrix, right, step, work.normal)
        if iteration == 0:
            branch = pivot_ratio
        if not (abs(pivot_ratio) > SINGULAR_PIVOT_RATIO and pivot_ratio * branch > 0.0):
            return False, error, iteration
        rotation_angle = sqrt(step[3] * step[3] + step[4] * step[4] + step[5] * step[5])
        factor = min(1.0, MAX_TURN / rotation_angle) if rotation_angle > 0.0 else 1.0
        is_smaller = False
        for _ in range(8):
            displace(pose, factor, step, trial)
            new_residual = residual(legs, trial, coordinates, right, matrix, constraint_values)
            if new_residual < error:
                is_smaller = True
                break
            if error <= ACCEPTED_RESIDUAL * length_scale:
                return True, error, iteration
            factor *= 0.5
        if not is_smaller:
            return False, error, iteration
        copy(trial, pose)
        error = new_residual
    return error <= ACCEPTED_RESIDUAL * length_scale, error, NEWTON_STEPS


@device
def forward_kinematics(
    legs: Legs, coordinates: FloatArray, guess: FloatArray, pose: FloatArray, work: PoseMemory
) -> tuple[bool, float, int]:
    """Fill `pose` (7,) with the pose of `coordinates` (n,) on the branch of `guess` (7,).

    `work` comes from `make_work` and is overwritten. Returns (converged, residual, iterations);
    when not converged, `pose` is the last one reached.
    """
    guess_coordinates, path_coordinates, last_pose = work.start, work.target, work.last
    inverse_kinematics(legs, guess, guess_coordinates)
    copy(guess, last_pose)
    # The whole way at once, and where that fails in pieces.
    path_fraction, step_fraction, n_iterations = 0.0, 1.0, 0
    while True:
        trial_fraction = min(1.0, path_fraction + step_fraction)
        for i in range(legs.rows.shape[0]):
            path_coordinates[i] = coordinates[i] - (1.0 - trial_fraction) * (
                coordinates[i] - guess_coordinates[i]
            )
        copy(last_pose, pose)
        converged, error, steps = newton(legs, path_coordinates, pose, work)
        n_iterations += steps
        if converged:
            if trial_fraction == 1.0:
                return True, error, n_iterations
            path_fraction = trial_fraction
            step_fraction = min(2.0 * step_fraction, MAX_PIECE)
            copy(pose, last_pose)
        else:
            step_fraction = min(0.5 * step_fraction, MAX_PIECE)
            if step_fraction < MIN_PIECE:
                copy(last_pose, pose)
                error = residual(legs, pose, coordinates, work.right, work.matrix, work.rows)
                return False, error, n_iterations


@compiled
def forward_kinematics_batch(
    legs: Legs,
    coordinates: FloatArray,
    guesses: FloatArray,
    results: FloatArray,
) -> int:
    """Fill `results` (batch, 9): pose, residual and iterations.

    Returns the index of the first set of coordinates without a pose, or -1.
    """
    work = make_work(legs.rows.shape[0], constraint_count(legs))
    first_failed = -1
    for k in range(coordinates.shape[0]):
        converged, error, n_iterations = forward_kinematics(
            legs, coordinates[k], guesses[k], results[k, :7], work
        )
        results[k, 7] = error
        results[k, 8] = n_iterations
        if not converged and first_failed < 0:
            first_failed = k
    return first_failed


@compiled
def largest_distance(
    points: FloatArray, first_indices: IndexArray, second_indices: IndexArray
) -> float:
    """Return the largest distance [m] between `points` (m, 3) with the paired indices."""
    largest_norm = 0.0
    for i in range(first_indices.shape[0]):
        difference = subtract(row(points, first_indices[i], 0), row(points, second_indices[i], 0))
        largest_norm = np.maximum(largest_norm, norm(difference))  # keeps NaN, unlike max()
    return largest_norm


@compiled
def largest_gap(
    frames: FloatArray,
    first_bodies: IndexArray,
    second_bodies: IndexArray,
    ends: FloatArray,
    sockets: FloatArray,
) -> float:
    """Return the largest distance [m] between points of moving bodies.

    Args:
        frames: `(m, 7)` of the bodies in the base: position, quaternion (scalar last).
        first_bodies: `(k,)` bodies of the first points.
        second_bodies: `(k,)` bodies of the second points.
        ends: `(k, 3)` the first points in their bodies' frames.
        sockets: `(k, 3)` the second points, likewise.
    """
    largest_norm = 0.0
    for i in range(first_bodies.shape[0]):
        first_end = _in_base(frames, first_bodies[i], row(ends, i, 0))
        socket = _in_base(frames, second_bodies[i], row(sockets, i, 0))
        largest_norm = np.maximum(largest_norm, norm(subtract(first_end, socket)))
    return largest_norm


@device
def _in_base(frames: FloatArray, body: int, point: Vector) -> Vector:
    """Return a point of a body in the base frame."""
    turn = rotation(frames[body, 6], frames[body, 3], frames[body, 4], frames[body, 5])
    return add(row(frames, body, 0), rotate(turn, point))
