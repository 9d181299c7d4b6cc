"""Last steps of a search on errors that are linear but for jumps."""

from types import SimpleNamespace

import numpy as np
import pytest
from tolerance import max_abs

import twin
from twin.identification.parameters import select
from twin.identification.prediction.optimise import (
    Search,
    projected_jacobian,
    refine,
)
from twin.identification.result.identification import backlash_warning, unsettled

pytestmark = pytest.mark.quick

WINDOWS, ERRORS, COUNT = 40, 600, 3
OFFSET = np.array([0.02, -0.01, 0.01])


class Jumping:
    """Errors of windows with noise; beyond a value, one window jumps."""

    blocks = ()

    def __init__(self, height):
        rng = np.random.default_rng(3)
        self.parameters = [
            SimpleNamespace(path="", nominal=0.0, prior_std=1.0, lower=-5.0, upper=5.0)
            for _ in range(COUNT)
        ]
        self.slopes = 3.0 * rng.normal(size=(WINDOWS, ERRORS, COUNT))
        self.truth = np.array([0.3, -0.2, 0.1])
        self.noise = rng.normal(size=(WINDOWS, ERRORS))
        # Along what the first parameter changes: where a jump does most harm.
        along = self.slopes[0, :, 0]
        self.jump = height * along / np.linalg.norm(along)

    def errors(self, values):
        """Return the errors of all windows."""
        found = self.slopes @ (values - self.truth) + self.noise
        found[0] += self.jump * (values[0] > self.truth[0] - 1e-3)
        return np.asarray(found)

    def extrapolated_errors(self, values, factor):
        """Return the errors: they have no step."""
        return self.errors(values)

    def differences(self, values, steps):
        """Return errors, steps, and changes by them."""
        errors = self.errors(values)
        return errors, steps, np.array([self.errors(values + step) - errors for step in steps])


def found(problem, start):
    """Return the estimate and its slopes, from the information without jumps."""
    rows = problem.slopes.reshape(-1, COUNT)
    search = Search([problem], robust=False, tick=lambda: None)
    search.information = rows.T @ rows + np.eye(COUNT)
    return refine(search, start), search.information


def test_an_event_that_comes_or_goes_says_nothing():
    """The estimate is that of all errors but those along the jump, in closed form."""
    problem = Jumping(height=12.0)
    solution, _ = found(problem, problem.truth + OFFSET)
    slopes, noise = problem.slopes.copy(), problem.noise.copy()
    direction = problem.jump / np.linalg.norm(problem.jump)
    noise[0] -= direction * (direction @ noise[0])
    slopes[0] -= np.outer(direction, direction @ slopes[0])
    size = np.sqrt(np.maximum(1.0, (noise**2).mean(axis=1)))[:, None]
    rows, errors = (slopes / size[..., None]).reshape(-1, COUNT), (noise / size).ravel()
    matrix = rows.T @ rows + np.eye(COUNT)
    expected = np.linalg.solve(matrix, rows.T @ (rows @ problem.truth - errors))
    spread = 1.0 / np.sqrt(np.diag(matrix))
    assert (np.abs(solution.values - expected) < 0.1 * spread).all()
    assert (np.abs(solution.slopes[0][0].T @ direction) < 1e-9 * max_abs(slopes)).all()


def test_smooth_errors_stay_whole():
    """Without jumps slopes are those of the errors, and the estimate is that of least squares."""
    problem = Jumping(height=0.0)
    start = problem.truth + OFFSET
    solution, information = found(problem, start)
    kept = projected_jacobian(problem, start, 0.01 * np.eye(COUNT))
    size = np.sqrt(np.maximum(1.0, (problem.errors(start) ** 2).mean(axis=1)))[:, None, None]
    assert np.allclose(kept.slopes, problem.slopes / size)
    z = (solution.values - problem.truth) * np.sqrt(np.diag(information))
    assert (np.abs(z) < 3.0).all()
    assert solution.last_step < 0.3


def test_a_search_that_ends_on_its_way_says_so(monkeypatch):
    """One step from ten standard errors away is as long as that."""
    monkeypatch.setattr("twin.identification.prediction.optimise.MAX_FINAL_STEPS", 1)
    monkeypatch.setattr("twin.identification.prediction.optimise.STEP_FACTORS", (2,))
    problem = Jumping(height=0.0)
    solution, information = found(problem, problem.truth + OFFSET)
    error = solution.values - problem.truth - OFFSET
    assert solution.last_step == pytest.approx(
        np.sqrt(error @ information @ error / COUNT), rel=0.05
    )
    assert len(unsettled(solution.last_step)) == 1
    assert unsettled(0.9) == []


def test_plays_are_unsure_after_few_impacts_and_where_the_search_has_not_ended():
    machine = twin.load("stewart", configuration="hardware")
    parameters = select(machine, "drives,payload")
    plays = [each for each in parameters if each.path.endswith("backlash")]
    assert 0 < len(plays) < len(parameters)
    many, few = np.full(6, 50.0), np.zeros(6)
    for each in parameters:
        play = each in plays
        assert backlash_warning(each, many, 0.9) == ""
        assert ("few impacts" in backlash_warning(each, few, 0.9)) == play
        assert ("search has not converged" in backlash_warning(each, many, 1.1)) == play
