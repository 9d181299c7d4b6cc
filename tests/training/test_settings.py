"""Settings of a training: horizons of tasks, and what the caller gives."""

from __future__ import annotations

import pytest

from twin.envs import environment_ids
from twin.training.evaluation.rollout import roll_out
from twin.training.laws import make_law
from twin.training.settings import USUAL, training_settings

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_tasks_have_their_own_horizons(algorithm: str) -> None:
    assert set(USUAL) < set(environment_ids())
    for environment, wanted in ((environment_ids()[0], 0.95), ("twin/BallBalance-v0", 0.99)):
        found = training_settings(algorithm, {}, environment=environment, steps=1)
        assert found.hyperparameters.discount == wanted
        chosen = {"discount": 0.9, "law": "none"}
        given = training_settings(algorithm, chosen, environment=environment, steps=1)
        assert (given.hyperparameters.discount, given.hyperparameters.law) == (0.9, "none")


def test_the_ball_is_worth_balancing_within_the_horizon() -> None:
    """Not within a fifth of it: then doing nothing is better, and that is what is learnt."""
    name, discount = "twin/BallBalance-v0", USUAL["twin/BallBalance-v0"]["discount"]
    horizon = round(1.0 / (1.0 - discount))
    for steps, sign in ((horizon // 5, -1.0), (3 * horizon, 1.0)):
        options = {"max_episode_steps": steps}
        law, nothing = (
            roll_out(name, options, driver, range(4), ()).reward
            for driver in (lambda env: make_law("balance_law", env), None)
        )
        assert (sign * (law - nothing) > 0.0).all()
