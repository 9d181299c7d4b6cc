"""PPO whose observations and actions never leave the graphics card.

    python ppo_on_the_card.py                    8,192 environments on the card
    python ppo_on_the_card.py 20480 --processor  64 environments on the processor

The policy corrects the speeds that a motion needs, on real drives. Training ends after the given
number of steps, or as soon as the mean reward of a control period reaches that of the shipped
policy, which takes a processor some 220,000 steps. Without a graphics card the same program runs
on the processor.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Iterator
from time import perf_counter
from typing import Any, NamedTuple

import gymnasium as gym
import torch
from torch import Tensor, nn

import twin.envs  # noqa: F401  registers the environments

SHIPPED_REWARD = 0.928
"""Mean reward of a control period with the policy `stewart_tracking` of the package."""

ROLLOUT_STEPS = 16
"""Control periods between two updates."""

UPDATES_PER_EPISODE = 32
"""An episode has 500 control periods; the reward is the mean of as many."""

EPOCHS = 4
MINIBATCHES = 4
DISCOUNT = 0.8
TRACE_DECAY = 0.9
CLIP_RANGE = 0.2
LEARNING_RATE = 1e-3
INITIAL_LOG_STD = -1.5


class Agent(nn.Module):
    """Mean and standard deviation of the actions, and the value of an observation."""

    def __init__(self, n_observations: int, n_actions: int) -> None:
        """Make two networks of two hidden layers; the mean begins near zero."""
        super().__init__()

        def network(n_outputs: int, gain: float) -> nn.Sequential:
            last = nn.Linear(64, n_outputs)
            nn.init.orthogonal_(last.weight, gain)
            hidden = (nn.Linear(n_observations, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
            return nn.Sequential(*hidden, last)

        self.mean = network(n_actions, 0.01)
        self.critic = network(1, 1.0)
        self.log_std = nn.Parameter(torch.full((n_actions,), INITIAL_LOG_STD))

    def value(self, observation: Tensor) -> Tensor:
        """Return the expected return of observations."""
        return self.critic(observation).squeeze(-1)

    def log_probability(self, observation: Tensor, action: Tensor) -> Tensor:
        """Return the log density of actions, without its constant term."""
        deviation = (action - self.mean(observation)) * torch.exp(-self.log_std)
        return -(0.5 * deviation.square() + self.log_std).sum(-1)


class Rollout(NamedTuple):
    """Control periods of all environments, `(steps, environments, ...)` each."""

    observations: Tensor
    actions: Tensor
    log_probabilities: Tensor
    rewards: Tensor
    terminated: Tensor
    ended: Tensor
    counted: Tensor
    """0 where a step only began the next episode, else 1"""


class Samples(NamedTuple):
    """What the loss needs of control periods, `(count, ...)` each."""

    observations: Tensor
    actions: Tensor
    log_probabilities: Tensor
    advantages: Tensor
    returns: Tensor
    counted: Tensor


def samples_of(rollout: Rollout, values: Tensor) -> Samples:
    """Return a rollout with its generalised advantages; `values` has one more row than it."""
    advantages, following = torch.empty_like(rollout.rewards), torch.zeros_like(values[0])
    for t in reversed(range(ROLLOUT_STEPS)):
        # An episode that is cut off would have gone on: only a failure has no value behind it.
        future = DISCOUNT * (1.0 - rollout.terminated[t]) * values[t + 1]
        error = rollout.rewards[t] + future - values[t]
        going = 1.0 - rollout.ended[t]
        following = rollout.counted[t] * (error + DISCOUNT * TRACE_DECAY * going * following)
        advantages[t] = following
    of_actions = rollout.observations, rollout.actions, rollout.log_probabilities
    parts = (*of_actions, advantages, advantages + values[:-1], rollout.counted)
    return Samples(*(part.flatten(0, 1) for part in parts))


def loss_of(agent: Agent, batch: Samples) -> Tensor:
    """Return the clipped loss of PPO."""
    weight = batch.counted / batch.counted.sum()
    mean = (weight * batch.advantages).sum()
    std = (weight * (batch.advantages - mean).square()).sum().sqrt()
    advantage = (batch.advantages - mean) / (std + 1e-8)
    log_probability = agent.log_probability(batch.observations, batch.actions)
    ratio = (log_probability - batch.log_probabilities).exp()
    clipped = ratio.clamp(1.0 - CLIP_RANGE, 1.0 + CLIP_RANGE)
    gain = torch.minimum(ratio * advantage, clipped * advantage)
    value_error = (agent.value(batch.observations) - batch.returns).square()
    return (weight * (0.5 * value_error - gain)).sum()


def update(agent: Agent, optimiser: torch.optim.Optimizer, samples: Samples) -> None:
    """Improve the agent by some epochs over the samples, in random order."""
    count = len(samples.counted)
    for _ in range(EPOCHS):
        order = torch.rand(count, device=samples.counted.device).argsort()
        for part in order.chunk(MINIBATCHES):
            loss = loss_of(agent, Samples(*(values[part] for values in samples)))
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimiser.step()


class Progress(NamedTuple):
    """The state of a training after an update."""

    steps: int
    seconds: float
    """since the environments have been compiled"""
    reward: float
    """mean of the control periods of the last episode, or of all before there is one"""


def train(
    device: str, n_environments: int, n_steps: int, target: float = SHIPPED_REWARD
) -> Iterator[Progress]:
    """Yield the progress after each update, until `n_steps` or the target reward is reached.

    Args:
        device: "cuda" or "cpu".
        n_environments: machines that are simulated at once.
        n_steps: control periods of all machines.
        target: mean reward of a control period.
    """
    torch.manual_seed(0)
    envs = gym.make_vec(
        "twin/PoseTracking-v0",
        num_envs=n_environments,
        vectorization_mode="vector_entry_point",
        configuration="hardware",
        position_gain=10.0,
        action_scale=0.05,
        **({"device": "cuda"} if device == "cuda" else {}),
    )
    n_observations = envs.single_observation_space.shape[0]
    agent = Agent(n_observations, envs.single_action_space.shape[0]).to(device)
    optimiser = torch.optim.Adam(agent.parameters(), lr=LEARNING_RATE)

    def tensor(values: Any) -> Tensor:
        """Return a copy on the device: the next step overwrites what an environment returns."""
        return torch.as_tensor(values, device=device).to(torch.float32, copy=True)

    def step(action: Tensor) -> tuple[Tensor, ...]:
        on_device = action.double().contiguous()
        return tuple(
            map(tensor, envs.step(on_device if device == "cuda" else on_device.numpy())[:4])
        )

    observation = tensor(envs.reset(seed=0)[0])
    step(torch.zeros(n_environments, envs.single_action_space.shape[0], device=device))
    observation, ended = tensor(envs.reset(seed=0)[0]), torch.zeros(n_environments, device=device)
    start, steps, reward = perf_counter(), 0, 0.0
    rewards = deque[Tensor](maxlen=UPDATES_PER_EPISODE)
    while steps < n_steps and (len(rewards) < UPDATES_PER_EPISODE or reward < target):
        periods = []
        with torch.no_grad():
            for _ in range(ROLLOUT_STEPS):
                noise = torch.randn(n_environments, len(agent.log_std), device=device)
                action = agent.mean(observation) + agent.log_std.exp() * noise
                log_probability = agent.log_probability(observation, action)
                found, gained, terminated, truncated = step(action)
                counted, ended = 1.0 - ended, torch.maximum(terminated, truncated)
                periods.append(
                    (observation, action, log_probability, gained, terminated, ended, counted)
                )
                observation = found
            rollout = Rollout(*map(torch.stack, zip(*periods, strict=True)))
            values = agent.value(torch.cat([rollout.observations, observation[None]]))
            samples = samples_of(rollout, values)
        update(agent, optimiser, samples)
        steps += ROLLOUT_STEPS * n_environments
        rewards.append((rollout.rewards * rollout.counted).sum() / rollout.counted.sum())
        reward = float(torch.stack(list(rewards)).mean())
        yield Progress(steps, perf_counter() - start, reward)
    envs.close()


def main() -> None:
    """Train, and print the mean reward of a control period on the way."""
    parser = argparse.ArgumentParser(description="PPO on a graphics card.")
    parser.add_argument("steps", nargs="?", type=int, default=100_000_000)
    parser.add_argument("--processor", action="store_true", help="64 environments without a card")
    arguments = parser.parse_args()
    on_card = torch.cuda.is_available() and not arguments.processor
    device, n_environments = ("cuda", 8192) if on_card else ("cpu", 64)
    torch.set_num_threads(1)
    print(f"{'steps':>12} {'seconds':>8} {'reward':>8}")
    for number, progress in enumerate(train(device, n_environments, arguments.steps), start=1):
        if number % UPDATES_PER_EPISODE == 0 or progress.steps >= arguments.steps:
            print(f"{progress.steps:12} {progress.seconds:8.2f} {progress.reward:8.4f}", flush=True)
    print(f"{progress.reward:.4f} after {progress.seconds:.1f} s")


if __name__ == "__main__":
    main()
