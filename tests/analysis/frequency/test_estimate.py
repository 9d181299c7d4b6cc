"""Estimators against known filters: they recover a response that is known beforehand."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import assert_all_refused, refused
from scipy import signal
from tolerance import assert_within, max_abs

from twin.analysis.frequency.response import (
    LEAD_IN,
    MIN_COHERENCE,
    SteppedSine,
    SweptSine,
    burst_response,
    joined,
    sine_response,
    sweep_response,
)

PERIOD = 1e-3
FILTERS = {
    "resonance": signal.iirpeak(120.0, 6.0, fs=1.0 / PERIOD),
    "low pass": signal.butter(3, 150.0, fs=1.0 / PERIOD),
    "delay": (np.array([0.0, 0.0, 0.0, 1.0]), np.array([1.0])),
}


def exact(name, frequency):
    """Return the known response at frequencies [Hz]."""
    return signal.freqz(*FILTERS[name], worN=frequency, fs=1.0 / PERIOD)[1]


def swept(length=12.0):
    excitation = SweptSine(5.0, 400.0, 1.0, length)
    time = np.arange(round(excitation.duration / PERIOD)) * PERIOD
    return excitation.sample(time)[1]


def test_sweep_recovers_a_known_filter(subtests):
    for name in FILTERS:
        with subtests.test(f"{name}"):
            given = swept()
            received = signal.lfilter(*FILTERS[name], given)
            found = sweep_response(given, received, PERIOD, window=1.0, low=20.0, high=300.0)
            true = exact(name, found.frequency)
            error = max_abs(found.gain - true) / max_abs(true)
            # Leakage: what a window does not see of the response, which rings for Q / pi f.
            assert error < (0.04 if name == "resonance" else 0.01), error
            assert found.coherence.min() > 0.98


def test_stepped_sines_recover_a_known_filter(subtests):
    for name in FILTERS:
        with subtests.test(f"{name}"):
            lines = np.array([10.0, 37.0, 90.0, 120.0, 220.0, 350.0])
            excitation = SteppedSine(lines, 1.0)
            time = np.arange(round(excitation.duration / PERIOD) + 1) * PERIOD
            given = excitation.sample(time)[0]
            received = signal.lfilter(*FILTERS[name], given)
            parts = []
            for frequency, begin, end in excitation.dwells():
                rows = slice(round(np.ceil(begin / PERIOD)), round(np.floor(end / PERIOD)))
                parts.append(sine_response(given[rows], received[rows], PERIOD, frequency))
            found = joined(parts)
            assert_array_equal(found.frequency, lines)
            # The resonance has decayed to exp(-6) where the evaluation begins.
            assert_within(found.gain, exact(name, lines), 1e-3)


def test_whole_records_have_no_leakage(subtests):
    for name in FILTERS:
        with subtests.test(f"{name}"):
            given = np.concatenate([swept(4.0), np.zeros(1000)])
            received = signal.lfilter(*FILTERS[name], given)
            found = burst_response(given, received, PERIOD, low=10.0, high=350.0)
            assert_within(found.gain, exact(name, found.frequency), 1e-9)


def test_noise_lowers_coherence_and_the_deviation_tells_the_error():
    given, random = swept(20.0), np.random.default_rng(1)
    clean = signal.lfilter(*FILTERS["low pass"], given)
    found = sweep_response(
        given,
        clean + random.normal(0.0, 0.1, len(given)),
        PERIOD,
        window=0.5,
        low=10.0,
        high=120.0,
    )
    error = np.abs(found.gain / exact("low pass", found.frequency) - 1.0)
    assert found.coherence.mean() < 0.9995
    # The complex error is sqrt(2) times that of the magnitude; its mean square must be like it.
    ratio = np.sqrt(np.mean(error**2) / np.mean(2.0 * found.deviation**2))
    assert 0.5 < ratio < 2.0, ratio


def test_the_deviation_of_a_burst_tells_the_error():
    given, random = np.concatenate([swept(4.0), np.zeros(1000)]), np.random.default_rng(4)
    clean, squares = signal.lfilter(*FILTERS["low pass"], given), []
    for _ in range(20):
        noisy = clean + random.normal(0.0, 0.1, len(given))
        found = burst_response(given, noisy, PERIOD, low=10.0, high=120.0)
        error = np.abs(found.gain / exact("low pass", found.frequency) - 1.0)
        squares.append((np.mean(error**2), np.mean(2.0 * found.deviation**2)))
    measured, stated = np.mean(squares, axis=0)
    assert 0.85 < np.sqrt(measured / stated) < 1.15


def test_an_output_that_has_nothing_to_do_with_the_input_has_no_coherence():
    given = swept()
    noise = np.random.default_rng(2).normal(size=len(given))
    found = sweep_response(given, noise, PERIOD, window=0.5, low=10.0, high=350.0)
    assert np.mean(found.coherence >= MIN_COHERENCE) < 0.1
    still = sweep_response(given, np.zeros_like(given), PERIOD, window=0.5, low=10.0, high=350.0)
    assert (still.coherence == 0.0).all()
    assert np.isinf(still.deviation).all()


def test_harmonics_of_lower_frequencies_do_not_hide_the_response():
    """A cubic law behind a low pass H: H (1 + 3/4 |H|^2) at a frequency, its cube at the third.

    Far beyond the corner the third harmonics of a sweep's lower frequencies are much larger than
    its response at theirs.
    """
    b, a = signal.butter(3, 30.0, fs=1.0 / PERIOD)
    given = swept()
    passed = signal.lfilter(b, a, given)
    found = sweep_response(given, passed + passed**3, PERIOD, window=0.5, low=20.0, high=300.0)
    filtered = signal.freqz(b, a, worN=found.frequency, fs=1.0 / PERIOD)[1]
    true = filtered * (1.0 + 0.75 * np.abs(filtered) ** 2)
    assert found.coherence.min() > 0.95
    # Leakage of the steepest part, where a window sees 60 dB a decade.
    assert_within(found.gain / true, 1.0, 0.05)


def test_stepped_setpoint_goes_on_without_a_jump():
    excitation = SteppedSine([5.0, 8.0, 50.0], 0.01)
    time = np.linspace(LEAD_IN, excitation.duration, 40001)
    value, rate, _ = excitation.sample(time)
    assert max_abs(np.diff(value)) < 0.011 * (time[1] - time[0])
    assert max_abs(rate) <= 0.01 * (1.0 + 1e-12)
    assert max_abs(np.diff(rate)) < 1.1 * 0.01 * 2.0 * np.pi * 50.0 * (time[1] - time[0])


@pytest.mark.parametrize(
    "make", [lambda: SweptSine(2.0, 80.0, 0.1, 3.0), lambda: SteppedSine([3.0, 40.0], 0.1)]
)
def test_derivatives_of_excitations(make):
    excitation = make()
    time, step = np.linspace(0.35, 1.0, 57), 1e-6
    _, rate, change = excitation.sample(time)
    ahead, behind = excitation.sample(time + step), excitation.sample(time - step)
    assert_within(rate, (ahead[0] - behind[0]) / (2 * step), 1e-6)
    assert_within(change, (ahead[1] - behind[1]) / (2 * step), 1e-3)
    assert max_abs(excitation.sample(np.array([0.0, 0.1]))) == 0.0


def test_records_and_settings_are_checked():
    record, given = np.zeros(100), swept(2.0)
    short = {"window": 0.05, "low": 30.0, "high": 100.0}
    usual = {"window": 0.5, "low": 10.0, "high": 300.0}
    assert_all_refused(
        lambda one, two, settings: sweep_response(one, two, PERIOD, **settings),
        [
            (given, given, usual | {"window": 100.0}, "window"),
            (given, given, usual | {"low": 300.0, "high": 200.0}, "low, high"),
            (record, np.zeros(99), short, "input_signal, output_signal"),
            (record, np.ones(100), short, "nothing"),
        ],
    )
    with refused("frequency"):
        sine_response(np.ones(100), np.ones(100), PERIOD, 600.0)
    with refused():
        SteppedSine([3.0, 2.0], 0.1)
    with refused():
        SweptSine(3.0, 2.0, 0.1, 1.0)
