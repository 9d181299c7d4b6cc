"""Hindsight replay of Stable-Baselines3 on PoseTracking with goals."""

import gymnasium as gym
import pytest
from numpy.testing import assert_allclose

import twin.envs  # noqa: F401 (registers the environments)

pytest.importorskip("torch")
library = pytest.importorskip("stable_baselines3")


def test_replayed_goals_have_the_reward_of_the_environment():
    env = gym.make("twin/PoseTracking-v0", goal=True, residual=False, max_episode_steps=50)
    model = library.SAC(
        "MultiInputPolicy",
        env,
        replay_buffer_class=library.HerReplayBuffer,
        replay_buffer_kwargs={"n_sampled_goal": 4, "goal_selection_strategy": "future"},
        learning_starts=100,
        train_freq=20,
        batch_size=64,
        seed=0,
        device="cpu",
    )
    model.learn(300)
    drawn = model.replay_buffer.sample(256)
    seen, following = drawn.observations, drawn.next_observations
    same = (seen["desired_goal"] == following["desired_goal"]).all(dim=1).numpy()
    assert 0.5 < same.mean() < 1.0  # four of five goals are exchanged, those are kept for a step
    exact = env.unwrapped.compute_reward(
        following["achieved_goal"].numpy(), following["desired_goal"].numpy(), None
    )
    assert_allclose(drawn.rewards.numpy().ravel(), exact, rtol=1e-5, atol=1e-6)
    own = (following["achieved_goal"] == following["desired_goal"]).all(dim=1).numpy()
    assert exact[own].min(initial=1.0) > 0.999
