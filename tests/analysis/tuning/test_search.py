"""The search for parameters inside bounds."""

import numpy as np
from numpy.testing import assert_array_equal
from refusals import assert_all_refused, refused

from twin.analysis.tuning.tuning import VELOCITY_STEP, search_bounds
from twin.papers.stewart_thesis import velocity_step_response

TIME = np.linspace(0.0, 0.05, 501)


def respond(values):
    """Return the response of one mass with the thesis' unknown weight."""
    return velocity_step_response(TIME, 33.5, values[0], values[1], weight=308.0)


def violate(response):
    """Return violations of the thesis' bounds."""
    return VELOCITY_STEP.violations(TIME, response)


LOW, HIGH, START = (5e3, 1e-3), (30e3, 8e-3), (5e3, 5e-3)


def test_reaches_the_specification_of_the_thesis():
    seen = []
    found = search_bounds(respond, violate, START, LOW, HIGH, watch=seen.append)
    assert found.met
    assert found.best.violation <= 0.0
    assert len(found.trials) <= 8
    assert tuple(seen) == found.trials
    violations = [trial.violation for trial in found.trials]
    assert violations == sorted(violations, reverse=True)
    for trial in found.trials:
        assert_array_equal(trial.response, respond(trial.parameters))
        assert (trial.parameters >= np.array(LOW) * (1.0 - 1e-12)).all()
        assert (trial.parameters <= np.array(HIGH) * (1.0 + 1e-12)).all()


def test_says_why_it_ends_without_an_answer():
    impossible = search_bounds(respond, lambda y: violate(y) + 1.0, START, LOW, HIGH)
    assert not impossible.met
    assert "better" in impossible.reason


def test_avoids_places_without_a_response():
    def cliff(values):
        return np.full(3, np.inf) if values[0] > 5.0 else values[:1] * np.ones(3)

    found = search_bounds(cliff, lambda y: np.abs(y - 4.8) - 0.1, [1.0], [0.5], [50.0])
    assert found.met
    assert 4.7 <= found.best.parameters[0] <= 4.9


def test_bounds_are_checked():
    assert_all_refused(
        lambda start, low, high: search_bounds(respond, violate, start, low, high),
        [
            ((1.0,), LOW, HIGH, None),
            ((1e3, 5e-3), LOW, HIGH, None),
            (START, HIGH, LOW, None),
            (START, (0.0, 1e-3), HIGH, None),
            ((np.nan, 1.0), LOW, HIGH, None),
        ],
    )


def test_a_start_without_a_response_is_refused():
    with refused("unstable"):
        search_bounds(lambda v: np.full(3, np.inf), lambda y: y, [1.0], [0.5], [2.0])
