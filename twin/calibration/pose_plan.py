"""Poses to measure: those that together show the errors of a machine best, and their files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_instance,
    one_of,
    positive,
    whole_number,
)
from twin.calibration.calibration import PoseErrors, expected_errors
from twin.calibration.measured import (
    DEFAULT_NOISE,
    FRAME_CHOICES,
    POSE_COMPONENTS,
    Frames,
)
from twin.calibration.measurement_model import (
    N_FRAME_UNKNOWNS,
    LegErrors,
    MeasurementModel,
    Residuals,
)
from twin.calibration.simulated import poses_within, simulated
from twin.calibration.solution import gauge_of, observability
from twin.logs import Channel, Log, write_log
from twin.logs.log import POSE_UNITS
from twin.model.machine_model import MachineModel
from twin.motion.cueing.workspace_use import write_motion
from twin.motion.motion import axis_names, minimum_jerk
from twin.motion.recording import RecordedMotion
from twin.motion.specification import axes_from_home, convention_of

CANDIDATE_COUNT = 600
"""Number of random candidate poses from which a plan chooses."""

MAX_POSES = 500
"""Largest number of planned poses."""

MAX_EXCHANGES = 200
"""Maximum number of exchanges of a chosen pose for a better one, oldest first."""

DEFAULT_TOLERANCE = 1e-3
"""[m] Tolerance of joints where none is given; it is the prior until the poses determine the errors
better.
"""

FRAME_WEIGHT = 1e-3
"""[1/m] Weight of the prior for frames: a standard deviation of 1 km, so that only poses count."""

SAMPLE_PERIOD = 0.05
"""[s] Time between the samples of the motion through all poses."""

MOVE_TIME = 4.0
"""[s] Duration of the motion from home to a pose."""

REST_TIME = 2.0
"""[s] Duration of the rest in a pose and at home."""


class Plan(NamedTuple):
    """Poses to measure, and the accuracy to expect from them."""

    poses: FloatArray
    """`(m, 7)` of the platform in the base"""
    coordinates: FloatArray
    """actuator coordinates at the poses `(m, n)` [m or rad]"""
    observability: dict[str, float]
    random: dict[str, float]
    """indices of as many poses drawn at random"""
    expected: PoseErrors
    """standard deviation of what is measured of poses, all over the workspace, once calibrated"""
    standard_errors: FloatArray
    """`(n, k)` of the legs' errors"""


def plan(
    machine: MachineModel,
    count: int,
    *,
    frames: str = "both",
    measured: tuple[str, ...] = POSE_COMPONENTS,
    noise: tuple[float, float, float] = DEFAULT_NOISE,
    tolerance: float | None = None,
    seed: int = 0,
) -> Plan:
    """Return the poses inside all limits that determine the errors best: D-optimal, by exchange.

    Args:
        machine: to be measured.
        count: poses to measure.
        frames: unknown frames, as of `calibrate`: "both", "tracker", "target" or "known".
        measured: components of the pose that will be measured.
        noise: standard deviations of positions [m], angles [rad] and coordinates [m, rad].
        tolerance: standard deviation [m] of joints and offsets as they were made.
        seed: of the random candidate poses.

    Raises:
        InputError: options out of range.
    """
    as_instance(machine, "machine", MachineModel)
    whole_number(count, "plan", 3, MAX_POSES)
    if tolerance is not None:
        positive(tolerance, "tolerance")
    free_frames = FRAME_CHOICES[one_of(frames, "frames", FRAME_CHOICES)]
    model = MeasurementModel(LegErrors(machine), Frames(), free_frames)
    places = poses_within(machine, CANDIDATE_COUNT, seed)
    candidates = simulated(machine, places, measured=measured, noise=noise)
    rows = Residuals(model, candidates).slopes(np.zeros(model.size))
    legs = model.size - N_FRAME_UNKNOWNS
    weights = np.where(
        np.arange(model.size) < legs, 1.0 / (tolerance or DEFAULT_TOLERANCE), FRAME_WEIGHT
    )
    basis = gauge_of(model).basis
    prior = basis * weights[:, None]
    chosen_rows = _exchanged(rows @ basis, prior.T @ prior, count)
    # Through the triangular factor of all rows, since squares lose what exact measurements leave.
    information_rows = (rows[chosen_rows] @ basis).reshape(-1, basis.shape[1])
    triangle = np.linalg.qr(np.vstack([information_rows, prior])).R
    root = np.linalg.solve(triangle.T, basis.T)
    covariance = root.T @ root
    deviations = np.sqrt(np.diag(covariance))[:legs] * model.scales[:legs]
    others = poses_within(machine, CANDIDATE_COUNT // 3, seed + 1)
    other_poses = simulated(machine, others, measured=measured)
    nominal = np.zeros(model.size)
    return Plan(
        places[chosen_rows],
        candidates.coordinates[chosen_rows],
        _indices(rows[chosen_rows] @ basis),
        _indices(rows[:count] @ basis),
        expected_errors(model, nominal, covariance, other_poses),
        deviations.reshape(model.errors.shape),
    )


def _exchanged(rows: FloatArray, prior: FloatArray, count: int) -> list[int]:
    """Return indices of poses whose rows `(m, r, q)` have the largest determinant of information.

    Poses are added one by one, then each is replaced by the best for the others: exchange of
    Fedorov (1972) without repeated poses.
    """
    chosen_rows: list[int] = []
    information = prior.copy()
    for number in range(count + min(MAX_EXCHANGES, 2 * count)):
        if number >= count:
            removed_row = chosen_rows.pop(0)
            information -= rows[removed_row].T @ rows[removed_row]
        best_row = _best(rows, information, chosen_rows)
        chosen_rows.append(best_row)
        information += rows[best_row].T @ rows[best_row]
    return chosen_rows


def _best(rows: FloatArray, total: FloatArray, taken: list[int]) -> int:
    """Return the pose that raises the determinant of `total` most: that of 1 + J total^-1 J^T."""
    inverse = np.linalg.inv(total)
    gains = np.eye(rows.shape[1]) + rows @ inverse @ np.swapaxes(rows, 1, 2)
    log_determinants = np.linalg.slogdet(gains)[1]
    log_determinants[taken] = -np.inf
    return int(np.argmax(log_determinants))


def _indices(rows: FloatArray) -> dict[str, float]:
    singular_values = np.linalg.svd(rows.reshape(-1, rows.shape[2]), compute_uv=False)
    return observability(singular_values[singular_values > 1e-9 * singular_values[0]], len(rows))


def write_table(pose_plan: Plan, machine: MachineModel, path: str | Path) -> Path:
    """Write a log with the planned coordinates and poses, one row each, numbered from 1.

    Raises:
        InputError: another ending than those of logs, or a place that cannot be written to.
    """
    number = np.arange(1.0, len(pose_plan.poses) + 1.0)
    channels = (
        Channel("coordinates", number, pose_plan.coordinates, (machine.coordinate_unit,)),
        Channel("reference_pose", number, pose_plan.poses, POSE_UNITS),
    )
    return write_log(Log(channels, {"machine": machine.name}), path)


def write_visits(pose_plan: Plan, machine: MachineModel, path: str | Path) -> Path:
    """Write a motion that rests in every pose, for `twin track`; between poses it passes home.

    All poses lie on ways from home on which all limits are kept.

    Raises:
        InputError: the place cannot be written to.
    """
    convention = convention_of(machine)
    visit_axes = axes_from_home(machine, pose_plan.poses)
    phase = np.arange(0.0, MOVE_TIME + REST_TIME, SAMPLE_PERIOD) / MOVE_TIME
    path_fractions = np.concatenate([minimum_jerk(phase)[0], minimum_jerk(1.0 - phase)[0]])
    samples = (visit_axes[:, None] * path_fractions[:, None]).reshape(-1, visit_axes.shape[1])
    columns = dict(zip(axis_names(convention), samples.T, strict=True))
    time = SAMPLE_PERIOD * np.arange(len(samples))
    motion = RecordedMotion(machine.home, time, columns, convention=convention)
    return write_motion(motion, path, SAMPLE_PERIOD)
