"""Goals of PoseTracking: what hindsight replay may exchange, and nothing else depends on it."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

import twin.envs
from twin.errors import StateError

pytestmark = pytest.mark.quick

NAME = "twin/PoseTracking-v0"
assert NAME in twin.envs.environment_ids()


def make(**options):
    """Return an environment with goals, without wrappers."""
    return gym.make(NAME, goal=True, residual=False, **options).unwrapped


def test_gymnasium_accepts_it():
    check_env(make(), skip_render_check=True)


def test_rewards_are_those_of_the_terms_without_goals():
    env, plain = make(), gym.make(NAME, residual=False)
    seen, _ = env.reset(seed=1)
    plain.reset(seed=1)
    generator = np.random.default_rng(0)
    achieved, desired, rewards = [], [], []
    for _ in range(40):
        action = generator.uniform(-0.5, 0.5, 6).astype(np.float32)
        seen, reward, ended, _, info = env.step(action)
        terms = plain.step(action)[-1]["reward_terms"]
        assert terms == info["reward_terms"]
        assert reward == pytest.approx(0.5 * (terms["position"] + terms["orientation"]), abs=1e-6)
        achieved.append(seen["achieved_goal"])
        desired.append(seen["desired_goal"])
        rewards.append(reward)
        if ended:
            break
    many = env.compute_reward(np.array(achieved), np.array(desired), [{}] * len(rewards))
    assert_allclose(many, rewards, rtol=1e-12)
    assert_allclose(env.compute_reward(achieved[0], achieved[0], {}), 1.0, rtol=1e-12)
    assert len(rewards) > 10 and np.ptp(rewards) > 0.05


def test_observations_do_not_know_the_goal():
    """Two motions from the same pose at rest: the same actions show the same but the goals."""
    one, other = make(), make()
    first, second = one.reset(seed=1)[0], other.reset(seed=2)[0]
    action = np.full(6, 0.1, dtype=np.float32)
    for _ in range(30):
        for name in ("observation", "achieved_goal"):
            assert_array_equal(first[name], second[name])
        first, second = one.step(action)[0], other.step(action)[0]
    assert np.abs(first["desired_goal"] - second["desired_goal"]).max() > 1e-3


def test_it_is_for_single_environments_that_command_all():
    with refused("goal=True takes residual=False"):
        gym.make(NAME, goal=True)
    with refused("is for single environments"):
        gym.make_vec(NAME, 2, vectorization_mode="vector_entry_point", goal=True, residual=False)
    several = gym.make_vec(NAME, 2, vectorization_mode="sync", goal=True, residual=False)
    assert several.reset(seed=0)[0]["achieved_goal"].shape == (2, 6)
    plain = gym.make(NAME).unwrapped
    with pytest.raises(StateError, match="goal=True"):
        plain.compute_reward(np.zeros(6), np.zeros(6), {})
