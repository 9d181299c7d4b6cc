"""Signals between policies and machines: late by whole periods, noisy, and as data of a spread."""

import gymnasium as gym
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refused

import twin.envs

pytestmark = pytest.mark.quick

LATE = {"observation_delay": 2, "action_delay": 1}
"""Control periods."""


def rollout(env, actions, **reset):
    """Return the observations `(k, o)` of an episode and the info of its reset."""
    seen, info = env.reset(seed=4, **reset)
    found = [seen, *(env.step(action)[0] for action in actions)]
    return np.array(found), info


@pytest.mark.parametrize("environment", twin.envs.environment_ids())
def test_signals_are_late_by_whole_periods(environment):
    """Late signals are those of the machine that got the actions one period later, shifted."""

    def made(period):
        values = {name: [count * period] for name, count in LATE.items()}
        drawn = {f"task.{name}": {"kind": "choice", "values": values[name]} for name in values}
        return gym.make(environment, randomisation=drawn)

    plain = made(0.0)
    period = plain.unwrapped.task.settings.period
    random = np.random.default_rng(2)
    actions = random.uniform(-0.2, 0.2, (7, *plain.action_space.shape)).astype(np.float32)
    shifted = np.concatenate([np.zeros_like(actions[:1]), actions[:-1]])
    usual, _ = rollout(plain, shifted)
    late, info = rollout(made(period), actions)
    assert_array_equal(late[2:], usual[:-2])
    assert_array_equal(late[:2], usual[[0, 0]])
    assert info["randomised"]["task.action_delay"] == period


def test_noise_has_its_size_and_that_of_a_seed():
    still = np.zeros((60, 6), dtype=np.float32)
    name = "twin/PoseTracking-v0"
    plain, _ = rollout(gym.make(name), still)
    noisy, again = (rollout(gym.make(name, observation_noise=0.05), still)[0] for _ in range(2))
    assert_array_equal(noisy, again)
    error = noisy - plain
    assert abs(error.std() / 0.05 - 1.0) < 0.05 and abs(error.mean()) < 0.005
    vectors = gym.make_vec(name, 2, vectorization_mode="vector_entry_point", observation_noise=0.05)
    seen, _ = vectors.reset(seed=4)
    assert_array_equal(seen[0], noisy[0])
    assert_array_equal(vectors.step(np.zeros((2, 6)))[0][0], noisy[1])
    moved, _ = rollout(gym.make(name), still, options={"action_noise": 0.2})
    sent = moved[1:, -6:]
    assert abs(sent.std() / 0.2 - 1.0) < 0.1
    with refused("action_delay"):
        gym.make(name).reset(options={"action_delay": -0.01})
