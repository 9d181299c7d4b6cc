"""Poses to measure: those that together show the errors of a machine best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_instance, one_of, positive, whole_number
from twin.calibration.calibration import PoseErrors, expected_errors
from twin.calibration.candidates import poses_within
from twin.calibration.frames import FRAMES, Frames
from twin.calibration.gauge import gauge_of
from twin.calibration.leg_errors import LegErrors
from twin.calibration.measured import COMPONENTS, USUAL
from twin.calibration.measurement_model import FRAME_UNKNOWNS, MeasurementModel
from twin.calibration.observability import observability
from twin.calibration.residuals import Residuals
from twin.calibration.simulated import simulated
from twin.model.machine_model import MachineModel

CANDIDATES = 600
MOST = 500
EXCHANGES = 200
"""Poses that are tried again at most, the first ones first."""

USUAL_TOLERANCE = 1e-3
"""[m] of joints where none is given; it matters only until poses show more."""


class Plan(NamedTuple):
    """Poses to measure, and what they will show."""

    poses: FloatArray
    """`(m, 7)` of the platform in the base"""
    coordinates: FloatArray
    """`(m, n)`"""
    observability: dict[str, float]
    random: dict[str, float]
    """indices of as many poses drawn at random"""
    expected: PoseErrors
    """standard deviation of predicted poses all over the workspace after the calibration"""
    standard_errors: FloatArray
    """`(n, k)` of the legs' errors"""


def plan(
    machine: MachineModel,
    count: int,
    *,
    frames: str = "both",
    measured: tuple[str, ...] = COMPONENTS,
    noise: tuple[float, float, float] = USUAL,
    tolerance: float | None = None,
    seed: int = 0,
) -> Plan:
    """Return the poses inside all limits that determine the errors best: D-optimal, by exchange.

    Args:
        machine: to be measured.
        count: poses to measure.
        frames: those that are not known, as of `calibrate`.
        measured: components of the pose that will be measured.
        noise: standard deviations of positions [m], angles [rad] and coordinates.
        tolerance: standard deviation [m] of joints and offsets as they were made.
        seed: of the candidates.

    Raises:
        InputError: options out of range.
    """
    as_instance(machine, "machine", MachineModel)
    whole_number(count, "plan", 3, MOST)
    if tolerance is not None:
        positive(tolerance, "tolerance")
    one_of(frames, "frames", FRAMES)
    free = frames in ("both", "tracker"), frames in ("both", "target")
    model = MeasurementModel(LegErrors(machine), Frames(), free)
    places = poses_within(machine, CANDIDATES, seed)
    candidates = simulated(machine, places, measured=measured, noise=noise)
    rows = Residuals(model, candidates).slopes(np.zeros(model.size))
    legs = model.size - FRAME_UNKNOWNS
    weights = np.where(np.arange(model.size) < legs, 1.0 / (tolerance or USUAL_TOLERANCE), 1e-3)
    basis = gauge_of(model).basis
    prior = basis * weights[:, None]
    chosen = _exchanged(rows @ basis, prior.T @ prior, count)
    # Through the triangular factor of all rows, since squares lose what exact measurements leave.
    seen = (rows[chosen] @ basis).reshape(-1, basis.shape[1])
    triangle = np.linalg.qr(np.vstack([seen, prior])).R
    root = np.linalg.solve(triangle.T, basis.T)
    covariance = root.T @ root
    deviations = np.sqrt(np.diag(covariance))[:legs] * model.scales[:legs]
    elsewhere = simulated(machine, poses_within(machine, CANDIDATES // 3, seed + 1))
    start = np.zeros(model.size)
    return Plan(
        places[chosen],
        candidates.coordinates[chosen],
        _indices(rows[chosen] @ basis),
        _indices(rows[:count] @ basis),
        expected_errors(model, start, covariance, elsewhere),
        deviations.reshape(model.errors.shape),
    )


def _exchanged(rows: FloatArray, prior: FloatArray, count: int) -> list[int]:
    """Return indices of poses whose rows `(m, r, q)` have the largest determinant of information.

    Poses are added one by one, then each is replaced by the best for the others: exchange of
    Fedorov (1972) without repeated poses.
    """
    chosen: list[int] = []
    total = prior.copy()
    for _ in range(count):
        best = _best(rows, total, chosen)
        chosen.append(best)
        total += rows[best].T @ rows[best]
    for _ in range(min(EXCHANGES, 2 * count)):
        old = chosen.pop(0)
        total -= rows[old].T @ rows[old]
        best = _best(rows, total, chosen)
        chosen.append(best)
        total += rows[best].T @ rows[best]
    return chosen


def _best(rows: FloatArray, total: FloatArray, taken: list[int]) -> int:
    """Return the pose that raises the determinant of `total` most: that of 1 + J total^-1 J^T."""
    inverse = np.linalg.inv(total)
    gains = np.eye(rows.shape[1]) + rows @ inverse @ np.swapaxes(rows, 1, 2)
    sizes = np.linalg.slogdet(gains)[1]
    sizes[taken] = -np.inf
    return int(np.argmax(sizes))


def _indices(rows: FloatArray) -> dict[str, float]:
    sizes = np.linalg.svd(rows.reshape(-1, rows.shape[2]), compute_uv=False)
    return observability(sizes[sizes > 1e-9 * sizes[0]], len(rows))
