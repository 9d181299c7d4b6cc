"""Covariances against what repeated data show, and tests of whiteness."""

import numpy as np
import pytest
from tolerance import assert_within

from twin.identification.result.statistics import covariance, half_widths, spectrum, whiteness

pytestmark = pytest.mark.quick

WINDOWS, SAMPLES = 60, 40


def coloured(random, keep):
    """Return errors of unit variance, correlated inside each window and with the next one."""
    white = random.normal(size=WINDOWS * SAMPLES)
    found = np.empty_like(white)
    found[0] = white[0]
    for k in range(1, len(white)):
        found[k] = keep * found[k - 1] + np.sqrt(1.0 - keep**2) * white[k]
    return found.reshape(WINDOWS, SAMPLES)


@pytest.mark.parametrize("keep", [0.0, 0.9])
def test_covariance_is_what_repeated_data_show(keep):
    """White errors or not; the usual inverse of A' A is four times too small at 0.9."""
    random = np.random.default_rng(3)
    time = np.linspace(0.0, 30.0, WINDOWS * SAMPLES)
    slopes = np.stack([np.sin(time), np.cos(0.7 * time), np.ones_like(time)], axis=1)
    inverse = np.linalg.inv(slopes.T @ slopes + np.eye(3))
    shaped = slopes.reshape(WINDOWS, SAMPLES, 3)
    estimates, expected = [], []
    for _ in range(300):
        errors = coloured(random, keep)
        estimates.append(inverse @ (slopes.T @ errors.ravel()))
        left = errors - (shaped @ estimates[-1])
        expected.append(np.sqrt(np.diag(covariance([left], [shaped]))))
    spread = np.std(estimates, axis=0)
    assert np.median(expected, axis=0) == pytest.approx(spread, rel=0.25)
    inside = np.abs(estimates) < half_widths([shaped]) * np.array(expected)
    assert (inside.mean(axis=0) > 0.90).all()


def test_a_number_that_few_windows_show_has_wide_intervals():
    """The first shows in two windows far apart: Student's t with two degrees of freedom."""
    random = np.random.default_rng(4)
    slopes = random.normal(size=(WINDOWS, SAMPLES, 2))
    slopes[:, :, 0] *= np.isin(np.arange(WINDOWS), (7, 41))[:, None]
    few, many = half_widths([slopes])
    assert few == pytest.approx(4.303, rel=0.1)
    assert many == pytest.approx(2.131, rel=0.05)  # fifteen groups of four
    inverse = np.linalg.inv(np.einsum("wmp,wmq->pq", slopes, slopes) + np.eye(2))
    inside = []
    for _ in range(400):
        errors = 2.0 * random.normal(size=WINDOWS)[:, None] * slopes[:, :, 0]
        estimate = inverse @ np.einsum("wmp,wm->p", slopes, errors)
        left = errors - slopes @ estimate
        error = np.sqrt(covariance([left], [slopes])[0, 0])
        inside.append(abs(estimate[0]) < few * error)
    assert np.mean(inside) > 0.92


@pytest.mark.parametrize("windows", [1, 2])
def test_few_windows_are_not_worse_than_the_prior(windows):
    """A fit of its own window tells nothing of the error that it leaves."""
    random = np.random.default_rng(6)
    slopes = random.normal(size=(windows, SAMPLES, 3)) * [30.0, 1.0, 0.01]
    errors = 50.0 + random.normal(size=(windows, SAMPLES))
    found = np.diag(covariance([errors], [slopes]))
    white = np.linalg.inv(np.einsum("wmp,wmq->pq", slopes, slopes) + np.eye(3))
    assert (found <= 1.0 + 1e-12).all()
    assert (found >= (1.0 - 1e-9) * np.diag(white)).all()


def test_variances_are_numbers_however_much_one_window_shows():
    """Windows, parameters and errors that differ by up to twelve orders of magnitude."""
    for seed in range(120):
        random = np.random.default_rng(seed)
        windows, count = random.integers(1, 4), random.integers(2, 6)
        slopes = random.normal(size=(windows, 20, count)) * 10 ** random.uniform(-3, 9, count)
        errors = 10 ** random.uniform(0, 8) * random.normal(size=(windows, 20))
        variances = np.diag(covariance([errors], [slopes]))
        assert ((variances > 0.0) & (variances <= 1.0 + 1e-9)).all(), seed
        assert np.isfinite(half_widths([slopes])).all(), seed


def test_whiteness_tells_white_noise_from_coloured():
    random = np.random.default_rng(5)
    white, tinted = (
        whiteness(np.stack([coloured(random, keep) for _ in range(6)], axis=2), 1.0)
        for keep in (0.0, 0.3)
    )
    assert white.probability > 0.01
    assert tinted.probability < 1e-4
    assert tinted.persistence > 1.2
    assert_within(tinted.correlation[0], 0.3, 0.05)


def test_noise_of_different_size_is_white():
    """As of clocks that jitter, where the machine moves fast."""
    random = np.random.default_rng(7)
    size = 10.0 ** random.uniform(-1.0, 1.0, (WINDOWS, 1, 1))
    found = whiteness(size * random.normal(size=(WINDOWS, SAMPLES, 6)), 1.0)
    assert found.is_white


def test_intervals_hold_where_the_model_misses_the_same_in_all_windows():
    """What is missed looks partly like a parameter, and no window tells them apart."""
    random = np.random.default_rng(8)
    x, y = random.choice([-1.5, -0.5, 0.5, 1.5], size=(2, WINDOWS, 1))
    slopes = np.stack([x, y], axis=2) * np.ones((1, SAMPLES, 1))
    errors = random.normal(size=(WINDOWS, SAMPLES)) + x + y + x * y
    inverse = np.linalg.inv(np.einsum("wmp,wmq->pq", slopes, slopes) + np.eye(2))
    estimate = inverse @ np.einsum("wmp,wm->p", slopes, errors)
    left = errors - slopes @ estimate
    found = whiteness(left[:, :, None], 1.0)
    assert not found.is_white
    narrow, wide = (
        np.sqrt(np.diag(covariance([left], [slopes], misfit))) for misfit in (None, found.misfit)
    )
    assert (np.abs(estimate) > 3.0 * narrow).all()
    assert (np.abs(estimate) < 2.0 * wide).all()


def test_spectrum_of_white_noise_is_flat():
    """Variance per sampling rate to both sides, so twice that below half of it."""
    errors = np.random.default_rng(1).normal(0.0, 2.0, (4000, 64))
    frequency, density = spectrum(errors, 1e-3)
    assert density == pytest.approx(np.full(len(frequency), 2.0 * np.sqrt(2e-3)), rel=0.05)
