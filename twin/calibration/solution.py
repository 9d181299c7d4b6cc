"""Least squares of a calibration: directions that are shown, their estimate, and how well.

References: O1: Borm and Menq (1991); O2: Driels and Pathre (1990); O3: Nahvi, Hollerbach and
Hayward (1994); O4: Nahvi and Hollerbach (1996); O5: Sun and Hollerbach (2008), who compare all.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import null_space, qr
from scipy.optimize import least_squares
from scipy.stats import chi2

from twin.basics.arrays import FloatArray
from twin.calibration.measurement_model import N_FRAME_UNKNOWNS, MeasurementModel, Residuals
from twin.calibration.simulated import poses_within, simulated
from twin.model.machine_model import MachineModel

GAUGE_POSES = 200
"""Number of random full poses from which the observable directions are found."""

NULL_RATIO = 1e-9
"""Singular value over the largest below which a direction is unobservable."""

MIN_SQUARED_COSINE = 0.98
"""Square of the cosine between a direction and a common motion of all joints above which the motion
describes it.
"""

MAX_NAMED_UNKNOWNS = 3
"""Unknowns of a direction that a sentence names."""

MIN_NAMED_FRACTION = 0.3
"""Fraction of the largest entry of a direction from which on an unknown is named."""

MAX_STANDARD_ERROR = 0.01
"""Standard error over the platform's mean arm above which a direction counts as unobservable."""

SOLVER_TOLERANCE = 1e-12
"""Relative change of cost, unknowns and gradient at which the search ends."""

MAX_SOLVER_STEPS = 100
"""Evaluations of the least-squares solver."""

ROBUST_SCALE = 2.0
"""Residual in standard deviations above which a robust fit weights it linearly."""

CHI_SQUARED_QUANTILE = 0.999
"""Quantile of chi squared above which residuals are larger than the stated noise explains."""

OUTLIER_PROBABILITY = 1e-5
"""Probability under the noise below which a pose counts as an outlier."""

INDEX_MEANINGS = {
    "O1": "geometric mean of the singular values, per root of the number of poses",
    "O2": "smallest over largest singular value",
    "O3": "smallest singular value",
    "O4": "smallest singular value squared, over the largest",
    "O5": "inverse of the sum of inverse singular values",
}


class Gauge(NamedTuple):
    """Gauge: the observable subspace of the unknowns."""

    basis: FloatArray
    """`(u, q)` orthonormal basis of the observable unknowns, in which the legs are nearest to the
    file's
    """
    free: int
    """number of directions of the legs' errors that no measurement shows, which this basis fixes"""


def gauge_of(model: MeasurementModel) -> Gauge:
    """Return the unknowns that full poses all over the workspace can show.

    Directions without effect are those of the frames: joints of the base move with the tracker's
    frame, those of the platform with the target's. The legs keep away from them, so that their
    joints lie as near to the file's as they can.
    """
    poses = simulated(model.machine, _rich(model.machine), frames=model.frames)
    slopes = Residuals(model, poses).slopes(np.zeros(model.size)).reshape(-1, model.size)
    is_used = model.scales > 0.0
    _, singular_values, directions = np.linalg.svd(slopes[:, is_used])
    null_directions = directions[(singular_values > NULL_RATIO * singular_values[0]).sum() :]
    legs = model.size - N_FRAME_UNKNOWNS
    kept_directions = (
        null_space(null_directions[:, :legs], rcond=1e-6) if len(null_directions) else np.eye(legs)
    )
    frames = np.eye(model.size)[:, legs:][:, is_used[legs:]]
    basis = np.hstack([np.pad(kept_directions, ((0, N_FRAME_UNKNOWNS), (0, 0))), frames])
    return Gauge(basis, legs - kept_directions.shape[1])


@lru_cache(maxsize=8)
def _rich(machine: MachineModel) -> FloatArray:
    return poses_within(machine, GAUGE_POSES)


def direction_labels(directions: FloatArray, model: MeasurementModel) -> list[str]:
    """Return orthonormal directions `(s, u)` as phrases: which unknowns cannot be told apart.

    Motions of all joints of a side come first. The others are combined so that each has an unknown
    of its own.
    """
    sentences, names = [], model.names
    for name, motion in _rigid_motions(model):
        overlap = directions @ motion
        if overlap @ overlap > MIN_SQUARED_COSINE:
            sentences.append(name)
            remaining = null_space(overlap[None])
            directions = remaining.T @ directions
    if not len(directions):
        return sentences
    pivot_columns = qr(directions, pivoting=True, mode="r")[1][: len(directions)]
    reduced = np.linalg.solve(directions[:, pivot_columns], directions)
    for number, row in zip(pivot_columns, reduced, strict=True):
        other_terms = [
            k for k in np.argsort(-np.abs(row)) if k != number and abs(row[k]) > MIN_NAMED_FRACTION
        ]
        text = names[number]
        if other_terms:
            named = (names[k] for k in other_terms[:MAX_NAMED_UNKNOWNS])
            text += f" together with {', '.join(named)}"
        if len(other_terms) > MAX_NAMED_UNKNOWNS:
            text += f" and {len(other_terms) - MAX_NAMED_UNKNOWNS} more"
        sentences.append(text)
    return sentences


def _rigid_motions(model: MeasurementModel) -> Iterator[tuple[str, FloatArray]]:
    """Yield motions of all joints of a side: their names, and unit directions `(u,)`."""
    machine, (n, k) = model.machine, model.errors.shape
    for side, first_column, points in (
        ("base", 0, machine.base_joints),
        ("platform", 3, machine.platform_joints),
    ):
        for index, axis in enumerate(np.eye(3)):
            for word, motion in (
                ("shift along", np.tile(axis, (n, 1))),
                ("turn about", np.cross(axis, points - points.mean(axis=0))),
            ):
                errors = np.zeros((n, k))
                errors[:, first_column : first_column + 3] = motion
                direction = np.pad(errors.ravel(), (0, N_FRAME_UNKNOWNS))
                yield (
                    f"{word} {'xyz'[index]} of all {side} joints",
                    direction / np.linalg.norm(direction),
                )


class Solution(NamedTuple):
    """Estimate of the unknowns `(u,)` of a model."""

    unknowns: FloatArray
    covariance: FloatArray
    """`(u, u)`; zero along directions that are held, larger if residuals exceed the noise"""
    unobservable: FloatArray
    """`(s, u)` orthonormal directions that the data do not show"""
    singular_values: FloatArray
    """`(q,)` singular values of the residuals by all unknowns that can be seen at all [1/m]"""
    squared_residuals: FloatArray
    """`(m,)` sum of squared residuals of each pose"""
    counts: FloatArray
    """`(m,)` number of residuals of each pose"""
    rank: int
    """number of directions that are estimated from the data"""

    ratio: float
    """sum of squares per degree of freedom: 1 where noise is as stated and nothing else"""
    exceeds_noise: bool
    """whether the ratio is larger than by chance; the covariance is raised by it then"""

    @property
    def is_outlier(self) -> Any:
        """Whether the residuals of each pose are too large `(m,)`.

        Too large for the stated noise, and for the median of all poses if that is larger.
        """
        counts = np.maximum(self.counts, 1.0)
        ratio = max(1.0, float(np.median(self.squared_residuals / chi2.ppf(0.5, counts))))
        return self.squared_residuals > ratio * chi2.ppf(1.0 - OUTLIER_PROBABILITY, counts)


def solve(
    residuals: Residuals, gauge: Gauge, tolerance: float | None, robust: bool = False
) -> Solution:
    """Return the unknowns that fit the poses best.

    Args:
        residuals: of the poses.
        gauge: directions of the unknowns that can be seen at all.
        tolerance: standard deviation [m] of the legs' errors that is known beforehand; with it,
            directions that the data do not show stay as near to the file's as they can.
            Without it, they are held at the file's values.
        robust: whether large residuals count linearly.
    """
    model, nominal = residuals.model, np.zeros(residuals.model.size)
    legs = model.size - N_FRAME_UNKNOWNS
    slopes = residuals.slopes(nominal).reshape(-1, model.size) @ gauge.basis
    _, singular_values, rows = np.linalg.svd(slopes, full_matrices=len(slopes) < slopes.shape[1])
    singular_values = np.pad(singular_values, (0, len(rows) - len(singular_values)))
    min_singular_value = 1.0 / (MAX_STANDARD_ERROR * model.machine.parameters.mean_arm)
    is_shown = singular_values > min_singular_value
    unobservable = rows[~is_shown] @ gauge.basis.T
    prior = np.zeros((0, model.size))
    if tolerance is not None:
        prior = np.eye(legs, model.size) / tolerance
    # Directions are estimated that the data show, or a prior.
    prior_sizes = np.linalg.norm(prior @ gauge.basis @ rows.T, axis=0)
    basis = gauge.basis @ rows[is_shown | (prior_sizes > min_singular_value)].T
    prior = prior @ basis

    def values(y: FloatArray) -> FloatArray:
        return np.concatenate([residuals.values(basis @ y).ravel(), prior @ y])

    def jacobian(y: FloatArray) -> FloatArray:
        return np.concatenate([*(residuals.slopes(basis @ y) @ basis), prior])

    estimate = np.zeros(basis.shape[1])
    if len(estimate):
        estimate = least_squares(
            values,
            estimate,
            jacobian,
            x_scale="jac",
            ftol=SOLVER_TOLERANCE,
            xtol=SOLVER_TOLERANCE,
            gtol=SOLVER_TOLERANCE,
            max_nfev=MAX_SOLVER_STEPS,
            loss="soft_l1" if robust else "linear",
            f_scale=ROBUST_SCALE,
        ).x
    unknowns = basis @ estimate
    root = basis @ np.linalg.pinv(jacobian(estimate))
    squared_errors = (residuals.values(unknowns) ** 2).sum(axis=1)
    counts = np.isfinite(residuals.poses.values).sum(axis=1).astype(float)
    rank = int(is_shown.sum())
    degrees_of_freedom = max(float(counts.sum()) - rank, 0.0)
    ratio = float(squared_errors.sum()) / degrees_of_freedom if degrees_of_freedom else 1.0
    limit = chi2.ppf(CHI_SQUARED_QUANTILE, degrees_of_freedom) if degrees_of_freedom else np.inf
    noisy = bool(ratio * degrees_of_freedom > limit)
    covariance = root @ root.T * (ratio if noisy else 1.0)
    return Solution(
        unknowns,
        covariance,
        unobservable,
        singular_values,
        squared_errors,
        counts,
        rank,
        ratio,
        noisy,
    )


def observability(singular_values: FloatArray, poses: int) -> dict[str, float]:
    """Return the five indices of singular values `(q,)` [1/m], larger is better.

    Residuals are in standard deviations of their noise, unknowns in m at the machine's joints; so
    1 / O3 is the largest standard error [m] of any combination of unknowns.

    Args:
        singular_values: singular values that belong to directions which can be seen.
        poses: their number.
    """
    if not len(singular_values) or singular_values.min() <= 0.0:
        return dict.fromkeys(INDEX_MEANINGS, 0.0)
    smallest, largest = float(singular_values.min()), float(singular_values.max())
    mean = float(np.exp(np.log(singular_values).mean()) / np.sqrt(poses))
    values = (
        mean,
        smallest / largest,
        smallest,
        smallest**2 / largest,
        float(1.0 / (1.0 / singular_values).sum()),
    )
    return dict(zip(INDEX_MEANINGS, values, strict=True))
