"""The adapter between Gymnasium's vector environments and Stable-Baselines3."""

import gymnasium
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

from twin.training.environments import Metric, VectorAdapter, make_environments
from twin.training.policy import Residual

pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")

from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecMonitor
from stand_in import EPISODE, Points

DISTANCE = (Metric("distance", "mm", "distance", 1e3), Metric("none", "m", "not there"))


@pytest.mark.parametrize("law", [None, Residual(np.array([[-0.5, 0.1]]), 0.2)])
def test_steps_are_those_of_the_environment(law):
    """A law acts on the present observation, and the actions correct it."""
    adapter, plain = VectorAdapter(Points(3), DISTANCE, seed=5, law=law), Points(3)
    assert isinstance(adapter, VecEnv)
    observations = adapter.reset()
    assert_array_equal(observations, plain.reset(seed=5)[0])
    assert [metric.name for metric in adapter.metrics] == ["distance"]
    generator = np.random.default_rng(0)
    for _ in range(2 * EPISODE + 3):
        given = actions = generator.uniform(-1.0, 1.0, (3, 1)).astype(np.float32)
        if law is not None:
            actions = np.clip(observations @ law.gains.T + 0.2 * given, -1.0, 1.0)
        observations, rewards, done, infos = adapter.step(given)
        wanted = plain.step(actions)
        assert_array_equal(observations, wanted[0])
        assert_allclose(rewards, wanted[1], rtol=1e-6)
        assert_array_equal(done, wanted[2] | wanted[3])
        assert [bool(info) for info in infos] == done.tolist()


@pytest.mark.parametrize("early", [False, True])
def test_ends_keep_their_last_observation(early):
    adapter = VectorAdapter(Points(2, wind=3.0 if early else 0.0), DISTANCE, seed=1)
    adapter.reset()
    start = adapter.env.at.copy()
    at, path = start.copy(), []
    for _ in range(EPISODE):
        at = at + 0.1 * (3.0 if early else 0.0)
        path.append(np.abs(at))
        observations, _, done, infos = adapter.step(np.zeros((2, 1), np.float32))
        if done.any():
            break
    row = int(np.flatnonzero(done)[0])
    assert infos[row]["TimeLimit.truncated"] is not early
    assert_allclose(infos[row]["terminal_observation"][0], at[row], rtol=1e-6, atol=1e-6)
    assert observations[row, 0] != infos[row]["terminal_observation"][0]
    episode = adapter.collect()[0]
    assert episode.length == len(path) == infos[row]["episode"]["l"]
    assert episode.terminated is early
    distances = np.array(path)[:, row]
    assert_allclose(episode.reward, -distances.sum(), rtol=1e-6, atol=1e-6)
    rms = 1e3 * np.sqrt(np.mean(distances**2))
    assert_allclose(episode.metrics, [rms], rtol=1e-9)
    assert adapter.collect() == []


def test_episodes_are_those_of_stable_baselines():
    """The same single environments behind Stable-Baselines3's own wrappers."""
    envs = [lambda: gymnasium.make("Pendulum-v1", max_episode_steps=30) for _ in range(2)]
    theirs = VecMonitor(DummyVecEnv(envs))
    theirs.seed(3)
    kept = {"autoreset_mode": AutoresetMode.SAME_STEP}
    ours = VectorAdapter(
        gymnasium.make_vec("Pendulum-v1", 2, "sync", vector_kwargs=kept, max_episode_steps=30),
        seed=3,
    )
    assert_array_equal(ours.reset(), theirs.reset())
    generator = np.random.default_rng(2)
    for _ in range(65):
        actions = generator.uniform(-2.0, 2.0, (2, 1)).astype(np.float32)
        mine, other = ours.step(actions), theirs.step(actions)
        for k in range(3):
            assert_allclose(mine[k], other[k], rtol=1e-6, atol=1e-6)
        for info, wanted in zip(mine[3], other[3], strict=True):
            assert info.get("TimeLimit.truncated", False) == wanted["TimeLimit.truncated"]
            if "episode" in wanted:
                assert_allclose(info["episode"]["r"], wanted["episode"]["r"], rtol=1e-5, atol=1e-5)
                assert_array_equal(info["terminal_observation"], wanted["terminal_observation"])


def test_other_modes_are_refused():
    with refused("SAME_STEP"):
        VectorAdapter(Points(2, AutoresetMode.NEXT_STEP))


def test_methods_and_attributes_of_native_rows():
    env = make_environments("twin/PoseTracking-v0", 3, {"render_mode": "rgb_array"})
    adapter = VectorAdapter(env)
    adapter.reset()
    pictures = env.render()
    first, last = adapter.env_method("render", indices=[0, 2])
    assert_array_equal(first, pictures[0])
    assert_array_equal(last, pictures[2])
    adapter.set_attr("difficulty", 4, indices=1)
    assert adapter.get_attr("difficulty", indices=1) == [4]
    assert adapter.get_attr("render_mode") == ["rgb_array"] * 3
    with pytest.raises(AttributeError):
        adapter.get_attr("difficulty", indices=0)
    adapter.close()
