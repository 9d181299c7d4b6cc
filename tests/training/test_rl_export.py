"""Exported policies act as the models they come from."""

import numpy as np
import pytest
from refusals import refused
from tolerance import assert_within

from twin.training import Policy, export_policy
from twin.training.policy import PolicyOrigin

torch = pytest.importorskip("torch")
library = pytest.importorskip("stable_baselines3")

from gymnasium.spaces import Box  # noqa: E402
from stable_baselines3.common.vec_env import VecNormalize  # noqa: E402
from stand_in import Points  # noqa: E402

from twin.training.environments import VectorAdapter  # noqa: E402

ORIGIN = PolicyOrigin(environment="stand_in/Points-v0")
TOLERANCE = 1e-6
"""Models compute in single precision, policies in double."""


def random_model(kind, layers, activation):
    """Return an untrained model with random weights of usual size, and its normaliser."""
    adapter = VectorAdapter(Points(4))
    normaliser = VecNormalize(adapter)
    generator = np.random.default_rng(4)
    normaliser.obs_rms.mean = generator.normal(size=2)
    normaliser.obs_rms.var = generator.uniform(0.1, 4.0, 2)
    model = getattr(library, kind)(
        "MlpPolicy",
        normaliser,
        seed=1,
        device="cpu",
        policy_kwargs={"net_arch": layers, "activation_fn": getattr(torch.nn, activation)},
    )
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.copy_(torch.randn_like(parameter) / parameter.shape[-1] ** 0.5)
    return model, normaliser


@pytest.mark.parametrize("kind", ["PPO", "SAC"])
@pytest.mark.parametrize(("layers", "activation"), [([16, 8], "Tanh"), ([32], "ReLU")])
def test_policy_is_the_models(kind, layers, activation, tmp_path):
    model, normaliser = random_model(kind, layers, activation)
    policy = export_policy(model, ORIGIN, normaliser)
    generator = np.random.default_rng(5)
    observations = generator.normal(0.0, 3.0, (500, 2)).astype(np.float32)
    wanted, _ = model.predict(normaliser.normalize_obs(observations), deterministic=True)
    assert_within(policy(observations), wanted, TOLERANCE)
    loaded = Policy.load(policy.save(tmp_path / "policy.npz"))
    assert_within(loaded(observations), wanted, TOLERANCE)
    assert np.abs(wanted).max() > 0.5
    plain, _ = model.predict(observations, deterministic=True)
    assert_within(export_policy(model, ORIGIN)(observations), plain, TOLERANCE)


def test_other_models_are_refused():
    model, _ = random_model("PPO", [8], "Sigmoid")
    with refused("tanh or relu"):
        export_policy(model, ORIGIN)
    model.action_space = Box(-2.0, 2.0, (1,))
    with refused("-1 to 1"):
        export_policy(model, ORIGIN)
