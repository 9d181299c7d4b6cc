"""Draw docs/images/balancing.gif: the shipped policy rolls a ball on three legs to its target."""

from __future__ import annotations

import gymnasium as gym
from folder import picture_folder
from PIL import Image

import twin.envs  # noqa: F401 registers the environments
from twin.training import load_policy

SECONDS = 6.0

FRAMES_PER_SECOND = 12.5

policy = load_policy("balancer_ball")
env = gym.make(policy.origin.environment, render_mode="rgb_array", **policy.options)
observation, _ = env.reset(seed=4)
frames, steps = [], round(SECONDS * env.metadata["render_fps"])
for step in range(steps):
    observation, *_ = env.step(policy(observation))
    if step % round(env.metadata["render_fps"] / FRAMES_PER_SECOND) == 0:
        frames.append(Image.fromarray(env.render()).resize((420, 315)))
env.close()
path = picture_folder() / "balancing.gif"
frames[0].save(
    path, save_all=True, append_images=frames[1:], duration=1e3 / FRAMES_PER_SECOND, loop=0
)
print(path)
