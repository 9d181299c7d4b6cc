"""Models of Stable-Baselines3, made from settings or read from a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twin.basics.optional import optional
from twin.training.checkpoints import BUFFER, MODEL, NORMALISER
from twin.training.settings import PpoSettings, SacSettings, SearchSettings, TrainingSettings
from twin.training.tensorboard_log import FOLDER

LARGEST_OBSERVATION = 10.0


def make_normaliser(settings: TrainingSettings, adapter: Any, checkpoint: Path | None) -> Any:
    """Return the `VecNormalize` around an adapter, None without normalisation.

    Args:
        settings: of the training.
        adapter: a `VectorAdapter`.
        checkpoint: to go on from; None to begin.
    """
    chosen = settings.hyperparameters
    if isinstance(chosen, SearchSettings) or not (settings.normalise or settings.normalise_rewards):
        return None
    vectors = optional("stable_baselines3.common.vec_env")
    if checkpoint is not None:
        return vectors.VecNormalize.load(str(checkpoint / NORMALISER), adapter)
    return vectors.VecNormalize(
        adapter,
        norm_obs=settings.normalise,
        norm_reward=settings.normalise_rewards,
        clip_obs=LARGEST_OBSERVATION,
        gamma=chosen.discount,
    )


def make_model(settings: TrainingSettings, env: Any, folder: Path, checkpoint: Path | None) -> Any:
    """Return the model that learns.

    Args:
        settings: of the training.
        env: a `VecEnv`.
        folder: of the training, for its log.
        checkpoint: to go on from; None to begin.
    """
    library = optional("stable_baselines3")
    kind = library.PPO if settings.algorithm == "ppo" else library.SAC
    log = str(folder / FOLDER)
    if checkpoint is None:
        return kind("MlpPolicy", env, seed=settings.seed, device="cpu", tensorboard_log=log,
                    **_arguments(settings))  # fmt: skip
    model = kind.load(checkpoint / MODEL, env=env, device="cpu", tensorboard_log=log)
    if (checkpoint / BUFFER).is_file():
        model.load_replay_buffer(checkpoint / BUFFER)
    return model


def _arguments(settings: TrainingSettings) -> dict[str, Any]:
    chosen = settings.hyperparameters
    if isinstance(chosen, PpoSettings):
        return _ppo(chosen, settings)
    assert isinstance(chosen, SacSettings)
    return _sac(chosen, settings)


def _ppo(chosen: PpoSettings, settings: TrainingSettings) -> dict[str, Any]:
    schedules = optional("stable_baselines3.common.utils")
    rate = schedules.LinearSchedule(chosen.learning_rate, chosen.final_learning_rate, 1.0)
    return {
        "learning_rate": rate,
        "n_steps": chosen.rollout,
        "batch_size": min(chosen.batch, chosen.rollout * settings.envs),
        "n_epochs": chosen.epochs,
        "gamma": chosen.discount,
        "gae_lambda": chosen.trace,
        "clip_range": chosen.clip,
        "ent_coef": chosen.entropy,
        "vf_coef": chosen.value_weight,
        "max_grad_norm": chosen.gradient_norm,
        "target_kl": chosen.target_divergence,
        "use_sde": chosen.hold is not None,
        "sde_sample_freq": chosen.hold or -1,
        "policy_kwargs": _network(chosen) | {"log_std_init": chosen.log_deviation},
    }


def _sac(chosen: SacSettings, settings: TrainingSettings) -> dict[str, Any]:
    return {
        "learning_rate": chosen.learning_rate,
        "buffer_size": chosen.buffer,
        "batch_size": chosen.batch,
        "gamma": chosen.discount,
        "tau": chosen.following,
        "learning_starts": chosen.start,
        "train_freq": 1,
        "gradient_steps": chosen.updates,
        "policy_kwargs": _network(chosen),
    }


def _network(chosen: PpoSettings | SacSettings) -> dict[str, Any]:
    networks = optional("torch").nn
    activation = {"tanh": networks.Tanh, "relu": networks.ReLU}[chosen.activation]
    return {"net_arch": list(chosen.layers), "activation_fn": activation}
