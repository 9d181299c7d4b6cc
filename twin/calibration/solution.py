"""Least-squares estimate of unknowns, with its covariance and what the data do not show."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import chi2

from twin.basics.arrays import FloatArray
from twin.calibration.gauge import Gauge
from twin.calibration.measurement_model import FRAME_UNKNOWNS
from twin.calibration.residuals import Residuals

UNSEEN = 0.01
"""Standard error, per mean arm of the platform, beyond which the data say nothing."""

EXACT = 1e-12
"""Relative change of cost, unknowns and gradient at which the search ends."""

MOST_STEPS = 100

ROBUST_SCALE = 2.0
"""Residual in standard deviations from which a robust fit counts it linearly."""

UNLIKELY = 0.999
"""Quantile of chi squared above which residuals are larger than the stated noise explains."""

RARE = 1e-5
"""Probability by chance of a pose as far off as one that counts as wrong."""


class Solution(NamedTuple):
    """Estimate of the unknowns `(u,)` of a model."""

    unknowns: FloatArray
    covariance: FloatArray
    """`(u, u)`; zero along directions that are held; raised where residuals are"""
    unseen: FloatArray
    """`(s, u)` orthonormal directions that the data do not show"""
    sizes: FloatArray
    """`(q,)` singular values of the residuals by all unknowns that can be seen at all [1/m]"""
    squares: FloatArray
    """`(m,)` sum of squared residuals of each pose"""
    counts: FloatArray
    """`(m,)` residuals of each pose"""
    rank: int
    """directions that are estimated from the data"""

    ratio: float
    """sum of squares per degree of freedom: 1 where noise is as stated and nothing else"""
    noisy: bool
    """whether the ratio is larger than by chance; the covariance is raised by it then"""

    @property
    def wrong(self) -> Any:
        """Whether the residuals of each pose are too large `(m,)`.

        Too large for the stated noise, and for the median of all poses if that is larger.
        """
        usual = chi2.ppf(0.5, np.maximum(self.counts, 1.0))
        size = max(1.0, float(np.median(self.squares / usual)))
        return self.squares > size * chi2.ppf(1.0 - RARE, np.maximum(self.counts, 1.0))


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
    model, start = residuals.model, np.zeros(residuals.model.size)
    legs = model.size - FRAME_UNKNOWNS
    slopes = residuals.slopes(start).reshape(-1, model.size) @ gauge.basis
    _, sizes, rows = np.linalg.svd(slopes, full_matrices=len(slopes) < slopes.shape[1])
    sizes = np.pad(sizes, (0, len(rows) - len(sizes)))
    least = 1.0 / (UNSEEN * model.machine.parameters.mean_arm)
    unseen, basis = rows[sizes <= least] @ gauge.basis.T, gauge.basis
    prior = np.zeros((0, model.size))
    if tolerance is not None:
        prior = np.eye(legs, model.size) / tolerance
    basis = gauge.basis @ rows[_kept(sizes, least, rows, prior @ gauge.basis)].T
    prior = prior @ basis

    def values(y: FloatArray) -> FloatArray:
        return np.concatenate([residuals.values(basis @ y).ravel(), prior @ y])

    def jacobian(y: FloatArray) -> FloatArray:
        return np.concatenate([*(residuals.slopes(basis @ y) @ basis), prior])

    best = np.zeros(basis.shape[1])
    if len(best):
        best = least_squares(
            values,
            best,
            jacobian,
            x_scale="jac",
            ftol=EXACT,
            xtol=EXACT,
            gtol=EXACT,
            max_nfev=MOST_STEPS,
            loss="soft_l1" if robust else "linear",
            f_scale=ROBUST_SCALE,
        ).x
    unknowns = basis @ best
    root = basis @ np.linalg.pinv(jacobian(best))
    squares = (residuals.values(unknowns) ** 2).sum(axis=1)
    counts = np.isfinite(residuals.poses.values).sum(axis=1).astype(float)
    rank = int((sizes > least).sum())
    freedom = max(float(counts.sum()) - rank, 0.0)
    ratio = float(squares.sum()) / freedom if freedom else 1.0
    noisy = freedom > 0.0 and ratio * freedom > chi2.ppf(UNLIKELY, freedom)
    covariance = root @ root.T * (ratio if noisy else 1.0)
    return Solution(unknowns, covariance, unseen, sizes, squares, counts, rank, ratio, bool(noisy))


def _kept(sizes: FloatArray, least: float, rows: FloatArray, prior: FloatArray) -> Any:
    """Return which directions `rows` are estimated: shown by the data, or by a prior."""
    return (sizes > least) | (np.linalg.norm(prior @ rows.T, axis=0) > least)
