"""Duration of episodes: an option, one of `reset`, and drawn for every episode."""

import gymnasium as gym
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refused

import twin.envs
from twin.envs.pose_tracking.environment import PoseTrackingVectorEnv
from twin.training.evaluation import run_controller

pytestmark = pytest.mark.quick

NAME = "twin/PoseTracking-v0"
DRAWN = {"task.episode_duration": {"kind": "uniform", "low": 0.02, "high": 0.06}}


def length(env, **reset):
    """Return the control periods of the next episode, which is truncated."""
    env.reset(**reset)
    for count in range(1, 100):
        *_, terminated, truncated, _ = env.step(np.zeros(env.action_space.shape))
        assert not terminated
        if truncated:
            return count
    raise AssertionError("the episode is not truncated")


@pytest.mark.parametrize("environment", twin.envs.environment_ids())
def test_an_episode_ends_after_its_duration(environment):
    """The option holds for all, that of a reset for one episode, the shortest limit for each."""
    env = gym.make(environment, episode_duration=0.05)
    usual = round(0.05 / env.unwrapped.task.settings.period)
    assert length(env, seed=1) == usual
    assert length(env, options={"episode_duration": 0.02}) == round(0.4 * usual)
    assert length(env) == usual
    assert length(gym.make(environment, episode_duration=0.05, max_episode_steps=2)) == 2
    with refused("episode_duration"):
        env.reset(options={"episode_duration": 0.0})


def test_drawn_durations_are_those_of_single_environments():
    """Each machine of a vector has its own; the next episode draws again."""
    env = gym.make(NAME, randomisation=DRAWN)
    vectors = PoseTrackingVectorEnv(6, randomisation=DRAWN)
    _, infos = vectors.reset(seed=3)
    drawn = infos["randomised"]["task.episode_duration"]
    expected = np.round(drawn / 0.01)
    ends = np.full((6, 2), -1)
    for count in range(1, 20):
        *_, truncated, _ = vectors.step(np.zeros((6, 6)))
        for index in np.flatnonzero(truncated):
            ends[index, np.flatnonzero(ends[index] < 0)[:1]] = count
    assert_array_equal(ends[:, 0], expected)
    assert len(set(expected)) > 1 and (ends[:, 1] > 0).all()
    assert (np.diff(ends, axis=1)[:, 0] - 1 != expected).any()
    assert [length(env, seed=3 + index) for index in range(6)] == expected.tolist()


def test_controllers_have_the_same_episodes():
    found = run_controller("cascade", {"randomisation": DRAWN}, (3, 4), ())
    env = gym.make(NAME, randomisation=DRAWN)
    assert found.length.tolist() == [length(env, seed=seed) for seed in (3, 4)]
