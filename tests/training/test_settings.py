"""Settings of a training: horizons of tasks, and what the caller gives."""

import pytest
from console import console

from twin.envs import environment_ids
from twin.training.environments import make_environments
from twin.training.evaluation import TRACKING_ENVIRONMENT, roll_out
from twin.training.random_search import shared_directions
from twin.training.settings import ENVIRONMENT_DEFAULTS, linear_gains, make_law, training_settings

pytestmark = pytest.mark.quick


def test_tasks_have_their_own_algorithms():
    """What the help of `train` says of the defaults."""
    for name in (*environment_ids(), "CartPole-v1"):
        with_ppo = name in (TRACKING_ENVIRONMENT, "CartPole-v1")
        found = training_settings(None, {}, environment=name, steps=1)
        assert (found.algorithm, found.envs) == (("ppo", 64) if with_ppo else ("ars", 384))
        given = training_settings("sac", {}, environment=name, steps=1, envs=3)
        assert (given.algorithm, given.envs) == ("sac", 3)
    text = console("train --help", env={"COLUMNS": "300"}).output
    assert "ppo for tracking and foreign tasks, ars for the others" in text
    assert "384 for ars, 64 for others" in text


def test_usual_settings_are_accepted_by_their_tasks():
    for name, usual in ENVIRONMENT_DEFAULTS.items():
        assert {"algorithm", "law"} <= usual.keys() and name in environment_ids()
        env = make_environments(name, 2, {"max_episode_steps": 5}, "next_step")
        assert linear_gains(usual["law"], env).any()
        if "shared" in usual:
            assert len(shared_directions(env, usual["shared"])) == len(usual["shared"])
        env.close()


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_tasks_have_their_own_horizons(algorithm):
    for environment, wanted in ((environment_ids()[0], 0.95), ("twin/BallBalance-v0", 0.99)):
        found = training_settings(algorithm, {}, environment=environment, steps=1)
        assert found.hyperparameters.discount == wanted
        chosen = {"discount": 0.9, "law": "none"}
        given = training_settings(algorithm, chosen, environment=environment, steps=1)
        assert (given.hyperparameters.discount, given.hyperparameters.law) == (0.9, "none")


def test_the_ball_is_worth_balancing_within_the_horizon():
    """Not within a fifth of it: then doing nothing is better, and that is what is learnt."""
    name, discount = "twin/BallBalance-v0", ENVIRONMENT_DEFAULTS["twin/BallBalance-v0"]["discount"]
    horizon = round(1.0 / (1.0 - discount))
    for steps, sign in ((horizon // 5, -1.0), (3 * horizon, 1.0)):
        options = {"max_episode_steps": steps}
        law, nothing = (
            roll_out(name, options, make_policy, range(4), ()).reward
            for make_policy in (lambda env: make_law("balance_law", env), None)
        )
        assert (sign * (law - nothing) > 0.0).all()
