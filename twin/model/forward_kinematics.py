"""Poses of given actuator coordinates: wider searches than Newton's method from one guess.

Newton's method with continuation (`twin.kernels.kinematics`) follows the straight way of
the coordinates. A singular pose on that way ends it, though the machine may go another way. The
search here begins again at poses around home that the machine reaches from home without passing a
singular pose, and follows the straight way from there. Where that ends too, it takes the nearest
one of all solutions that least squares find on home's side of singular poses.

Machines with more legs than degrees of freedom measure more than a pose has numbers. Their poses
are those of least squares, with what is left of the coordinates.
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
    characteristic_length,
    constrained,
    constraint_rows,
    inside,
    null_space,
    run,
)
from twin.rotations import displacement

RESIDUAL_TOLERANCE = 1e-12
"""Residual of a solved coordinate, relative to the largest one and to the legs' size."""

DEFAULT_TOLERANCE = 1e-3
"""[m] by which coordinates of redundant legs may contradict each other, without encoders."""

ENCODER_COUNT_TOLERANCE = 3.0
"""Counts by which encoder readings of redundant legs may contradict each other."""

SEARCH_DIRECTIONS = 64
"""Directions from home along which starting poses are sought."""

POSES_PER_DIRECTION = 24
"""Poses that are tried along each direction."""

SEARCH_LENGTH = 1.5
"""Length of each direction in mean arms, or in radians for rotations."""

MAX_ITERATIONS = 100
"""Largest number of iterations of the damped least squares."""

MAX_TURN = 1.0
"""[rad] Largest rotation of one iteration."""

INITIAL_DAMPING = 1e-3
"""First damping, relative to the mean square of the slopes."""

MIN_DAMPING = 1e-12
"""Smallest damping."""

MAX_DAMPING = 1e9
"""Damping at which a pose is given up."""

MIN_STEP = 1e-14
"""Step, in arms and radians, below which the iteration ends."""

STALLED_STEP = 1e-9
"""Step below which the iteration ends if it gained nothing."""

NEAREST_STARTS = 128
"""Poses around home from which the least squares restart."""

RANDOM_STARTS = 512
"""Random poses in each round of the search for assembly modes."""

DRAWS_PER_CRANK_START = 32
"""Largest number of draws for each pose that all cranks can reach."""

MAX_IDLE_ROUNDS = 12
"""Rounds without a new assembly mode after which the search ends."""

MAX_ROUNDS = 100
"""Largest number of rounds."""

MAX_LENGTH = 1e3
"""Longest leg per size of the platform, or largest angle [rad], that a search takes."""

SAME_MODE = 1e-6
"""Distance, in arms and radians, of two poses that are one assembly mode."""


class Geometry(NamedTuple):
    """n coordinates and c constraints of m poses; NaN where a leg cannot reach."""

    values: FloatArray
    """`(m, n + c)` coordinates, then how far constraints are off"""
    rows: FloatArray
    """`(m, n + c, 6)` by a displacement of the platform, base axes"""


class FittedPoses(NamedTuple):
    """Poses of actuator coordinates, by least squares where there are redundant legs."""

    pose: FloatArray
    """`(..., 7)`"""
    residual: FloatArray
    """`(..., n)` given coordinates minus those of the pose [m] or [rad]"""


def geometry(legs: Legs, poses: FloatArray, constraints: int) -> Geometry:
    """Return coordinates and constraints of poses `(m, 7)` with their Jacobian."""
    count = len(legs.rows)
    values, rows = np.empty((len(poses), count)), np.empty((len(poses), count, 6))
    run(inverse_kinematics_batch, (legs,), (poses, values))
    run(jacobian_batch, (legs,), (poses, rows))
    if constraints:
        held = constraint_rows(legs, poses, np.zeros((len(poses), 6)))
        values = np.concatenate([values, held[:, :, 7]], axis=1)
        rows = np.concatenate([rows, held[:, :, :6]], axis=1)
    return Geometry(values, rows)


def nearest_poses(
    machine: MachineBase, coordinates: FloatArray, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the poses `(m, 7)` whose coordinates come closest to given ones, and what is left.

    Damped least squares (Levenberg, Marquardt) from poses `start` `(m, 7)`, which the machine can
    have; so can it those on the way. What is left is `(m, n)`: given minus found coordinates [m] or
    [rad]. Both are NaN in rows that start out of reach.
    """
    legs, poses = machine.constants.legs, start.copy()
    arm = characteristic_length(machine.platform_joints)
    scale = np.repeat([1.0, 1.0 / arm], 3)
    left, slopes = _misses(machine, coordinates, poses)
    damping = np.full(len(poses), INITIAL_DAMPING)
    active: Any = np.isfinite(left).all(axis=1) & np.isfinite(slopes).all(axis=(1, 2))
    left[~active], poses[~active] = np.nan, np.nan
    for _ in range(MAX_ITERATIONS):
        rows = np.flatnonzero(active)
        if not rows.size:
            break
        across = np.swapaxes(slopes[rows] * scale, 1, 2)
        normal = across @ np.swapaxes(across, 1, 2)
        size = np.trace(normal, axis1=1, axis2=2) / 6.0
        normal[:, range(6), range(6)] += (damping[rows] * size)[:, None]
        step = np.linalg.solve(normal, across @ left[rows, :, None])[..., 0] * scale
        step /= np.maximum(np.linalg.norm(step[:, 3:], axis=1) / MAX_TURN, 1.0)[:, None]
        trial = turned(poses[rows], step)
        trial[:, 3:] /= np.linalg.norm(trial[:, 3:], axis=1, keepdims=True)
        if machine.dof < 6:
            trial = constrained(legs, trial, np.zeros_like(step), np.zeros_like(step))[0]
        now, rates = _misses(machine, coordinates[rows], trial)
        good = (now**2).sum(axis=1) < (left[rows] ** 2).sum(axis=1)  # False where NaN
        good &= np.isfinite(rates).all(axis=(1, 2))
        better = rows[good]
        poses[better], left[better], slopes[better] = trial[good], now[good], rates[good]
        damping[rows] = np.where(good, 0.1, 5.0) * np.maximum(damping[rows], MIN_DAMPING)
        size = np.abs(step / scale).max(axis=1) / arm
        ended = (size < MIN_STEP) | ~good & (size < STALLED_STEP)
        active[rows[ended | (damping[rows] > MAX_DAMPING)]] = False
    return poses, left


def _misses(
    machine: MachineBase, coordinates: FloatArray, poses: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return coordinates `(m, n)` minus those of poses `(m, 7)`, and the Jacobian of the latter.

    The Jacobian `(m, n, 6)` is that of the motions that the machine's constraints allow.
    """
    n, count = machine.n_actuators, 6 - machine.dof
    at = geometry(machine.constants.legs, poses, count)
    slopes = at.rows[:, :n]
    if count and len(poses):
        free = null_space(at.rows[:, n:])
        slopes = slopes @ free @ np.swapaxes(free, 1, 2)
    return coordinates - at.values[:, :n], slopes


def found_poses(
    machine: MachineBase, coordinates: FloatArray, guess: FloatArray | None
) -> tuple[FloatArray, BoolArray]:
    """Return the search of every row: poses, residual, iterations `(m, 9)`, and whether it failed.

    Args:
        machine: the machine.
        coordinates: `(m, n)`.
        guess: `(m, 7)` to start from, alone; None for home, then poses around it.
    """
    legs, found = machine.constants.legs, np.empty((len(coordinates), 9))
    start = np.tile(machine.home, (len(coordinates), 1)) if guess is None else guess
    first = run(forward_kinematics_batch, (legs,), (coordinates, start, found))
    failed: Any = np.zeros(len(found), dtype=bool)
    if first < 0:
        return found, failed
    failed = ~_solved(machine, coordinates, found[:, 7])
    if guess is None and machine.n_actuators == machine.dof:
        rows = np.flatnonzero(failed)
        failed[rows] = [not _recovered(machine, coordinates[row], found[row]) for row in rows]
    return found, failed


def _solved(machine: MachineBase, coordinates: FloatArray, residual: FloatArray) -> Any:
    """Return whether residuals `(m,)` are rounding for coordinates `(m, n)`."""
    least = float(machine.home_reaches.max()) if machine.coordinate_unit == "m" else 1.0
    size = np.maximum(np.abs(coordinates).max(axis=1), least)
    return np.asarray(residual <= RESIDUAL_TOLERANCE * size)


def _recovered(machine: MachineBase, coordinates: FloatArray, found: FloatArray) -> bool:
    """Return whether a search from a pose around home ends at coordinates `(n,)`; fill `found`."""
    poses, there = waypoints(machine)
    order = np.argsort(np.linalg.norm(there - coordinates, axis=1))
    tried = np.empty((1, 9))
    for row in order:
        arrays = coordinates[None], poses[row][None], tried
        if run(forward_kinematics_batch, (machine.constants.legs,), arrays) < 0:
            found[:] = tried[0]
            return True
        found[8] += tried[0, 8]
    starts = [poses, _random_poses(machine, coordinates, np.random.default_rng(0))]
    pose = _on_home_side(machine, coordinates, np.concatenate(starts))
    if pose is not None:
        found[:8] = *pose, 0.0
    return pose is not None


def _on_home_side(
    machine: MachineBase, coordinates: FloatArray, starts: FloatArray
) -> FloatArray | None:
    """Return the solution `(7,)` from poses `(m, 7)` that is nearest to home; None: there is none.

    The determinant of its Jacobian has the sign of that at home, though a way there may be longer
    than those that were tried, or there is none without a singular pose.
    """
    targets = np.tile(coordinates, (len(starts), 1))
    poses, left = nearest_poses(machine, targets, starts)
    poses = poses[_solved(machine, targets, np.abs(left).max(axis=1))]
    at = geometry(machine.constants.legs, np.vstack([poses, machine.home]), 6 - machine.dof)
    sides = np.sign(np.linalg.det(at.rows))
    poses = poses[sides[:-1] == sides[-1]]
    if not len(poses):
        return None
    distance = displacement(poses, np.tile(machine.home, (len(poses), 1)))
    distance[:, :3] /= characteristic_length(machine.platform_joints)
    return np.asarray(poses[np.linalg.norm(distance, axis=1).argmin()])


@lru_cache(maxsize=8)
def waypoints(machine: MachineBase) -> tuple[FloatArray, FloatArray]:
    """Return poses `(k, 7)` around home inside the actuators' limits, and coordinates `(k, n)`.

    They are the last ones and the middle ones of straight ways from home, before a limit or a
    singular pose.
    """
    legs, count = machine.constants.legs, 6 - machine.dof
    ways = np.random.default_rng(0).normal(size=(SEARCH_DIRECTIONS, 6))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    arm = characteristic_length(machine.platform_joints)
    ways *= np.repeat([arm, 1.0], 3)
    shares = SEARCH_LENGTH * np.arange(1, POSES_PER_DIRECTION + 1) / POSES_PER_DIRECTION
    steps = (shares[:, None] * ways[:, None]).reshape(-1, 6)
    poses = turned(np.tile(machine.home, (len(steps), 1)), steps)
    if count:
        zero = np.zeros((len(poses), 6))
        poses = constrained(legs, poses, zero, zero)[0]
    at = geometry(legs, np.vstack([poses, machine.home]), count)
    values = at.values[:, : machine.n_actuators]
    good = inside(values, machine.minimum_coordinates, machine.maximum_coordinates)
    if machine.n_actuators == machine.dof:
        good &= np.isfinite(at.rows).all(axis=(1, 2))
        sides = np.sign(np.linalg.det(np.where(good[:, None, None], at.rows, np.eye(6))))
        good &= sides == sides[-1]
    length = np.logical_and.accumulate(
        good[:-1].reshape(SEARCH_DIRECTIONS, POSES_PER_DIRECTION), axis=1
    ).sum(axis=1)
    row = POSES_PER_DIRECTION * np.arange(SEARCH_DIRECTIONS)
    ends = np.concatenate([(row + length - 1)[length > 0], (row + length // 2 - 1)[length > 1]])
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
    found, failed = found_poses(machine, coordinates, guess)
    allowed = np.inf
    if machine.n_actuators > machine.dof and failed.any():
        allowed = default_tolerance(machine) if tolerance is None else tolerance
        rows = np.flatnonzero(failed)
        start = None if guess is None else guess[rows]
        found[rows, :8] = _least_squares(machine, coordinates[rows], start)
        failed[rows] = ~(found[rows, 7] <= allowed)
    if failed.any():
        row = int(failed.argmax())
        around = len(waypoints(machine)[0]) if guess is None else 0
        raise _not_found(machine, number + row, coordinates[row], found[row], allowed, around)
    return np.ascontiguousarray(found[:, :7])


def poses_along(machine: MachineBase, coordinates: FloatArray) -> FloatArray:
    """Return the poses `(k, 7)` along a path of coordinates `(k, n)`, each from the one before.

    The first one is searched for from home; so is one that is not found from the one before.

    Raises:
        ForwardKinematicsError: no pose was found for a row.
    """
    poses = np.empty((len(coordinates), 7))
    guess: FloatArray | None = None
    for row in range(len(coordinates)):
        given = coordinates[row : row + 1]
        try:
            guess = poses_of(machine, given, guess)
        except ForwardKinematicsError:
            guess = poses_of(machine, given, None, number=row)
        poses[row] = guess[0]
    return poses


def default_tolerance(machine: MachineBase) -> float:
    """Return by how much [m] or [rad] coordinates of redundant legs may contradict each other.

    Three counts of the coarsest encoder; without encoders 1 mm at the legs' ends.
    """
    counts = []
    for leg in machine.parameters.legs:
        turn = None if leg.drive is None else leg.drive.turn
        if leg.encoder is None or turn is None:
            break
        counts.append(leg.encoder.resolution(turn))
    else:
        return ENCODER_COUNT_TOLERANCE * max(counts)
    lever = 1.0 if machine.coordinate_unit == "m" else float(machine.home_reaches.max())
    return DEFAULT_TOLERANCE / lever


def _least_squares(
    machine: MachineBase, coordinates: FloatArray, guess: FloatArray | None
) -> FloatArray:
    """Return the nearest poses of coordinates `(m, n)` and their largest residuals, `(m, 8)`."""
    home = np.tile(machine.home, (len(coordinates), 1))
    poses, left = nearest_poses(machine, coordinates, home if guess is None else guess)
    found = np.column_stack([poses, np.abs(left).max(axis=1)])
    if guess is not None:
        return found
    allowed = default_tolerance(machine)
    starts, there = waypoints(machine)
    for row in np.flatnonzero(~(found[:, 7] <= allowed)):
        order = np.argsort(np.linalg.norm(there - coordinates[row], axis=1))[:NEAREST_STARTS]
        same = np.tile(coordinates[row], (len(order), 1))
        poses, left = nearest_poses(machine, same, starts[order])
        sizes = np.nan_to_num(np.abs(left).max(axis=1), nan=np.inf)
        if sizes.min(initial=np.inf) < found[row, 7]:
            best = int(sizes.argmin())
            found[row] = *poses[best], sizes[best]
    return found


def _not_found(
    machine: MachineBase,
    row: int,
    coordinates: FloatArray,
    found: FloatArray,
    allowed: float,
    around: int,
) -> ForwardKinematicsError:
    """Return the error of coordinates without a pose, with the outcome of the search.

    Args:
        machine: the machine.
        row: of the batch.
        coordinates: `(n,)` of it.
        found: `(9,)` last pose, residual and iterations.
        allowed: by which redundant legs may contradict each other; infinite where there are none.
        around: poses around home from which it was searched; zero: from a guess.
    """
    unit, residual, iterations = machine.coordinate_unit, float(found[7]), int(found[8])
    data: dict[str, Any] = {"index": row, "residual": residual, "iterations": iterations}
    data |= {"pose": found[:7].copy(), "lengths": coordinates.copy()}
    numbers = ", ".join(f"{value:.7g}" for value in coordinates)
    name = "lengths" if unit == "m" else "angles"
    text = f"no pose was found that has the {name} {numbers} {unit} (entry {row}): "
    if np.isfinite(allowed):
        text += f"the nearest one found leaves a residual of {residual:.3g} {unit}, more than the "
        text += f"{allowed:.3g} {unit} by which redundant legs may contradict "
        text += "each other. Check units and order of the legs, or give a larger tolerance."
        return ForwardKinematicsError(text, data)
    text += f"the search from {'home' if around else 'the guess'} ended with a residual of "
    text += f"{residual:.3g} {unit}"
    if around:
        text += f", and searches from {around} poses around it and random ones found none. Check "
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
    arm, idle = characteristic_length(machine.platform_joints), 0
    largest = MAX_LENGTH * (arm if machine.coordinate_unit == "m" else 1.0)
    if np.abs(coordinates).max() > largest:
        unit = machine.coordinate_unit
        raise InputError(
            "lengths", f"must not exceed {largest:.3g} {unit}: rounding hides the pose"
        )
    allowed = 0.0
    if machine.n_actuators > machine.dof:
        allowed = default_tolerance(machine) if tolerance is None else tolerance
    for _ in range(MAX_ROUNDS):
        starts = _random_poses(machine, coordinates, random)
        targets = np.tile(coordinates, (len(starts), 1))
        poses, left = nearest_poses(machine, targets, starts)
        sizes = np.abs(left).max(axis=1)
        before = len(modes)
        for pose in poses[(sizes <= allowed) | _solved(machine, targets, sizes)]:
            distance = np.abs(displacement(np.tile(pose, (len(modes), 1)), modes))
            distance[:, :3] /= arm
            if (distance.max(axis=1) > max(SAME_MODE, _uncertainty(machine, pose, arm))).all():
                modes = np.vstack([modes, pose])
        idle = 0 if len(modes) > before else idle + 1
        if idle == MAX_IDLE_ROUNDS:
            break
    modes[modes[:, 3:] @ machine.home[3:] < 0.0, 3:] *= -1.0
    distance = displacement(modes, np.tile(machine.home, (len(modes), 1)))
    distance[:, :3] /= arm
    return modes[np.argsort(np.linalg.norm(distance, axis=1), kind="stable")]


def _uncertainty(machine: MachineBase, pose: FloatArray, arm: float) -> float:
    """Return the distance [arms, rad] up to which two solutions are the same pose `(7,)`."""
    values, rows = geometry(machine.constants.legs, pose[None], 6 - machine.dof)
    scaled = rows[0] * np.array([arm, arm, arm, 1.0, 1.0, 1.0])
    left = 2.0 * RESIDUAL_TOLERANCE * np.abs(values).max()
    return float(left / max(np.linalg.svd(scaled, compute_uv=False)[-1], left))


def _random_poses(
    machine: MachineBase, coordinates: FloatArray, random: np.random.Generator
) -> FloatArray:
    """Return random poses `(m, 7)` in reach: any attitude, one leg as long as it is to be."""
    count = RANDOM_STARTS if machine.leg.is_straight else DRAWS_PER_CRANK_START * RANDOM_STARTS
    turns = random.normal(size=(count, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    ways = random.normal(size=(count, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    leg = random.integers(machine.n_actuators, size=count)
    lengths = coordinates[leg]
    if not machine.leg.is_straight:
        reach = np.array([each.reach for each in machine.parameters.legs])
        lengths = reach[leg] * random.random(count)
    arms = np.einsum("mij,mj->mi", rotation_matrix(turns), machine.platform_joints[leg])
    places = machine.base_joints[leg] + ways * lengths[:, None] - arms
    poses = np.hstack([places, turns])
    if machine.dof < 6:
        zero = np.zeros((count, 6))
        poses = constrained(machine.constants.legs, poses, zero, zero)[0]
    values = geometry(machine.constants.legs, poses, 0).values
    return poses[np.isfinite(values).all(axis=1)][:RANDOM_STARTS]
