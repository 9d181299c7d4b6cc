"""Levels: the medium actor lies between random actions and the expert, and repeats itself."""

import gymnasium
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refused

import twin.envs
from twin.basics.progress import Progress
from twin.datasets.actors import LawActor, NoisyActor, RandomActor, make_actor
from twin.datasets.record import EXPERT_ACTORS, halfway, of_level, play
from twin.training.evaluation import baseline_names

pytestmark = pytest.mark.quick

ISOLATION = "twin/VibrationIsolation-v0"


def total(env, actor, seed=5):
    with Progress("", 1, False) as bar:
        return play(env, actor, seed, bar, 0).total


def test_every_task_has_an_expert_among_its_baselines():
    assert set(EXPERT_ACTORS) == set(twin.envs.environment_ids())
    for environment, expert in EXPERT_ACTORS.items():
        assert expert.name in baseline_names(environment)


@pytest.mark.seconds
def test_medium_lies_between(constants):
    constants("twin.datasets.record", PROBE_EPISODES=2)
    env = gymnasium.make(ISOLATION, max_episode_steps=100)
    expert = make_actor("isolation_law", env, None)
    medium = halfway(env, expert, False)
    low, high = total(env, RandomActor(env)), total(env, expert)
    share = (total(env, medium) - low) / (high - low)
    assert share == pytest.approx(0.5, abs=0.15)
    assert medium.name.startswith("isolation_law with noise of 0.")
    env.close()


def test_noise_has_its_deviation_and_comes_from_the_seed():
    env = gymnasium.make(ISOLATION)
    still = make_actor("zero", env, None)
    noisy = NoisyActor(still, env, 0.1)
    noisy.begin(3)
    drawn = np.stack([noisy.act(None) for _ in range(500)])
    assert drawn.std() == pytest.approx(0.1, rel=0.1)
    assert abs(drawn.mean()) < 0.01
    noisy.begin(3)
    assert_array_equal(noisy.act(None), drawn[0])
    wild = NoisyActor(still, env, 100.0)
    assert env.action_space.contains(wild.act(None).astype(np.float32))
    env.close()


def test_options_of_the_expert_give_way_to_given_ones():
    name, options = of_level("twin/PoseTracking-v0", "expert", {"action": "velocities"})
    assert name == "computed_torque" and options is not None
    assert options["action"] == "velocities" and options["residual"] is False
    assert of_level("twin/PoseTracking-v0", "zero", None) == ("zero", None)
    with refused("experts are known for twin/PoseTracking-v0"):
        of_level("CartPole-v1", "medium", None)


def test_laws_are_actors_of_their_task_alone():
    env = gymnasium.make(ISOLATION)
    assert isinstance(make_actor("isolation_law", env, None), LawActor)
    with refused("classical can act in twin/MotionCueing-v0 only"):
        make_actor("classical", env, None)
    env.close()
