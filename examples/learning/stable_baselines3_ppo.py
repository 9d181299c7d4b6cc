"""Stable-Baselines3 on a native vector environment, its policy as a file of numbers, and its value.

`twin train` does the same with checkpoints, logs and a learning curve. Give the number of steps:
`python stable_baselines3_ppo.py 300000`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from stable_baselines3 import PPO

from twin.training import evaluate, export_policy
from twin.training.environments import VectorAdapter, channels, make_environments
from twin.training.policy import PolicyOrigin

torch.set_num_threads(1)
ENVIRONMENT = "twin/PoseTracking-v0"
OPTIONS: dict[str, Any] = {"configuration": "hardware", "position_gain": 10.0, "action_scale": 0.02}
steps = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 100_000

adapter = VectorAdapter(make_environments(ENVIRONMENT, 64, OPTIONS))
model = PPO(
    "MlpPolicy",
    adapter,
    n_steps=32,
    batch_size=1024,
    n_epochs=5,
    gamma=0.8,
    learning_rate=1e-3,
    policy_kwargs={"log_std_init": -1.5},
    device="cpu",
    seed=0,
)
model.learn(steps)

observations, actions = channels(adapter.env)
origin = PolicyOrigin(
    environment=ENVIRONMENT, options=OPTIONS, observations=observations, actions=actions
)
with tempfile.TemporaryDirectory() as folder:
    file = export_policy(model, origin).save(Path(folder) / "policy.npz")
    found = evaluate(ENVIRONMENT, [file, "zero"], engines=("analytic",), episodes=3)
adapter.close()
rows = [
    (name, *(found.mean(policy, "analytic", title).text() for title in found.titles[:2]))
    for name, policy in zip(("trained", "zero"), found.policies, strict=True)
]
for label, *values in (("policy", *found.titles[:2]), *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))
