"""From a Stable-Baselines3 model to a policy that needs neither it nor PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.training.policy import Policy, PolicyNetwork, PolicyOrigin
from twin.training.residual import Residual


def export_policy(
    model: Any, origin: PolicyOrigin, normaliser: Any = None, law: Residual | None = None
) -> Policy:
    """Return the deterministic policy of a trained model.

    Args:
        model: PPO or SAC of Stable-Baselines3 with a multilayer perceptron.
        origin: where it came from.
        normaliser: the `VecNormalize` it was trained behind, if any.
        law: which the model corrects; None where its actions are those of the environment.

    Raises:
        InputError: a model of another kind, or actions that are not from -1 to 1.
    """
    space = model.action_space
    if getattr(space, "low", None) is None or not (
        (space.low == -1.0).all() and (space.high == 1.0).all()
    ):
        raise InputError("model", "must have actions from -1 to 1")
    actor = getattr(model.policy, "actor", None)
    if actor is not None and hasattr(actor, "latent_pi"):
        layers, last, output = actor.latent_pi, actor.mu, "tanh"
    elif hasattr(model.policy, "action_net"):
        layers = model.policy.mlp_extractor.policy_net
        last, output = model.policy.action_net, "clip"
    else:
        raise InputError("model", "must be a PPO or SAC model with a multilayer perceptron")
    parts = [layer for layer in layers if hasattr(layer, "weight")] + [last]
    kinds = {type(layer).__name__.lower() for layer in layers if not hasattr(layer, "weight")}
    if not kinds <= {"tanh", "relu"} or len(kinds) > 1:
        raise InputError("model", f"must have tanh or relu between its layers, not {kinds}")
    mean, scale, limit = _normalisation(normaliser, model.observation_space.shape[0])
    network = {"activation": kinds.pop() if kinds else "tanh", "output": output, "limit": limit}
    if law is not None:
        network["correction"] = law.share
    return Policy(
        tuple(_numbers(layer.weight) for layer in parts),
        tuple(_numbers(layer.bias) for layer in parts),
        mean,
        scale,
        PolicyNetwork.model_validate(network),
        origin,
        None if law is None else law.gains,
    )


def _normalisation(normaliser: Any, size: int) -> tuple[FloatArray, FloatArray, float]:
    if normaliser is None or not normaliser.norm_obs:
        return np.zeros(size), np.ones(size), 1e6
    statistics = normaliser.obs_rms
    scale = np.sqrt(statistics.var + normaliser.epsilon)
    return np.array(statistics.mean), scale, float(normaliser.clip_obs)


def _numbers(parameter: Any) -> FloatArray:
    return np.asarray(parameter.detach().cpu().numpy(), dtype=np.float64)
