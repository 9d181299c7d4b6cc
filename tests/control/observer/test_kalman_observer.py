"""Laws of the Kalman observer: the Riccati equation, no bias, white innovation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within

from twin.control.observer.kalman_observer import (
    CovarianceError,
    KalmanObserver,
    discretise,
    disturbance_model,
    hardware,
    observer_poles,
    recursive_gains,
    steady_gains,
    thesis_code,
    thesis_text,
)

COUNT = 5.08e-3 / 4096
DESIGNS = {
    "text": thesis_text(np.full(6, 27.87), 3073.0),
    "text, first order": thesis_text(np.full(6, 27.87), 3073.0, method="first_order"),
    "code": thesis_code(6),
    "hardware": hardware(np.full(6, 27.87), COUNT, 5.0, force_noise=2.0),
    "hardware with armature": hardware(np.linspace(700.0, 800.0, 6), COUNT, 50.0),
    "cranks": hardware(np.full(6, 21.3), 2 * np.pi / 4096, 5.0, period=2e-3),
}
EXACT = [name for name in DESIGNS if name != "code"]


def start_covariance(design):
    start = np.zeros((len(design.measurement), 3, 3))
    start[:, 0, 0], start[:, 1, 1], start[:, 2, 2] = design.measurement, 1e-4, 1e6
    return start


@pytest.mark.parametrize("name", DESIGNS)
def test_recursion_settles_on_the_solution_of_the_riccati_equation(name):
    design = DESIGNS[name]
    steady, moving = steady_gains(design), recursive_gains(design, start_covariance(design))
    assert_allclose(moving.gain[-1], steady.gain[0], rtol=1e-8)
    size = np.sqrt(np.einsum("nii->ni", steady.covariance[0]))
    outer = size[:, :, None] * size[:, None, :]
    difference = (moving.covariance[-1] - steady.covariance[0]) / outer
    assert_within(difference, 0.0, 1e-7)


@pytest.mark.parametrize("name", DESIGNS)
def test_errors_decay(name):
    assert observer_poles(DESIGNS[name]).real.max() < -10.0


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("recursive", [False, True])
def test_constant_disturbance_is_found_without_bias(name, recursive):
    design = DESIGNS[name]
    observer = KalmanObserver(design, start_covariance(design) if recursive else None)
    model, n = design.model, len(design.measurement)
    rng = np.random.default_rng(4)
    truth = np.zeros((n, 3))
    truth[:, 2] = np.linspace(-300.0, 200.0, n)
    observer.start(truth[:, 0])
    for _ in range(3000):
        force = rng.normal(0.0, 100.0, n)
        moved = np.einsum("nij,nj->ni", model.transition, truth)
        truth = moved + model.input * force[:, None]
        observer.update(truth[:, 0], force)
    assert_within(observer.disturbance, truth[:, 2], 1e-6)
    assert_within(observer.rate, truth[:, 1], 1e-7)
    assert_within(observer.innovation, 0.0, 1e-9)


def test_innovation_on_the_own_model_is_white_and_as_large_as_told():
    design = hardware(np.full(50, 747.0), COUNT, 20.0, force_noise=5.0)
    observer, model = KalmanObserver(design), design.model
    rng = np.random.default_rng(1)
    n, steps, settle = 50, 4000, 400
    spread = np.linalg.cholesky(design.process[0] + np.diag([1e-30, 1e-30, 0.0]))
    truth, seen, errors = np.zeros((n, 3)), np.empty((steps, n)), np.empty((steps, n, 3))
    observer.start(truth[:, 0])
    for k in range(steps):
        truth = np.einsum("nij,nj->ni", model.transition, truth)
        truth += rng.normal(size=(n, 3)) @ spread.T
        position = truth[:, 0] + rng.normal(size=n) * np.sqrt(design.measurement)
        observer.update(position, np.zeros(n))
        seen[k], errors[k] = observer.innovation, observer.state - truth
    seen, errors = seen[settle:], errors[settle:]
    variance = float((seen**2).mean())
    steady = steady_gains(design)
    # G = P_pred C / S and P_k,k = (1 - G) P_pred: S = R / (1 - G) for the first entry.
    expected = design.measurement[0] / (1.0 - steady.gain[0, 0, 0])
    samples = seen.size
    assert variance == pytest.approx(expected, rel=5.0 * np.sqrt(2.0 / samples))
    for lag in (1, 2, 3, 10, 30):
        correlation = float((seen[lag:] * seen[:-lag]).mean()) / variance
        assert abs(correlation) < 5.0 / np.sqrt(samples)
    found = np.einsum("kni,knj->ij", errors, errors) / samples
    size = np.sqrt(np.diag(steady.covariance[0, 0]))
    assert_within(
        found / np.outer(size, size), steady.covariance[0, 0] / np.outer(size, size), 0.05
    )


def test_printed_friction_biases_the_disturbance_by_one_newton_per_speed():
    mass, period, speed = 27.87, 1e-3, 0.2
    right = DESIGNS["text"]
    printed = right._replace(
        model=discretise(disturbance_model(np.full(6, mass), 3073.0, printed=True), period)
    )
    found = {}
    for name, design in (("right", right), ("printed", printed)):
        observer = KalmanObserver(design)
        observer.start(np.zeros(6), np.full(6, speed), np.full(6, 50.0))
        for k in range(3000):
            observer.update(np.full(6, speed * (k + 1) * period), np.full(6, 50.0))
        found[name] = observer.disturbance[0]
    assert found["right"] == pytest.approx(50.0, abs=1e-6)
    assert found["printed"] - found["right"] == pytest.approx(-1.0 * speed, rel=1e-6)


def test_start_begins_where_it_is_told():
    observer = KalmanObserver(DESIGNS["hardware"])
    observer.update(np.full(6, 0.1), np.zeros(6))
    observer.start(np.full(6, 0.9), np.full(6, 0.01), np.full(6, 300.0))
    assert_array_equal(observer.state[0], [0.9, 0.01, 300.0])
    assert not observer.innovation.any()


def test_estimates_of_the_first_periods_follow_the_start_covariance():
    design = DESIGNS["hardware"]
    certain = np.zeros((6, 3, 3))
    observer = KalmanObserver(design, certain)
    observer.start(np.zeros(6))
    observer.update(np.full(6, 1e-3), np.zeros(6))
    assert not observer.state.any(), "a start that is certain is not corrected"


def test_small_covariances_that_cannot_be_are_refused(subtests):
    design = DESIGNS["hardware"]
    variance = design.measurement[0]
    for name, position_variance, covariance in [
        ("negative", -variance, 0.0),
        ("indefinite", 0.0, 1e-5 * np.sqrt(variance)),
    ]:
        start = start_covariance(design)
        start[:, 0, 0] = position_variance
        start[:, 0, 1] = start[:, 1, 0] = covariance
        with subtests.test(name), refused("eigenvalue"):
            KalmanObserver(design, start)


def test_what_cannot_work_is_refused():
    design = DESIGNS["hardware"]
    for bad in (np.zeros((6, 3)), np.full((6, 3, 3), np.nan), -np.tile(np.eye(3), (6, 1, 1))):
        with refused():
            KalmanObserver(design, bad)
    tilted = np.zeros((6, 3, 3))
    tilted[:, 0, 1] = 1.0
    with refused():
        KalmanObserver(design, tilted)
    observer = KalmanObserver(design)
    for position in (np.zeros(5), np.full(6, np.nan)):
        with refused():
            observer.start(position)
    with pytest.raises(CovarianceError):
        recursive_gains(design, start_covariance(design), max_periods=3)
    nothing = design._replace(process=np.zeros((6, 3, 3)))
    with pytest.raises(CovarianceError):
        KalmanObserver(nothing)
