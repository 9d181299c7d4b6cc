"""PPO of TorchRL on a native vector environment.

The policy corrects the speeds that a motion needs, on real drives. The table shows the reward of a
control period. Give the number of steps: `python torchrl_ppo.py 300000`.
"""

from __future__ import annotations

import sys

import gymnasium as gym
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.modules import IndependentNormal, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import twin.envs  # noqa: F401  registers the environments

ENVS, ROLLOUT, EPOCHS, BATCH = 64, 32, 5, 1024
steps = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 100_000

torch.manual_seed(0)
torch.set_num_threads(1)
vector = gym.make_vec(
    "twin/PoseTracking-v0",
    num_envs=ENVS,
    vectorization_mode="vector_entry_point",
    autoreset_mode="SameStep",
    info=False,
    configuration="hardware",
    position_gain=10.0,
    action_scale=0.02,
)
env = GymWrapper(vector)
env.set_seed(0)
seen, moved = vector.single_observation_space.shape[0], vector.single_action_space.shape[0]


def network(outputs: int, gain: float) -> nn.Sequential:
    """Return two hidden layers, the last one with small weights."""
    last = nn.Linear(64, outputs)
    nn.init.orthogonal_(last.weight, gain)
    return nn.Sequential(nn.Linear(seen, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), last)


class Gaussian(nn.Module):
    """Mean of a network, and a standard deviation that does not depend on the observation."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = network(moved, 0.01)
        self.deviation = nn.Parameter(torch.full((moved,), -1.5))

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return mean and deviation of actions for observations."""
        mean = self.mean(observation)
        return mean, self.deviation.exp().expand_as(mean)


names = ["loc", "scale"]
actor = ProbabilisticActor(
    TensorDictModule(Gaussian(), ["observation"], names),
    in_keys=names,
    distribution_class=IndependentNormal,
    return_log_prob=True,
)
critic = ValueOperator(network(1, 1.0), in_keys=["observation"])
advantage = GAE(gamma=0.8, lmbda=0.9, value_network=critic, average_gae=True)
loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.0, critic_coeff=0.5)
learner = torch.optim.Adam(loss.parameters(), lr=1e-3)
batch = ENVS * ROLLOUT
collector = Collector(
    env,
    actor,
    frames_per_batch=batch,
    total_frames=max(batch, steps // batch * batch),
    auto_register_policy_transforms=False,
)
rows, updates = [], max(1, steps // batch)
for update, data in enumerate(collector):
    with torch.no_grad():
        advantage(data)
    flat = data.reshape(-1)
    for part in (part for _ in range(EPOCHS) for part in torch.randperm(batch).split(BATCH)):
        found = loss(flat[part])
        learner.zero_grad()
        (found["loss_objective"] + found["loss_critic"]).backward()
        nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
        learner.step()
    if update % max(1, updates // 8) == 0 or update == updates - 1:
        rows.append(((update + 1) * batch, float(data["next", "reward"].mean())))
collector.shutdown()
for label, *values in (("steps", "reward"), *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))
