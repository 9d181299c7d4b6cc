"""RLlib runs an environment: one iteration of PPO on the new and only API stack."""

import numpy as np
import pytest

import twin.envs

ray = pytest.importorskip("ray")
ppo = pytest.importorskip("ray.rllib.algorithms.ppo", exc_type=ImportError)

pytestmark = pytest.mark.slow

STEPS = 256


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Ray on this machine alone."""
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.parametrize("name", twin.envs.environment_ids()[:1])
def test_one_iteration_learns_from_whole_batches(name):
    config = (
        ppo.PPOConfig()
        .environment(name, env_config={"engine": "analytic", "max_episode_steps": 50})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=2)
        .training(train_batch_size_per_learner=STEPS, minibatch_size=64, num_epochs=1)
        .debugging(seed=1)
    )
    algorithm = config.build_algo()
    try:
        before = weights(algorithm)
        result = algorithm.train()
        after = weights(algorithm)
    finally:
        algorithm.stop()
    runners = result["env_runners"]
    assert runners["num_env_steps_sampled"] >= STEPS
    assert np.isfinite(runners["episode_return_mean"])
    assert runners["episode_len_max"] <= 50
    assert set(before) == set(after) and before
    assert any((before[key] != after[key]).any() for key in before)
    assert all(np.isfinite(value).all() for value in after.values())


def weights(algorithm):
    """Return copies of a policy's arrays."""
    state = algorithm.get_module().get_state()
    return {key: np.array(value) for key, value in state.items()}
