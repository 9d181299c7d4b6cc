"""Random search: it learns, repeats itself, and leaves what a training promises."""

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.training import Policy, train
from twin.training.environments import make_environments
from twin.training.learning_curve import LearningCurve
from twin.training.policy import Residual
from twin.training.random_search import CONSTANT_DIRECTION, RandomSearch, shared_directions
from twin.training.settings import SearchSettings, linear_gains

pytest.importorskip("matplotlib")
from stand_in import Points, distance_under
from widening import BALL, CURRICULUM, OPTIONS, check, watched

pytestmark = pytest.mark.quick

POINTS = "stand_in:stand_in/Points-v0"
QUICK = {"deviation": 0.1, "rate": 0.2, "final_rate": 0.05, "episodes": 2}


def short(folder, steps=12_000, **options):
    """Search for a moment."""
    chosen = {"hyperparameters": QUICK, "envs": 32, "progress": False, **options}
    return train(POINTS, folder, steps=steps, algorithm="ars", **chosen)


def test_it_learns_and_repeats_itself(tmp_path):
    rows = []
    options = {"options": {"wind": 0.3}, "callback": rows.append}
    first, second = (short(tmp_path / name, **options).policy for name in "ab")
    steps = pandas.read_csv(tmp_path / "a" / "learning.csv")["steps"]
    assert [row["steps"] for row in rows] == [*steps, *steps]
    assert rows[0]["return 50 %"] < 1.5 * rows[-1]["return 50 %"] < 0.0
    assert_array_equal(first.weights[0], second.weights[0])
    assert distance_under(first) < 0.3 * distance_under(lambda seen: np.zeros((64, 1)))
    loaded = Policy.load(tmp_path / "a" / "policy.npz")
    assert loaded.origin.algorithm == "ars" and loaded.origin.steps >= 12_000
    assert loaded.options == {"wind": 0.3}
    assert {"learning.csv", "learning.png", "config.json"} <= {
        path.name for path in (tmp_path / "a").iterdir()
    }


@pytest.mark.parametrize("layers", [(), (7, 5)])
def test_candidates_act_as_the_policy_does(layers):
    """Every candidate acts in its own rows, with its own numbers, on the law beneath."""
    env = Points(12)
    env.spec = type("Spec", (), {"id": POINTS})()
    law = Residual(np.array([[-0.5, 0.1]]), 0.3)
    search = RandomSearch(env, SearchSettings(episodes=2, layers=layers), 0, law, ())
    search.mean, search.scale = np.array([0.1, -0.2]), np.array([0.5, 2.0])
    candidates = np.random.default_rng(3).normal(size=(6, search.center.size))
    seen = np.random.default_rng(4).normal(size=(12, 2))
    actions = search.candidate_actions(list(search.candidate_layers(candidates)), seen)
    for k, candidate in enumerate(candidates):
        search.center = candidate
        rows = slice(2 * k, 2 * k + 2)
        assert_allclose(actions[rows], search.policy()(seen[rows]), rtol=1e-12)


@pytest.mark.seconds
def test_a_curriculum_widens_what_episodes_draw(tmp_path, monkeypatch):
    masses = watched(monkeypatch)
    chosen = {"episodes": 1, "episode": 10, "curriculum": CURRICULUM}
    policy = train(
        BALL, tmp_path / "run", steps=240, algorithm="ars", envs=2, options=OPTIONS,
        hyperparameters=chosen, progress=False,
    ).policy  # fmt: skip
    check(masses[2:])  # after a reset that no episode follows
    assert policy.origin.parameters == twin.load("stewart").hash


def test_wrong_requests_are_refused(tmp_path):
    with refused("multiple of 4"):
        short(tmp_path / "a", envs=6)
    with refused("no checkpoints"):
        short(tmp_path / "b", resume=True)
    assert not (tmp_path / "a").exists() and not (tmp_path / "b").exists()


def test_legs_that_share_their_numbers_can_be_the_law():
    """The gains of the law lie in the span of the directions; so does what a search finds."""
    name = "twin/VibrationIsolation-v0"
    env = make_environments(name, 4, {"max_episode_steps": 5}, "next_step")
    gains = linear_gains("isolation_law", env)
    names = ("platform velocity", "platform acceleration", "base velocity", "base acceleration")
    directions = shared_directions(env, (*names, "coordinate", CONSTANT_DIRECTION))
    assert np.linalg.matrix_rank(directions) == len(directions) == 6
    wanted = np.concatenate([gains.ravel(), np.zeros(6)])
    share, *_ = np.linalg.lstsq(directions.T, wanted, rcond=None)
    assert_within(share @ directions, wanted, 1e-6)
    assert max_abs(share[-2:]) < 1e-9
    directions = directions[:4]
    search = RandomSearch(env, SearchSettings(episodes=2, shared=names), 1, None, ())
    found = search.run(30, LearningCurve(()), lambda steps, gained: True)
    moved = np.concatenate([found.weights[0].ravel(), found.biases[0]])
    share, *_ = np.linalg.lstsq(directions.T, moved, rcond=None)
    assert max_abs(moved) > 1e-4
    assert_within(share @ directions, moved, 1e-9)
    env.close()
    with refused("shared"):
        shared_directions(Points(2), ())
    with refused("shared"):
        shared_directions(env, ("nothing",))
