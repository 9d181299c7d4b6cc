"""PPO of RLlib on one environment of pose tracking, in this process alone.

It shows how RLlib takes the environment. The policy corrects the speeds that a motion needs, on
real drives; the table has the return of an episode of 1 s. The default is four updates, too few to
tell learning from the scatter of motions. Give the steps: `python rllib_ppo.py 100000`.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

import gymnasium as gym
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.tune.registry import register_env

import twin.envs  # noqa: F401  registers the environments

OPTIONS: dict[str, Any] = {"configuration": "hardware", "position_gain": 10.0, "action_scale": 0.02}
BATCH = 2048
steps = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 8192

register_env(
    "tracking", lambda options: gym.make("twin/PoseTracking-v0", max_episode_steps=100, **options)
)
ray.init(
    address="local",
    num_cpus=1,
    include_dashboard=False,
    log_to_driver=False,
    logging_level=logging.ERROR,
)
algorithm = (
    PPOConfig()
    .environment("tracking", env_config=OPTIONS)
    .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
    .training(
        gamma=0.8,
        lambda_=0.9,
        lr=1e-3,
        train_batch_size_per_learner=BATCH,
        minibatch_size=512,
        num_epochs=5,
    )
    .debugging(seed=0)
    .build_algo()
)
rows, updates = [], max(1, steps // BATCH)
for update in range(updates):
    found = algorithm.train()["env_runners"]
    if update % max(1, updates // 8) == 0 or update == updates - 1:
        rows.append(((update + 1) * BATCH, found["episode_return_mean"]))
algorithm.stop()
ray.shutdown()
for label, *values in (("steps", "return"), *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))
