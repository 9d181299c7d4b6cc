"""Delay, lag and play of a hidden machine whose legs are unloaded again and again."""

from types import SimpleNamespace

import numpy as np
import pytest
from recorded_motion import FAST, HIDDEN, moved, nominal, sines

from twin.identification.prediction.optimise import Search
from twin.identification.result.identify import identify

pytestmark = pytest.mark.quick


TRUTH = {**HIDDEN, "leg.drive.current_lag": 7e-4, "leg.drive.backlash": 6e-5}


@pytest.fixture(scope="module")
def log():
    """Return two seconds of the hidden machine."""
    machine = nominal()
    speeds = {"x": 0.05, "y": 0.05, "z": 0.01, "roll": 0.08, "pitch": 0.08, "yaw": 0.08}
    motion = sines(machine, {axis: speed * FAST for axis, speed in speeds.items()})
    log = moved(machine, TRUTH, motion, fidelity="fast")
    forces = log["forces"].values
    assert ((forces <= 0.0).mean(axis=0) > 0.1).sum() >= 3, "legs shall be unloaded"
    return log


@pytest.mark.slow
def test_impacts_in_the_play_spoil_neither_delay_nor_lag(log):
    """A prediction that begins on the wrong side of a play takes its impacts for a delay.

    The intervals hold and are narrow: delay and lag are found apart, not only their sum.
    """
    found = identify(nominal(), [log], list(TRUTH))
    error = dict(zip(TRUTH, np.abs(found.values - list(TRUTH.values())), strict=True))
    assert (np.array(list(error.values())) < found.margins * found.standard_errors).all()
    assert error["leg.drive.delay"] < 3e-5
    assert error["leg.drive.current_lag"] < 3e-5
    assert error["leg.drive.backlash"] < 1e-6
    # Counts at small speeds are not white.
    assert all("persist" in note for note in found.notes)
    assert found.standard_errors[-1] < 1e-6


def problem_of(best, path, width, slope=3.0):
    """Return a problem of two windows whose errors are least at `best`."""
    count = len(best)
    parameters = [
        SimpleNamespace(
            path=path, nominal=0.0, prior_std=1.0, lower=-2.0, upper=2.0, leg=None, unit=""
        )
        for _ in range(count)
    ]

    def errors(values):
        error = np.pad(slope * (values - best), [(0, 0)] * (values.ndim - 1) + [(0, width - count)])
        return np.stack([error, error], axis=-2)

    return SimpleNamespace(parameters=parameters, errors=errors, blocks=())


def test_a_pass_ends_where_errors_and_prior_are_least(subtests):
    """Errors count in root mean squares of those at the start: here both are the same number."""
    for start in [0.0, 2.0, -2.0]:
        with subtests.test(f"{start}"):
            problem = problem_of(np.array([1.5]), "", 1)
            problem.linearised = lambda values, steps: SimpleNamespace(
                slopes=np.full((2, 1, 1), 3.0)
            )
            search = Search([problem], robust=False, tick=lambda: None)
            weight = 2.0 * 9.0 / max(1.0, (3.0 * (start - 1.5)) ** 2)
            expected = 1.5 * weight / (weight + 1.0)
            assert search.minimised(np.array([start])) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("best", [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)])
def test_each_play_is_tried_alone_too(best, monkeypatch):
    """Two plays that are found one by one are not taken together where one of them is wrong."""
    problem = problem_of(np.array(best), "leg.1.drive.backlash", 100, 30.0)
    problem.machine = None
    problem.sign_reversals = lambda machine: np.ones((2, 6))
    problem.windows = SimpleNamespace(counted=1)
    # Half of the windows, which the scan takes, show the best values wrongly.
    wrong = problem_of(np.ones(2), "leg.1.drive.backlash", 100, 30.0)
    problem.part = lambda segments: SimpleNamespace(
        errors=lambda values: wrong.errors(values)[..., :1, :]
    )
    monkeypatch.setattr(
        "twin.identification.prediction.optimise.with_parameters", lambda *arguments: None
    )
    search = Search([problem], robust=False, tick=lambda: None)
    assert search.scan_backlash(np.zeros(2), 1.0) == pytest.approx(best)
