"""Covariance of an estimate whose errors are correlated, and tests of what they look like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray

NEIGHBOURS = 3
"""Windows to each side whose errors may belong together."""

LAGS = 20
"""Samples over which errors are compared with themselves."""

CONFIDENCE = 0.95


def covariance(errors: Sequence[FloatArray], slopes: Sequence[FloatArray]) -> FloatArray:
    """Return the covariance `(p, p)` of parameters in spreads, each with a prior of one spread.

    Errors inside a window, and of neighbouring windows, may be correlated in any way:

        C = H^-1 (S + I) H^-1,   H = sum A' A + I,   S = W / (W - p) sum_w sum_k w_k g_w g_(w+k)'

    with the scores g = A' e of W windows and Bartlett's weights w_k. It is not below what white
    errors of size one would give.

    Args:
        errors: `(W, m)` of each recording, in standard deviations.
        slopes: `(W, m, p)` likewise.

    Reference:
        Newey and West, A simple, positive semi-definite, heteroskedasticity and autocorrelation
        consistent covariance matrix, Econometrica 55 (1987).
    """
    p = slopes[0].shape[2]
    information, meat, count = np.zeros((p, p)), np.zeros((p, p)), 0
    for error, slope in zip(errors, slopes, strict=True):
        scores = np.einsum("wmp,wm->wp", slope, error)
        information += np.einsum("wmp,wmq->pq", slope, slope, optimize=True)
        meat += scores.T @ scores
        count += len(scores)
        for lag in range(1, min(NEIGHBOURS + 1, len(scores))):
            across = scores[:-lag].T @ scores[lag:]
            meat += (1.0 - lag / (NEIGHBOURS + 1.0)) * (across + across.T)
    inverse = np.linalg.inv(information + np.eye(p))
    found = inverse @ (meat * count / max(1, count - p) + np.eye(p)) @ inverse
    size = np.sqrt(np.maximum(1.0, np.diag(inverse) / np.diag(found)))
    return np.asarray(0.5 * (found + found.T) * np.outer(size, size))


def half_width(windows: int) -> float:
    """Return half the width of the 95 % confidence interval in standard errors.

    Student's t with as many degrees of freedom as there are groups of windows that belong together.
    """
    from scipy.stats import t

    return float(t.ppf(0.5 + 0.5 * CONFIDENCE, max(1, windows // (NEIGHBOURS + 1))))


class Whiteness(NamedTuple):
    """Likeness of errors to white noise."""

    correlation: FloatArray
    """`(LAGS,)` of errors with those of 1, 2.. samples before"""
    bound: float
    """below which that of white noise is with 95 %"""
    probability: float
    """of white noise to be as correlated as this (Ljung and Box)"""


def whiteness(errors: FloatArray) -> Whiteness:
    """Return a whiteness test of errors `(k, samples)`, one row per window and leg.

    Reference:
        Ljung and Box, On a measure of lack of fit in time series models, Biometrika 65 (1978).
    """
    from scipy.stats import chi2

    count, power = errors.size, float((errors**2).mean())
    lags = range(1, min(LAGS, errors.shape[1] - 1) + 1)
    products = [float((errors[:, :-k] * errors[:, k:]).mean()) for k in lags]
    found = np.array(products) / max(power, 1e-300)
    statistic = count * float((found**2).sum())
    return Whiteness(found, 1.96 / np.sqrt(count), float(chi2.sf(statistic, len(found))))


def spectrum(errors: FloatArray, period: float) -> tuple[FloatArray, FloatArray]:
    """Return frequencies [Hz] and the mean amplitude density per root hertz of errors (k, samples).

    A Hann window takes the ends of each row off.
    """
    from scipy.signal import periodogram

    frequency, density = periodogram(errors, 1.0 / period, "hann", detrend=False, axis=1)
    # The mean and the highest frequency have half the density of the others.
    return frequency[1:-1], np.sqrt(density.mean(axis=0))[1:-1]
