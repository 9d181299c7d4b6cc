"""A task that computes its observations and rewards in NumPy, as a user writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

from twin.envs.channels import Channel
from twin.envs.environment import PlatformEnv
from twin.envs.task import Start, Task
from twin.envs.vector import PlatformVectorEnv

pytestmark = pytest.mark.quick

STEPS = 6


class Level(Task):
    """Hold the platform level; actions are speeds of the legs."""

    title = "Level"
    default_machine: ClassVar[str] = "stewart"
    terms: ClassVar[Mapping[str, float]] = {"height": 2.0, "calmness": 0.5}
    termination_reasons: ClassVar[tuple[str, ...]] = ("", "engine")

    def __init__(self, platform, settings, engine, size):
        super().__init__(platform, settings, engine, size)
        n, speed = platform.n_actuators, self.scales.speed
        self.actions = (Channel("actuator velocity", n, "m/s", speed),)
        self.observations = (Channel("height", 1, "m", 1e-3), Channel("rate", n, "m/s", speed))
        self.signals = {"pose": self.batch.pose}
        self.allocate()

    def begin(self, index, generator, platform, options):
        """Start at home."""
        return Start()

    def command(self, actions):
        """Command speeds."""
        self.drive_commands[:] = actions * self.actions[0].scale

    def evaluate(self, indices, actions=None):
        """Fill observation, reward and end."""
        self.count(actions)
        height = self.batch.pose[:, 2] - self.platform.home[2]
        self.write_observation(indices, {"height": height, "rate": self.batch.measured_rates})
        calmness = -np.square(self.last_action).mean(axis=1)
        self.write_reward(indices, {"height": -abs(height), "calmness": calmness})
        self.termination_code[indices] = self.batch.failed[indices]


class LevelEnv(PlatformEnv):
    """One machine of `Level`."""

    task_type: ClassVar[type[Task]] = Level


class LevelVectorEnv(PlatformVectorEnv):
    """Machines of `Level`."""

    task_type: ClassVar[type[Task]] = Level


def actions():
    """Return actions `(steps, 2, 6)`, the same for both machines."""
    drawn = np.random.default_rng(3).uniform(-1.0, 1.0, (STEPS, 1, 6))
    return np.repeat(drawn, 2, axis=1)


def test_single_and_vector_environments_are_equal():
    noisy = {"observation_noise": 0.01, "action_delay": 0.02}
    single, vector = LevelEnv(**noisy), LevelVectorEnv(2, **noisy)
    first, _ = single.reset(seed=7)
    both, _ = vector.reset(seed=[7, 8])
    assert_array_equal(both[0], first)
    for action in actions():
        seen, reward, terminated, truncated, info = single.step(action[0])
        both, rewards, _, _, _ = vector.step(action)
        assert_array_equal(both[0], seen)
        assert rewards[0] == reward and not (terminated or truncated)
    terms = info["reward_terms"]
    assert reward == pytest.approx(2.0 * terms["height"] + 0.5 * terms["calmness"])
    assert abs(info["pose"][2] - single.platform.home[2]) > 0.0


def test_a_reset_of_one_machine_leaves_the_others_alone():
    vector = LevelVectorEnv(2, observation_noise=0.05)
    vector.reset(seed=1)
    before, *_ = vector.step(actions()[0])
    after, _ = vector.reset(options={"reset_mask": np.array([True, False])})
    assert_array_equal(after[1], before[1])
    assert not np.array_equal(after[0], before[0])


def test_observations_are_physical_values_per_scale_within_the_bound():
    environment = LevelEnv(scales={"height": 1e-9})
    environment.reset(seed=1)
    for action in actions():
        seen, *_ = environment.step(np.abs(action[0]))
    assert seen[0] == 10.0
    rates = environment.task.batch.measured_rates[0]
    assert_allclose(seen[1:], rates / environment.task.scales.speed, rtol=1e-6)


def test_missing_and_unknown_names_are_refused():
    task = LevelEnv().task
    with refused("must be height, rate, not height"):
        task.write_observation([0], {"height": 0.0})
    with refused("must be height, calmness, not height, calmness, speed"):
        task.write_reward([0], {"height": 0.0, "calmness": 0.0, "speed": 0.0})
