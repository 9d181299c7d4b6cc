"""Recorded datasets: what Minari loads is what happened, and can happen again bit for bit."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

import twin
from twin.datasets import record_dataset
from twin.datasets.actors import ControllerActor
from twin.engines import engine_names
from twin.envs import environment_ids
from twin.errors import StateError
from twin.machine.randomisation import Uniform, as_randomisation
from twin.training.policy import Policy, PolicyNetwork, PolicyOrigin

minari = pytest.importorskip("minari")

TRACKING = "twin/PoseTracking-v0"
SHORT = {"max_episode_steps": 30}


def same_numbers(info, infos, instant):
    """Check that all numbers of `info` are those recorded at an instant."""
    numbers = {name: value for name, value in info.items() if not isinstance(value, str)}
    assert numbers.keys() == infos.keys()
    for name, value in numbers.items():
        if isinstance(value, Mapping):
            same_numbers(value, infos[name], instant)
        else:
            assert_array_equal(value, infos[name][instant])


def replayed(dataset):
    """Replay all episodes in the environment that the dataset names; returns their steps."""
    env = dataset.recover_environment()
    metadata = dataset.storage.get_episode_metadata(dataset.episode_indices)
    steps = 0
    for episode, about in zip(dataset.iterate_episodes(), metadata, strict=True):
        observation, info = env.reset(seed=about["seed"])
        assert_array_equal(observation, episode.observations[0])
        assert json.loads(about["randomised"]) == info["randomised"]
        for k, action in enumerate(episode.actions):
            assert env.action_space.contains(action)
            observation, reward, terminated, truncated, info = env.step(action)
            assert_array_equal(observation, episode.observations[k + 1])
            assert reward == episode.rewards[k]
            assert (terminated, truncated) == (episode.terminations[k], episode.truncations[k])
            same_numbers(info, episode.infos, k + 1)
            steps += 1
        assert terminated or truncated
        assert info["termination"] == about["termination"]
        assert about["rewards_sum"] == pytest.approx(episode.rewards.sum(), rel=1e-12)
    env.close()
    return steps


@pytest.mark.parametrize("environment", environment_ids())
def test_a_dataset_replays_bit_for_bit(environment):
    made = record_dataset(environment, episodes=2, dataset="test/random-v0", seed=3, options=SHORT)
    assert minari.list_local_datasets().keys() == {"test/random-v0"}
    found = minari.load_dataset("test/random-v0")
    assert found.total_episodes == made.total_episodes == 2
    assert replayed(found) == found.total_steps == made.total_steps > 2
    assert found.storage.metadata["algorithm_name"] == "random"
    task = gymnasium.make(environment).unwrapped.task
    for kind in ("observation", "action"):
        told = found.storage.metadata[f"{kind}_channels"]
        channels = getattr(task, f"{kind}s")
        assert [row["name"] for row in told] == [channel.name for channel in channels]
        assert sum(row["size"] for row in told) == getattr(found, f"{kind}_space").shape[0]


@pytest.mark.parametrize("engine", engine_names())
def test_datasets_of_all_engines(engine):
    options = SHORT | {"engine": engine, "configuration": "hardware"}
    made = record_dataset(TRACKING, episodes=1, dataset="test/engine-v0", options=options)
    assert made.env_spec.kwargs["engine"] == engine
    assert replayed(made) == 30


def test_drawn_machines_are_in_the_metadata():
    spread = as_randomisation(
        {
            "platform.body.mass": Uniform(low=0.8, high=1.2, relative=True),
            "task.amplitude": Uniform(low=0.1, high=0.3),
        }
    )
    options = SHORT | {"randomisation": spread}
    made = record_dataset(TRACKING, episodes=3, dataset="test/drawn-v0", options=options)
    assert replayed(made) == 90
    about = list(made.storage.get_episode_metadata(range(3)))
    masses = [json.loads(entry["randomised"])["platform.body.mass"] for entry in about]
    assert len(set(masses)) == 3
    assert made.env_spec.kwargs["randomisation"] == spread.as_dict()


def test_recordings_repeat_themselves():
    first, second, other = (
        record_dataset(TRACKING, episodes=2 + k, dataset=f"test/d{k}-v0", seed=seed, options=SHORT)
        for k, seed in enumerate((5, 5, 6))
    )
    # An episode does not depend on how many there are.
    pairs = zip(first.iterate_episodes(), second.iterate_episodes(), strict=False)
    for one, two in pairs:
        assert_array_equal(one.actions, two.actions)
        assert_array_equal(one.observations, two.observations)
    actions = [next(other.iterate_episodes()).actions, next(first.iterate_episodes()).actions]
    assert not np.array_equal(*actions)


def test_functions_are_policies():
    seen = []

    def proportional(observation):
        seen.append(observation)
        return np.clip(0.5 * observation[:6], -1.0, 1.0)

    made = record_dataset(
        TRACKING, proportional, episodes=1, dataset="test/function-v0", options=SHORT
    )
    episode = next(made.iterate_episodes())
    assert made.storage.metadata["algorithm_name"] == "proportional"
    assert_array_equal(np.array(seen), episode.observations[:-1])
    expected = np.clip(0.5 * episode.observations[:-1, :6], -1.0, 1.0).astype(np.float32)
    assert_array_equal(episode.actions, expected)


def linear_policy(environment, options):
    """Return a policy that answers the first six observations, as training would save it."""
    size = gymnasium.make(environment, **options).observation_space.shape
    assert size is not None
    origin = PolicyOrigin(environment=environment, options=options, algorithm="ppo")
    weight = 0.5 * np.eye(6, size[0])
    mean, scale = np.zeros(size), np.ones(size)
    return Policy((weight,), (np.zeros(6),), mean, scale, PolicyNetwork(), origin)


def test_trained_policies_act_in_the_environment_they_know(tmp_path):
    policy = linear_policy(TRACKING, {"configuration": "hardware", "preview": 1})
    file = policy.save(tmp_path / "linear.npz")
    made = record_dataset(TRACKING, file, episodes=1, dataset="test/policy-v0")
    assert made.env_spec.kwargs == {"configuration": "hardware", "preview": 1}
    assert made.storage.metadata["algorithm_name"] == "ppo (linear.npz)"
    episode = next(made.iterate_episodes())
    expected = policy(episode.observations[:-1]).astype(np.float32)
    assert_allclose(episode.actions, expected, rtol=1e-6, atol=1e-7)
    assert replayed(made) == 500
    other = linear_policy(TRACKING, {})
    moved = replace(other, origin=other.origin.model_copy(update={"environment": "twin/Other-v0"}))
    with refused("is for twin/Other-v0, not for"):
        name = str(moved.save(tmp_path / "other.npz"))
        record_dataset(TRACKING, name, episodes=1, dataset="test/other-v0")
    file.write_bytes(b"nothing")
    with refused("is not a policy"):
        record_dataset(TRACKING, str(file), episodes=1, dataset="test/other-v0")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("controller", "options"),
    [
        ("cascade", {}),
        ("cascade", {"machine": "driving_simulator", "configuration": "hardware"}),
        ("cascade", {"machine": "rss", "engine": "mujoco"}),
        ("computed_torque", {"action": "forces", "period": 0.001}),
        ("lqr", {"action": "forces", "period": 0.001}),
    ],
)
def test_controllers_act(controller, options):
    """The recorded actions are the controller's commands in their units, and follow the motion."""
    options = {"max_episode_steps": 100, "residual": False, **options}
    made = record_dataset(
        TRACKING, controller, episodes=1, dataset="test/control-v0", options=options
    )
    assert replayed(made) == 100
    episode = next(made.iterate_episodes())
    still = record_dataset(TRACKING, "zero", episodes=1, dataset="test/still-v0", options=options)
    assert episode.rewards.mean() > next(still.iterate_episodes()).rewards.mean() + 0.1


def test_commands_become_actions_by_the_scale_of_the_space():
    """What the drives are asked after the step is what the controller commanded."""
    env = gymnasium.make(TRACKING, residual=True, action_scale=1.0)
    actor = ControllerActor("cascade", env)
    env.reset(seed=0)
    actor.begin(0)
    task = env.unwrapped.task
    asked = []
    for _ in range(20):
        env.step(actor.act(None))
        asked.append(actor.last_command)
        assert_allclose(task.drive_commands[0], actor.last_command, rtol=1e-12, atol=1e-12)
    assert np.abs(asked).max() > 1e-3
    env.close()


def test_refusals_leave_nothing_behind(datasets):
    given = {"environment": TRACKING, "episodes": 1, "dataset": "test/none-v0"}
    for changes, field, message in (
        ({"environment": "twin/Tracking-v0"}, "environment", "twin/PoseTracking-v0"),
        ({"environment": "CartPole-v1"}, "environment", "no vectors of numbers"),
        ({"policy": "pid"}, "policy", "known: random, zero, cascade"),
        ({"policy": lambda _: np.zeros(3)}, "policy", "shape (3,), not (6,)"),
        ({"policy": lambda _: np.full(6, 1.5)}, "policy", "outside the action space"),
        ({"policy": "computed_torque"}, "policy", "set the option action"),
        ({"policy": "cascade", "options": {"action": "pose"}}, "policy", "takes neither"),
        (
            {"policy": "cascade", "options": {"action_scale": 1e-4}},
            "policy",
            "take residual=False, or a larger action_scale",
        ),
        (
            {"policy": "feedforward", "options": {"residual": False}},
            "policy",
            "which an action cannot express",
        ),
        ({"episodes": 0}, "episodes", "whole number from 1"),
        ({"dataset": "random"}, "dataset", "must look like namespace/name-v0"),
        ({"options": {"speed": 3}}, "speed", "unexpected keyword argument"),
        ({"options": {"machine": twin.load("stewart")}}, "options", "a dataset cannot keep them"),
    ):
        with refused(field=field) as caught:
            record_dataset(**given | changes)
        assert message in caught.value.message
        assert not datasets.exists() or not list(datasets.iterdir())


def test_an_existing_dataset_stays(datasets):
    record_dataset(TRACKING, episodes=1, dataset="test/kept-v0", options=SHORT)
    before = (datasets / "test/kept-v0/data/metadata.json").read_bytes()
    with refused("test/kept-v0 exists"):
        record_dataset(TRACKING, episodes=1, dataset="test/kept-v0", options=SHORT)
    assert (datasets / "test/kept-v0/data/metadata.json").read_bytes() == before


def test_an_error_in_the_middle_leaves_nothing(datasets):
    steps = []

    def fails(observation):
        steps.append(observation)
        if len(steps) > 40:
            raise StateError("enough")
        return np.zeros(6)

    with pytest.raises(StateError, match="enough"):
        record_dataset(TRACKING, fails, episodes=2, dataset="test/half-v0", options=SHORT)
    assert not list(datasets.iterdir())


KILLED = """
import os, signal, sys
from twin.datasets import record, record_dataset
def act(observation):
    print(os.listdir(sys.argv[1]), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
record_dataset("twin/PoseTracking-v0", act, episodes=1, dataset="killed-v0")
"""


@pytest.mark.slow
def test_leftovers_of_a_killed_recording_are_removed_by_the_next(datasets):
    datasets.mkdir()
    command = [sys.executable, "-c", KILLED, str(datasets)]
    killed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert killed.returncode == -9
    left = list(datasets.glob(".recording-*"))
    assert len(left) == 1 and left[0].name in killed.stdout
    record_dataset(TRACKING, "zero", episodes=1, dataset="next-v0", options=SHORT)
    assert not list(datasets.glob(".recording-*"))


def test_a_full_disk_is_one_error_and_leaves_nothing(datasets, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    storage = "minari.dataset._storages.hdf5_storage.HDF5Storage"
    for method in (f"{storage}.update_episodes", "pathlib.Path.chmod"):
        with monkeypatch.context() as patch:
            patch.setattr(method, full)
            with refused(r"full-v0 cannot be written .*No space left"):
                record_dataset(TRACKING, "zero", episodes=1, dataset="full-v0", options=SHORT)
        assert not list(datasets.glob(".recording-*")) and not (datasets / "full-v0").exists()
