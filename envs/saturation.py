"""Check of an environment's observations: the share of entries at their bounds."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from twin.envs.channels import channel_slices
from twin.envs.registration import register_all
from twin.errors import InputError, brief
from twin.kernels.tasks.observation import LARGEST


def saturated_shares(
    environment: str, *, steps: int = 200, envs: int = 8, seed: int = 0, **options: Any
) -> dict[str, float]:
    """Return the share of entries at a bound under random actions, by the names of observations.

    A learner cannot tell apart what lies beyond the bounds: a share of some percent asks for
    another scale, which the option `scales` takes.

    Args:
        environment: id of one of the package's environments.
        steps: control periods.
        envs: environments side by side.
        seed: of episodes and actions.
        options: of the environment, such as the machine.

    Raises:
        InputError: counts below one, or options that cannot be used.
    """
    for name, value in (("steps", steps), ("envs", envs)):
        if type(value) is not int or value < 1:
            raise InputError(name, f"must be a whole number from 1, not {brief(value)}")
    register_all()
    env: Any = gymnasium.make_vec(
        environment,
        envs,
        vectorization_mode="vector_entry_point",
        **{**options, "autoreset_mode": "SameStep"},
    )
    try:
        env.reset(seed=seed)
        random = np.random.default_rng(seed)
        share = np.zeros(env.single_observation_space.shape)
        for _ in range(steps):
            observation, *_ = env.step(random.uniform(-1.0, 1.0, env.action_space.shape))
            share += (np.abs(observation) >= LARGEST).mean(axis=0) / steps
        places = channel_slices(env.task.observations)
        return {name: float(share[place].mean()) for name, place in places.items()}
    finally:
        env.close()
