"""PPO in one file on a native vector environment, with PyTorch alone.

The policy corrects the speeds that a motion needs, on real drives. The table shows the reward of a
control period and the error of position [mm]. Give the number of steps: `python ppo.py 300000`.
"""

from __future__ import annotations

import sys

import gymnasium as gym
import numpy as np
import torch
from torch import nn

import twin.envs  # noqa: F401  registers the environments

ENVS, ROLLOUT, EPOCHS, BATCH = 64, 32, 5, 1024
DISCOUNT, TRACE, CLIP, RATE = 0.8, 0.9, 0.2, 1e-3
steps = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 100_000

torch.manual_seed(0)
torch.set_num_threads(1)
envs = gym.make_vec(
    "twin/PoseTracking-v0",
    num_envs=ENVS,
    vectorization_mode="vector_entry_point",
    autoreset_mode="SameStep",
    configuration="hardware",
    position_gain=10.0,
    action_scale=0.02,
)
seen, moved = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]


def network(outputs: int, gain: float) -> nn.Sequential:
    """Return two hidden layers, the last one with small weights."""
    last = nn.Linear(64, outputs)
    nn.init.orthogonal_(last.weight, gain)
    return nn.Sequential(nn.Linear(seen, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), last)


actor, critic = network(moved, 0.01), network(1, 1.0)
deviation = nn.Parameter(torch.full((moved,), -1.5))
parameters = [*actor.parameters(), *critic.parameters(), deviation]
learner = torch.optim.Adam(parameters, lr=RATE)


def value(observation: torch.Tensor) -> torch.Tensor:
    """Return the critic's value of observations."""
    return critic(observation).squeeze(-1)


observation = torch.as_tensor(envs.reset(seed=0)[0])
rows, updates = [], max(1, steps // (ENVS * ROLLOUT))
for update in range(updates):
    states, actions, chances, rewards, values, ends, errors = [], [], [], [], [], [], []
    with torch.no_grad():
        for _ in range(ROLLOUT):
            chosen = torch.distributions.Normal(actor(observation), deviation.exp())
            action = chosen.sample()
            found, reward, terminated, truncated, info = envs.step(action.numpy())
            gained = torch.as_tensor(reward, dtype=torch.float32)
            for row in np.flatnonzero(truncated & ~terminated):  # the episode would have gone on
                gained[row] += DISCOUNT * value(torch.as_tensor(info["final_obs"][row]))
            states.append(observation)
            actions.append(action)
            chances.append(chosen.log_prob(action).sum(-1))
            rewards.append(gained)
            values.append(value(observation))
            ends.append(torch.as_tensor(terminated | truncated, dtype=torch.float32))
            errors.append(np.linalg.norm(info["position_error"], axis=1).mean())
            observation = torch.as_tensor(found)
        following, advantage, advantages = value(observation), torch.zeros(ENVS), []
        for t in reversed(range(ROLLOUT)):
            going = 1.0 - ends[t]
            wrong = rewards[t] + DISCOUNT * going * following - values[t]
            advantage = wrong + DISCOUNT * TRACE * going * advantage
            advantages.insert(0, advantage)
            following = values[t]
    state, action, old, gain = map(torch.cat, (states, actions, chances, advantages))
    target, gain = gain + torch.cat(values), (gain - gain.mean()) / (gain.std() + 1e-8)
    for part in (part for _ in range(EPOCHS) for part in torch.randperm(len(gain)).split(BATCH)):
        chosen = torch.distributions.Normal(actor(state[part]), deviation.exp())
        ratio = (chosen.log_prob(action[part]).sum(-1) - old[part]).exp()
        kept = ratio.clamp(1.0 - CLIP, 1.0 + CLIP)
        loss = -torch.min(ratio * gain[part], kept * gain[part]).mean()
        loss = loss + 0.5 * (value(state[part]) - target[part]).square().mean()
        learner.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 0.5)
        learner.step()
    if update % max(1, updates // 8) == 0 or update == updates - 1:
        mean, error = float(torch.cat(rewards).mean()), 1e3 * float(np.mean(errors))
        rows.append(((update + 1) * ENVS * ROLLOUT, mean, error))
envs.close()
for label, *values in (("steps", "reward", "position error [mm]"), *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))
