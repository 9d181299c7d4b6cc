"""Curricula: the share by progress, and draws that reach as far."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused

import twin
from twin.machine.randomisation import Randomisation
from twin.training.environments import make_environments
from twin.training.settings import fraction_at, training_settings, widen

pytestmark = pytest.mark.quick

BALL, MASS = "twin/BallBalance-v0", "platform.body.mass"
SPREAD = {
    MASS: {"kind": "uniform", "low": 1.5, "high": 2.0, "relative": True},
    "task.start_radius": {"kind": "uniform", "low": 0.0, "high": 0.9},
}


def settings(points):
    """Return the curriculum of a training."""
    chosen = training_settings("ppo", {"curriculum": points}, environment=BALL, steps=1)
    return chosen.hyperparameters.curriculum


def test_shares_lie_on_the_lines_between_points():
    points = settings([[0.2, 0.1], [0.6, 0.9]])
    progress = (0.0, 0.2, 0.3, 0.6, 1.0)
    found = [fraction_at(points, each) for each in progress]
    assert_allclose(found, [0.1, 0.1, 0.3, 0.9, 0.9])
    assert fraction_at((), 0.0) == 1.0


def test_other_points_are_refused():
    for points in ([[0.5, 0.1], [0.5, 0.2]], [[0.0, 1.2]], [[0.1]]):
        with refused("curriculum"):
            settings(points)


def test_draws_go_their_share_of_the_way():
    """The same generator draws the same: a share of 0 is the machine of the file."""
    stewart = twin.load("stewart").parameters
    mass = stewart.platform.body.mass
    sampler = Randomisation({MASS: SPREAD[MASS]}).bound(stewart)
    whole, half, none = (
        sampler.sample(np.random.default_rng(3), share).parameters.platform.body.mass
        for share in (1.0, 0.5, 0.0)
    )
    assert whole > 1.49 * mass
    assert_allclose([half - mass, none], [0.5 * (whole - mass), mass], rtol=1e-12)


def test_episodes_to_come_are_widened():
    env = make_environments(BALL, 1, {"randomisation": SPREAD}, "next_step")
    usual = env.unwrapped.task.settings.start_radius
    found = {}
    for progress in (0.0, 0.5, 1.0):
        widen(env, ((0.0, 0.0), (1.0, 1.0)), progress)
        drawn = env.reset(seed=5)[1]["randomised"]
        found[progress] = [drawn[MASS][0], drawn["task.start_radius"][0]]
    assert found[0.0][1] == usual
    assert_allclose(found[0.5], np.mean([found[0.0], found[1.0]], axis=0))
    assert found[1.0][0] > 1.4 * found[0.0][0]
    env.close()
