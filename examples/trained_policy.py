"""An environment, and a trained policy on the engine of its training and on one it never saw.

The task: follow a random motion on real drives, with machines that differ from episode to episode.
The policy corrects a feedforward, which is all that `zero` has. It is a file of numbers and runs
without PyTorch; `twin train` makes such files.
"""

from __future__ import annotations

import gymnasium as gym
import numpy as np

import twin.envs  # noqa: F401  registers the environments
from twin.training import evaluate, load_policy

ENVIRONMENT = "twin/PoseTracking-v0"
NAME = "stewart_tracking"
EPISODES = 2

policy = load_policy(NAME)
options = policy.options  # those of its training

env = gym.make(ENVIRONMENT, **options)
observation, info = env.reset(seed=1)
errors, done = [], False
while not done:
    observation, reward, terminated, truncated, info = env.step(policy(observation))
    errors.append(np.linalg.norm(info["position_error"]))
    done = terminated or truncated
env.close()
print(
    f"one episode, step by step: {len(errors)} steps, on average {1e3 * np.mean(errors):.3f} mm off"
)

rows = []
for name, engine in (("zero", "analytic"), (NAME, "analytic"), (NAME, "mujoco")):
    found = evaluate(ENVIRONMENT, [name], engines=[engine], episodes=EPISODES, options=options)
    titles = found.titles[:3]
    means = [found.mean(name, engine, title).value for title in titles]
    rows.append((name, engine, *(f"{value:.3g}" for value in means)))
columns = (
    "policy",
    "engine",
    *titles,
)
print(f"means over {EPISODES} episodes, the same for all")
for label, *values in (columns, *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))
