"""Poses of given actuator coordinates: wider searches than Newton's method from one guess.

Newton's method with continuation (`twin.kernels.kinematics`) follows the straight way of
the coordinates. A singular pose on that way ends it, though the machine may go another way. The
search here begins again at poses around home that the machine reaches from home without passing a
singular pose, and follows the straight way from there. Where that ends too, it takes the nearest
one of all solutions that least squares find on home's side of singular poses.

Machines with more legs than degrees of freedom measure more than a pose has numbers. Their poses
are those of least squares, with the residuals of the coordinates.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import BoolArray, FloatArray, read_only, rotation_matrix, turned
from twin.errors import ForwardKinematicsError, InputError
from twin.kernels.kinematics import (
    forward_kinematics_batch,
    inverse_kinematics_batch,
    jacobian_batch,
)
from twin.kernels.legs.interface import Legs
from twin.model.machine_base import (
    MachineBase,
    evaluate_constraints,
    inside,
    meets_constraints,
    nearest_allowed,
    null_space,
    run,
)
from twin.rotations import displacement

RESIDUAL_TOLERANCE = 1e-12
"""Residual of a solved coordinate, relative to the largest coordinate and to the legs' size."""

DEFAULT_TOLERANCE = 1e-3
"""[m] by which coordinates of redundant legs may contradict each other, without encoders."""

ENCODER_COUNT_TOLERANCE = 3.0
"""Counts by which encoder readings of redundant legs may contradict each other."""

SEARCH_DIRECTIONS = 64
"""Directions from home along which starting poses are sought."""

POSES_PER_DIRECTION = 24
"""Number of starting poses along each direction."""

SEARCH_LENGTH = 1.5
"""Length of each direction in mean arms, or in radians for rotations."""

MAX_ITERATIONS = 100
"""Largest number of iterations of the damped least squares."""

MAX_TURN = 1.0
"""[rad] Largest rotation of one iteration."""

INITIAL_DAMPING = 1e-3
"""First damping, relative to the mean of the diagonal of J^T J."""

MIN_DAMPING = 1e-12
"""Smallest damping of the damped least squares, relative as `INITIAL_DAMPING`."""

MAX_DAMPING = 1e9
"""Damping above which the search for a pose is abandoned."""

MIN_STEP = 1e-14
"""Step, in arms and radians, below which the iteration ends."""

STALLED_STEP = 1e-9
"""Step, in arms and radians, below which the iteration ends if the residual did not fall."""

NEAREST_STARTS = 128
"""Poses around home from which the least squares restart."""

RANDOM_STARTS = 512
"""Random poses in each round of the search for assembly modes."""

DRAWS_PER_CRANK_START = 32
"""Largest number of draws for each pose that all cranks can reach."""

MAX_IDLE_ROUNDS = 12
"""Rounds without a new assembly mode after which the search ends."""

MAX_ROUNDS = 100
"""Largest number of rounds in the search for assembly modes."""

MAX_LENGTH = 1e3
"""Longest leg per size of the platform, or largest angle [rad], that a search takes."""

SAME_MODE = 1e-6
"""Distance, in arms and radians, of two poses that are one assembly mode."""


class Geometry(NamedTuple):
    """n coordinates and c constraints of m poses; NaN where a leg cannot reach."""

    values: FloatArray
    """`(m, n + c)` coordinates, then constraint errors"""
    rows: FloatArray
    """`(m, n + c, 6)` their derivatives by a displacement of the platform, base axes"""


class FittedPoses(NamedTuple):
    """Poses of actuator coordinates, by least squares where there are redundant legs."""

    pose: FloatArray
    """`(..., 7)` of the platform in the base: position [m], unit quaternion (scalar first)"""
    residual: FloatArray
    """`(..., n)` given coordinates minus those of the pose [m] or [rad]"""


def geometry(legs: Legs, poses: FloatArray, constraints: int) -> Geometry:
    """Return coordinates and constraints of poses `(m, 7)` with their Jacobian."""
    n_legs = len(legs.rows)
    values, jacobian_rows = np.empty((len(poses), n_legs)), np.empty((len(poses), n_legs, 6))
    run(inverse_kinematics_batch, (legs,), (poses, values))
    run(jacobian_batch, (legs,), (poses, jacobian_rows))
    if constraints:
        constraint_values = evaluate_constraints(legs, poses)
        # Column 7 is the constraint error of the pose, columns 0 to 5 are its derivatives.
        values = np.concatenate([values, constraint_values[:, :, 7]], axis=1)
        jacobian_rows = np.concatenate([jacobian_rows, constraint_values[:, :, :6]], axis=1)
    return Geometry(values, jacobian_rows)


def nearest_poses(
    machine: MachineBase, coordinates: FloatArray, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the least-squares poses `(m, 7)` of actuator coordinates, and the residuals.

    Damped least squares (Levenberg, Marquardt) from poses `start` `(m, 7)`, which the machine can
    have; intermediate poses are reachable as well. Residuals `(m, n)` are given minus found
    coordinates [m] or [rad]. Both are NaN in rows that start out of reach.
    """
    legs, poses = machine.constants.legs, start.copy()
    scale = np.repeat([1.0, 1.0 / machine.joint_radius], 3)
    residuals, jacobians = _coordinate_errors(machine, coordinates, poses, scale)
    damping = np.full(len(poses), INITIAL_DAMPING)
    active: Any = np.isfinite(residuals).all(axis=1) & np.isfinite(jacobians).all(axis=(1, 2))
    residuals[~active], poses[~active] = np.nan, np.nan
    for _ in range(MAX_ITERATIONS):
        active_rows = np.flatnonzero(active)
        if not active_rows.size:
            break
        transposed = np.swapaxes(jacobians[active_rows] * scale, 1, 2)
        normal = transposed @ np.swapaxes(transposed, 1, 2)
        mean_square = np.trace(normal, axis1=1, axis2=2) / 6.0
        normal[:, range(6), range(6)] += (damping[active_rows] * mean_square)[:, None]
        step = np.linalg.solve(normal, transposed @ residuals[active_rows, :, None])[..., 0] * scale
        step /= np.maximum(np.linalg.norm(step[:, 3:], axis=1) / MAX_TURN, 1.0)[:, None]
        trial = turned(poses[active_rows], step)
        trial[:, 3:] /= np.linalg.norm(trial[:, 3:], axis=1, keepdims=True)
        if machine.dof < 6:
            trial = nearest_allowed(legs, trial)
        trial_residuals, trial_jacobians = _coordinate_errors(
            machine, coordinates[active_rows], trial, scale
        )
        # A trial that is out of reach has NaN residuals, which compare as not improved.
        improved = (trial_residuals**2).sum(axis=1) < (residuals[active_rows] ** 2).sum(axis=1)
        improved &= np.isfinite(trial_jacobians).all(axis=(1, 2))
        improved_rows = active_rows[improved]
        poses[improved_rows], residuals[improved_rows], jacobians[improved_rows] = (
            trial[improved],
            trial_residuals[improved],
            trial_jacobians[improved],
        )
        # Levenberg-Marquardt: less damping after an improvement, more after a failure.
        damping[active_rows] = np.where(improved, 0.1, 5.0) * np.maximum(
            damping[active_rows], MIN_DAMPING
        )
        step_size = np.abs(step / scale).max(axis=1) / machine.joint_radius
        finished = (step_size < MIN_STEP) | ~improved & (step_size < STALLED_STEP)
        active[active_rows[finished | (damping[active_rows] > MAX_DAMPING)]] = False
    return poses, residuals


def _coordinate_errors(
    machine: MachineBase, coordinates: FloatArray, poses: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return coordinates `(m, n)` minus those of poses `(m, 7)`, and the Jacobian of the latter.

    The Jacobian `(m, n, 6)` is that of the motions that the machine's constraints allow, so that
    a combination of its rows, times `scale` `(6,)` squared, is such a motion. Differences are NaN
    at poses off the constraints.
    """
    n, n_constraints = machine.n_actuators, 6 - machine.dof
    geometry_at_poses = geometry(machine.constants.legs, poses, n_constraints)
    jacobians = geometry_at_poses.rows[:, :n]
    errors = coordinates - geometry_at_poses.values[:, :n]
    if n_constraints and len(poses):
        errors[~meets_constraints(machine.constants.legs, poses)] = np.nan
        free_motions = null_space(geometry_at_poses.rows[:, n:] * scale)
        jacobians = jacobians * scale @ free_motions @ np.swapaxes(free_motions, 1, 2) / scale
    return errors, jacobians


def found_poses(
    machine: MachineBase, coordinates: FloatArray, guess: FloatArray | None
) -> tuple[FloatArray, BoolArray]:
    """Return pose, residual and iterations `(m, 9)` of every row's search, and whether it failed.

    Args:
        machine: the machine.
        coordinates: `(m, n)`.
        guess: `(m, 7)` to start from, alone; None for home, then poses around it.
    """
    legs, found_solutions = machine.constants.legs, np.empty((len(coordinates), 9))
    start_poses = np.tile(machine.home, (len(coordinates), 1)) if guess is None else guess
    first_failure = run(
        forward_kinematics_batch, (legs,), (coordinates, start_poses, found_solutions)
    )
    is_failed: Any = np.zeros(len(found_solutions), dtype=bool)
    if first_failure < 0:
        return found_solutions, is_failed
    # A solution is the pose (0 to 6), its residual (7) and the number of iterations (8).
    is_failed = ~_solved(machine, coordinates, found_solutions[:, 7])
    if guess is None and machine.n_actuators == machine.dof:
        failed_rows = np.flatnonzero(is_failed)
        is_failed[failed_rows] = [
            not _search_from_waypoints(machine, coordinates[row_index], found_solutions[row_index])
            for row_index in failed_rows
        ]
    return found_solutions, is_failed


def _solved(machine: MachineBase, coordinates: FloatArray, residual: FloatArray) -> Any:
    """Return whether residuals `(m,)` are within rounding error of coordinates `(m, n)`."""
    length_floor = float(machine.home_reaches.max()) if machine.coordinate_unit == "m" else 1.0
    size = np.maximum(np.abs(coordinates).max(axis=1), length_floor)
    return np.asarray(residual <= RESIDUAL_TOLERANCE * size)


def _search_from_waypoints(
    machine: MachineBase, coordinates: FloatArray, solution: FloatArray
) -> bool:
    """Return whether a search from around home finds coordinates `(n,)`; fill `solution`."""
    poses, waypoint_coordinates = waypoints(machine)
    order = np.argsort(np.linalg.norm(waypoint_coordinates - coordinates, axis=1))
    trial_solution = np.empty((1, 9))
    for row_index in order:
        arrays = coordinates[None], poses[row_index][None], trial_solution
        if run(forward_kinematics_batch, (machine.constants.legs,), arrays) < 0:
            solution[:] = trial_solution[0]
            return True
        solution[8] += trial_solution[0, 8]
    start_poses = [poses, _random_poses(machine, coordinates, np.random.default_rng(0))]
    pose = _on_home_side(machine, coordinates, np.concatenate(start_poses))
    if pose is not None:
        solution[:8] = *pose, 0.0
    return pose is not None


def _on_home_side(
    machine: MachineBase, coordinates: FloatArray, starts: FloatArray
) -> FloatArray | None:
    """Return the solution `(7,)` from poses `(m, 7)` that is nearest to home; None: there is none.

    The determinant of its Jacobian has the sign of that at home, though a way there may be longer
    than those that were tried, or there is none without a singular pose.
    """
    targets = np.tile(coordinates, (len(starts), 1))
    poses, residuals = nearest_poses(machine, targets, starts)
    poses = poses[_solved(machine, targets, np.abs(residuals).max(axis=1))]
    geometry_at_poses = geometry(
        machine.constants.legs, np.vstack([poses, machine.home]), 6 - machine.dof
    )
    determinant_signs = np.sign(np.linalg.det(geometry_at_poses.rows))
    poses = poses[determinant_signs[:-1] == determinant_signs[-1]]
    if not len(poses):
        return None
    distance = displacement(poses, machine.home)
    distance[:, :3] /= machine.joint_radius
    return np.asarray(poses[np.linalg.norm(distance, axis=1).argmin()])


@lru_cache(maxsize=8)
def waypoints(machine: MachineBase) -> tuple[FloatArray, FloatArray]:
    """Return poses `(k, 7)` around home inside the actuators' limits, and coordinates `(k, n)`.

    They are the last ones and the middle ones of straight ways from home, before a limit or a
    singular pose.
    """
    legs, n_constraints = machine.constants.legs, 6 - machine.dof
    directions = np.random.default_rng(0).normal(size=(SEARCH_DIRECTIONS, 6))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    directions *= np.repeat([machine.joint_radius, 1.0], 3)
    fractions = SEARCH_LENGTH * np.arange(1, POSES_PER_DIRECTION + 1) / POSES_PER_DIRECTION
    steps = (fractions[:, None] * directions[:, None]).reshape(-1, 6)
    poses = turned(np.tile(machine.home, (len(steps), 1)), steps)
    if n_constraints:
        poses = nearest_allowed(legs, poses)
    geometry_at_poses = geometry(legs, np.vstack([poses, machine.home]), n_constraints)
    values = geometry_at_poses.values[:, : machine.n_actuators]
    admissible = inside(values, machine.minimum_coordinates, machine.maximum_coordinates)
    if machine.n_actuators == machine.dof:
        admissible &= np.isfinite(geometry_at_poses.rows).all(axis=(1, 2))
        determinant_signs = np.sign(
            np.linalg.det(np.where(admissible[:, None, None], geometry_at_poses.rows, np.eye(6)))
        )
        admissible &= determinant_signs == determinant_signs[-1]
    n_reachable = np.logical_and.accumulate(
        admissible[:-1].reshape(SEARCH_DIRECTIONS, POSES_PER_DIRECTION), axis=1
    ).sum(axis=1)
    first_rows = POSES_PER_DIRECTION * np.arange(SEARCH_DIRECTIONS)
    ends = np.concatenate(
        [
            (first_rows + n_reachable - 1)[n_reachable > 0],
            (first_rows + n_reachable // 2 - 1)[n_reachable > 1],
        ]
    )
    return read_only(poses[ends]), read_only(values[ends])


def poses_of(
    machine: MachineBase,
    coordinates: FloatArray,
    guess: FloatArray | None,
    tolerance: float | None = None,
    number: int = 0,
) -> FloatArray:
    """Return the poses `(m, 7)` of coordinates `(m, n)`.

    Args:
        machine: the machine.
        coordinates: `(m, n)`.
        guess: `(m, 7)` to start from, alone; None for home, then poses around it.
        tolerance: by which redundant legs may contradict each other; None for `default_tolerance`.
        number: of the first row, in errors.

    Raises:
        ForwardKinematicsError: no pose was found for a row.
    """
    solutions, is_failed = found_poses(machine, coordinates, guess)
    tolerance_limit = np.inf
    if machine.n_actuators > machine.dof and is_failed.any():
        tolerance_limit = default_tolerance(machine) if tolerance is None else tolerance
        failed_rows = np.flatnonzero(is_failed)
        start_poses = None if guess is None else guess[failed_rows]
        solutions[failed_rows, :8] = _least_squares(machine, coordinates[failed_rows], start_poses)
        is_failed[failed_rows] = ~(solutions[failed_rows, 7] <= tolerance_limit)
    if is_failed.any():
        failed_row = int(is_failed.argmax())
        n_waypoints = len(waypoints(machine)[0]) if guess is None else 0
        raise _not_found(
            machine,
            number + failed_row,
            coordinates[failed_row],
            solutions[failed_row],
            tolerance_limit,
            n_waypoints,
        )
    return np.ascontiguousarray(solutions[:, :7])


def poses_along(machine: MachineBase, coordinates: FloatArray) -> FloatArray:
    """Return the poses `(k, 7)` along a path of coordinates `(k, n)`, each from the one before.

    The first one is searched for from home; so is one that is not found from the one before.

    Raises:
        ForwardKinematicsError: no pose was found for a row.
    """
    poses = np.empty((len(coordinates), 7))
    guess: FloatArray | None = None
    for row_index in range(len(coordinates)):
        setpoint = coordinates[row_index : row_index + 1]
        try:
            guess = poses_of(machine, setpoint, guess)
        except ForwardKinematicsError:
            guess = poses_of(machine, setpoint, None, number=row_index)
        poses[row_index] = guess[0]
    return poses


def default_tolerance(machine: MachineBase) -> float:
    """Return the tolerance [m] or [rad] on contradictions between redundant legs' coordinates.

    Three counts of the coarsest encoder; without encoders 1 mm at the legs' ends.
    """
    counts = []
    for leg in machine.parameters.legs:
        travel_per_turn = None if leg.drive is None else leg.drive.travel_per_turn
        if leg.encoder is None or travel_per_turn is None:
            break
        counts.append(leg.encoder.resolution(travel_per_turn))
    else:
        return ENCODER_COUNT_TOLERANCE * max(counts)
    lever_arm = 1.0 if machine.coordinate_unit == "m" else float(machine.home_reaches.max())
    return DEFAULT_TOLERANCE / lever_arm


def _least_squares(
    machine: MachineBase, coordinates: FloatArray, guess: FloatArray | None
) -> FloatArray:
    """Return the nearest poses of coordinates `(m, n)` and their largest residuals, `(m, 8)`."""
    home = np.tile(machine.home, (len(coordinates), 1))
    poses, residuals = nearest_poses(machine, coordinates, home if guess is None else guess)
    solutions = np.column_stack([poses, np.abs(residuals).max(axis=1)])
    if guess is not None:
        return solutions
    tolerance_limit = default_tolerance(machine)
    start_poses, waypoint_coordinates = waypoints(machine)
    for row_index in np.flatnonzero(~(solutions[:, 7] <= tolerance_limit)):
        order = np.argsort(np.linalg.norm(waypoint_coordinates - coordinates[row_index], axis=1))[
            :NEAREST_STARTS
        ]
        repeated = np.tile(coordinates[row_index], (len(order), 1))
        poses, residuals = nearest_poses(machine, repeated, start_poses[order])
        residual_sizes = np.nan_to_num(np.abs(residuals).max(axis=1), nan=np.inf)
        if residual_sizes.min(initial=np.inf) < solutions[row_index, 7]:
            best = int(residual_sizes.argmin())
            solutions[row_index] = *poses[best], residual_sizes[best]
    return solutions


def _not_found(
    machine: MachineBase,
    row: int,
    coordinates: FloatArray,
    solution: FloatArray,
    tolerance: float,
    n_waypoints: int,
) -> ForwardKinematicsError:
    """Return the error of coordinates without a pose, with the outcome of the search.

    Args:
        machine: the machine.
        row: of the batch.
        coordinates: `(n,)` of it.
        solution: `(9,)` last pose, residual and iterations.
        tolerance: by which redundant legs may contradict each other; infinite where there are none.
        n_waypoints: poses around home from which it was searched; zero: from a guess.
    """
    unit, residual, iterations = machine.coordinate_unit, float(solution[7]), int(solution[8])
    data: dict[str, Any] = {"index": row, "residual": residual, "iterations": iterations}
    data |= {"pose": solution[:7].copy(), "lengths": coordinates.copy()}
    coordinate_text = ", ".join(f"{value:.7g}" for value in coordinates)
    quantity = "lengths" if unit == "m" else "angles"
    text = f"no pose was found that has the {quantity} {coordinate_text} {unit} (entry {row}): "
    if np.isfinite(tolerance):
        text += f"the nearest one found leaves a residual of {residual:.3g} {unit}, more than the "
        text += f"{tolerance:.3g} {unit} by which redundant legs may contradict "
        text += "each other. Check units and order of the legs, or give a larger tolerance."
        return ForwardKinematicsError(text, data)
    text += f"the search from {'home' if n_waypoints else 'the guess'} ended with a residual of "
    text += f"{residual:.3g} {unit}"
    if n_waypoints:
        text += (
            f", and searches from {n_waypoints} poses around it and random ones found none. Check "
        )
        text += "units and order of the legs, or give a guess near the pose."
    else:
        text += ". Give a guess nearer to the pose, or none: then the search is wider."
    return ForwardKinematicsError(text, data)


def assembly_modes(
    machine: MachineBase, coordinates: FloatArray, tolerance: float | None = None
) -> FloatArray:
    """Return all poses `(k, 7)` that a search finds for coordinates `(n,)`, nearest to home first.

    Damped least squares from random poses, whose first leg has its length, until several rounds in
    a row find nothing new. See `MachineModel.forward_kinematics_all`.

    Raises:
        InputError: coordinates so large that rounding hides the platform's turn.
    """
    random, modes = np.random.default_rng(0), np.empty((0, 7))
    joint_radius, n_idle_rounds = machine.joint_radius, 0
    largest_distance = MAX_LENGTH * (joint_radius if machine.coordinate_unit == "m" else 1.0)
    if np.abs(coordinates).max() > largest_distance:
        unit = machine.coordinate_unit
        raise InputError(
            "lengths", f"must not exceed {largest_distance:.3g} {unit}: rounding hides the pose"
        )
    residual_limit = 0.0
    if machine.n_actuators > machine.dof:
        residual_limit = default_tolerance(machine) if tolerance is None else tolerance
    for _ in range(MAX_ROUNDS):
        start_poses = _random_poses(machine, coordinates, random)
        targets = np.tile(coordinates, (len(start_poses), 1))
        poses, residuals = nearest_poses(machine, targets, start_poses)
        residual_sizes = np.abs(residuals).max(axis=1)
        n_before = len(modes)
        for pose in poses[
            (residual_sizes <= residual_limit) | _solved(machine, targets, residual_sizes)
        ]:
            distance = np.abs(displacement(pose, modes))
            distance[:, :3] /= joint_radius
            if (
                distance.max(axis=1) > max(SAME_MODE, _uncertainty(machine, pose, joint_radius))
            ).all():
                modes = np.vstack([modes, pose])
        n_idle_rounds = 0 if len(modes) > n_before else n_idle_rounds + 1
        if n_idle_rounds == MAX_IDLE_ROUNDS:
            break
    modes[modes[:, 3:] @ machine.home[3:] < 0.0, 3:] *= -1.0
    distance = displacement(modes, machine.home)
    distance[:, :3] /= joint_radius
    return modes[np.argsort(np.linalg.norm(distance, axis=1), kind="stable")]


def _uncertainty(machine: MachineBase, pose: FloatArray, arm: float) -> float:
    """Return the distance [arms, rad] below which two solutions count as the same pose `(7,)`."""
    values, jacobian_rows = geometry(machine.constants.legs, pose[None], 6 - machine.dof)
    scaled = jacobian_rows[0] * np.array([arm, arm, arm, 1.0, 1.0, 1.0])
    residual_bound = 2.0 * RESIDUAL_TOLERANCE * np.abs(values).max()
    return float(residual_bound / max(np.linalg.svd(scaled, compute_uv=False)[-1], residual_bound))


def _random_poses(
    machine: MachineBase, coordinates: FloatArray, random: np.random.Generator
) -> FloatArray:
    """Return random poses `(m, 7)` in reach: any attitude, one leg as long as it is to be."""
    n_draws = RANDOM_STARTS if machine.leg.is_straight else DRAWS_PER_CRANK_START * RANDOM_STARTS
    quaternions = random.normal(size=(n_draws, 4))
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    directions = random.normal(size=(n_draws, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    leg = random.integers(machine.n_actuators, size=n_draws)
    lengths = coordinates[leg]
    if not machine.leg.is_straight:
        leg_reaches = np.array([leg_parameters.reach for leg_parameters in machine.parameters.legs])
        lengths = leg_reaches[leg] * random.random(n_draws)
    arms = np.einsum("mij,mj->mi", rotation_matrix(quaternions), machine.platform_joints[leg])
    positions = machine.base_joints[leg] + directions * lengths[:, None] - arms
    poses = np.hstack([positions, quaternions])
    if machine.dof < 6:
        poses = nearest_allowed(machine.constants.legs, poses)
    values = geometry(machine.constants.legs, poses, 0).values
    return poses[np.isfinite(values).all(axis=1)][:RANDOM_STARTS]
