"""Record a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twin.commands.console import line
from twin.commands.settings import environment_options
from twin.datasets import record_dataset


def record(
    environment: str,
    policy: str,
    *,
    episodes: int,
    dataset: str,
    seed: int,
    given: Mapping[str, Any],
    options: Sequence[str],
    description: str,
) -> None:
    """Record episodes and say where they are.

    Raises:
        InputError: an argument that cannot be used.
        MissingDependencyError: Minari or h5py is not installed.
        MachineNotFoundError: no such machine.
        ParameterError: a platform.toml that cannot be used.
    """
    chosen = environment_options(given, options)
    found = record_dataset(
        environment,
        policy,
        episodes=episodes,
        dataset=dataset,
        seed=seed,
        options=chosen or None,
        description=description,
    )
    rewards = [float(episode.rewards.sum()) for episode in found.iterate_episodes()]
    count = found.total_episodes
    line(
        f"{count} {'episode' if count == 1 else 'episodes'} of {environment} under "
        f"{found.storage.metadata['algorithm_name']}: {found.total_steps} steps, "
        f"mean return {sum(rewards) / len(rewards):.4g}"
    )
    line(f"wrote {dataset} to {found.storage.data_path.parent}")
