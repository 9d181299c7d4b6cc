"""Covariance of an estimate whose errors are correlated, and tests for white noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray

NEIGHBOUR_WINDOWS = 3
"""Number of windows to each side whose errors may belong together."""

MAX_LAG = 20
"""[samples] Largest lag at which errors are compared with themselves."""

CONFIDENCE_LEVEL = 0.95

WHITENESS_LEVEL = 0.01
"""Probability below which errors are not called white."""


def covariance(
    errors: Sequence[FloatArray], slopes: Sequence[FloatArray], misfit: FloatArray | None = None
) -> FloatArray:
    """Return the covariance `(p, p)` of parameters that are scaled by their priors.

    Errors inside a window, and of neighbouring windows, may be correlated in any way:

        C = H^-1 H^-1 + sum_w sum_k b_k d_w d_(w+k)',   d_w = (H - A_w' A_w)^-1 A_w' e_w

    with H = sum A_w' A_w + I and Bartlett's weights b_k. d_w is what window w adds to an estimate
    from all the others. The double sum is that of squares of sums over neighbours, so no variance
    is negative. Variances are not below what white errors of size one would give. They are not
    above the prior's: a single window says nothing about its own errors.

    What a model misses may be the same in all windows, and the estimates may have taken up as much
    of it as they leave. With a size m_w of it in window w, that adds a standard deviation of
    sum_w m_w |A_w H^-1| to each parameter: the effects of all windows add up.

    Args:
        errors: `(W, m)` of each recording, in standard deviations.
        slopes: `(W, m, p)` of these errors by the scaled parameters.
        misfit: `(W,)` what the model misses in the windows of all recordings, as root of the sum of
            the squares of errors; None for nothing.

    Reference:
        Newey and West, A simple, positive semi-definite, heteroskedasticity and autocorrelation
        consistent covariance matrix, Econometrica 55 (1987). Bell and McCaffrey, Bias reduction in
        standard errors for linear regression with multi-stage samples, Survey Methodology 28
        (2002): the factor, that of leaving one window out.
    """
    squares, inverse = _information(slopes)
    information_without = _sums_of_others(np.concatenate(squares)) + np.eye(len(inverse))
    gradients = [
        np.einsum("wmp,wm->wp", *slopes_and_errors)
        for slopes_and_errors in zip(slopes, errors, strict=True)
    ]
    score_steps = np.linalg.solve(information_without, np.concatenate(gradients)[..., None])[..., 0]
    sandwich = inverse @ inverse
    for recording_steps in np.split(
        score_steps, np.cumsum([len(window_information) for window_information in squares])[:-1]
    ):
        window_sums = np.apply_along_axis(
            np.convolve, 0, recording_steps, np.ones(NEIGHBOUR_WINDOWS + 1)
        )
        sandwich += window_sums.T @ window_sums / (NEIGHBOUR_WINDOWS + 1)
    if misfit is not None:
        effects = np.concatenate(
            [np.linalg.norm(window_slopes @ inverse, axis=1) for window_slopes in slopes]
        )
        taken_up = misfit @ effects / np.sqrt(np.diag(inverse))
        sandwich += inverse * np.outer(taken_up, taken_up)
    variances = np.clip(np.diag(sandwich), np.diag(inverse), 1.0)
    size = np.sqrt(variances / np.diag(sandwich))
    return np.asarray(0.5 * (sandwich + sandwich.T) * np.outer(size, size))


def half_widths(slopes: Sequence[FloatArray]) -> FloatArray:
    """Return half the widths `(p,)` of the 95 % confidence intervals in standard errors.

    Student's t with Satterthwaite's degrees of freedom: groups of windows that belong together,
    each with the share v of a variance that it brings, count as (sum v)^2 / sum v^2.

    Args:
        slopes: `(W, m, p)` of each recording, in spreads.

    Reference:
        Imbens and Kolesar, Robust standard errors in small samples: some practical advice, Review
        of Economics and Statistics 98 (2016).
    """
    from scipy.stats import t

    squares, inverse = _information(slopes)
    contributions = []
    for square in squares:
        variance_parts = np.einsum("pq,wqr,rp->wp", inverse, square, inverse, optimize=True)
        contributions.append(
            np.add.reduceat(
                variance_parts, np.arange(0, len(variance_parts), NEIGHBOUR_WINDOWS + 1)
            )
        )
    stacked = np.vstack(contributions)
    degrees_of_freedom = stacked.sum(axis=0) ** 2 / np.maximum((stacked**2).sum(axis=0), 1e-300)
    return np.asarray(t.ppf(0.5 + 0.5 * CONFIDENCE_LEVEL, np.maximum(1.0, degrees_of_freedom)))


def _information(slopes: Sequence[FloatArray]) -> tuple[list[FloatArray], FloatArray]:
    """Return A' A `(W, p, p)` of the windows, and the inverse `(p, p)` of sum and prior."""
    squares = [
        np.einsum("wmp,wmq->wpq", window_slopes, window_slopes, optimize=True)
        for window_slopes in slopes
    ]
    sum_of_windows = np.sum([information.sum(axis=0) for information in squares], axis=0)
    eigenvalues, directions = np.linalg.eigh(sum_of_windows)
    return squares, (directions / np.maximum(eigenvalues + 1.0, 1.0)) @ directions.T


def _sums_of_others(squares: FloatArray) -> FloatArray:
    """Return for each of `(W, p, p)` the sum of all others, without cancellation error."""
    zero = np.zeros_like(squares[:1])
    sum_before = np.concatenate([zero, np.cumsum(squares[:-1], axis=0)])
    sum_after = np.concatenate([np.cumsum(squares[:0:-1], axis=0)[::-1], zero])
    return np.asarray(sum_before + sum_after)


class Whiteness(NamedTuple):
    """Likeness of errors to white noise."""

    correlation: FloatArray
    """`(MAX_LAG,)` correlation of errors with those of 1, 2, ... samples before"""
    bound: float
    """bound on the correlation of white noise at 95 % probability"""
    persistence: float
    """root mean square of the means of windows, over that of noise of the same size: above one
    where errors stay on one side"""
    probability: float
    """probability of noise to be as persistent as this"""
    misfit: FloatArray
    """`(W,)` root of the squares of errors that the means of each window have beyond noise"""

    @property
    def is_white(self) -> bool:
        """Whether the errors may be noise."""
        return self.probability >= WHITENESS_LEVEL


def whiteness(errors: FloatArray, noise_ratio: float) -> Whiteness:
    """Return a test of errors `(W, samples, n)` in windows for what a model misses.

    What a model misses lasts longer than a sample, and shows in the means of windows. Windows with
    larger noise have larger means as well: the test is whether means are beyond those of the noise
    of their own window, by Student's ratio over windows.

    Args:
        errors: of predictions.
        noise_ratio: mean square of the mean of a window, over that of samples divided by their
            number, of white noise of the sensors; one for white errors.

    Reference:
        Lo and MacKinlay, Stock market prices do not follow random walks: evidence from a simple
        specification test, Review of Financial Studies 1 (1988): ratios of variances.
    """
    from scipy.stats import norm

    power = max(float((errors**2).mean()), 1e-300)
    lags = range(1, min(MAX_LAG, errors.shape[1] - 1) + 1)
    products = [float((errors[:, :-k] * errors[:, k:]).mean()) for k in lags]
    of_means = errors.shape[1] * errors.mean(axis=1) ** 2
    excess = (of_means - noise_ratio * (errors**2).mean(axis=1)).sum(axis=1)
    return Whiteness(
        np.array(products) / power,
        1.96 / np.sqrt(errors.size),
        float(np.sqrt(of_means.mean() / (noise_ratio * power))),
        float(norm.sf(excess.sum() / max(float(np.linalg.norm(excess)), 1e-300))),
        np.sqrt(np.maximum(excess, 0.0)),
    )


def spectrum(errors: FloatArray, period: float) -> tuple[FloatArray, FloatArray]:
    """Return frequencies [Hz] and mean amplitude density per root hertz of errors `(k, samples)`.

    A Hann window takes the ends of each row off.
    """
    from scipy.signal import periodogram

    frequency, density = periodogram(errors, 1.0 / period, "hann", detrend=False, axis=1)
    # The mean and the highest frequency have half the density of the others.
    return frequency[1:-1], np.sqrt(density.mean(axis=0))[1:-1]
