"""Datasets of the four tasks at their three levels: sizes and returns.

    python benchmarks/datasets.py --out FOLDER --page docs/datasets.md

Datasets go to FOLDER/minari, the table to the page between its marks.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from page_section import write_section

from twin.datasets import record_dataset
from twin.datasets.record import DATASET_LEVELS, expert_of
from twin.envs import environment_ids

SEED = 0
TITLES = ("task", "level", "actions", "steps", "mean return", "least", "largest", "Minari [MB]")


def recorded(environment: str, level: str, episodes: int) -> tuple[str, ...]:
    """Record a dataset; return its row of the table."""
    name = environment.rpartition("-")[0].rpartition("/")[2]
    found = record_dataset(
        environment,
        level,
        episodes=episodes,
        dataset=f"twin/{name}/{level}-v0",
        seed=SEED,
        options=expert_of(environment).options,
    )
    returns = [float(episode.rewards.sum()) for episode in found.iterate_episodes()]
    actions = found.storage.metadata["algorithm_name"].replace(" with noise of", ", noise")
    numbers = (np.mean(returns), min(returns), max(returns))
    return (
        name,
        level,
        actions,
        f"{found.total_steps:,}",
        *(f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}" for number in numbers),
        f"{found.storage.get_size():.1f}",
    )


def rows(episodes: int) -> Iterator[tuple[str, ...]]:
    """Yield the row of every task and level."""
    for environment in environment_ids():
        for level in DATASET_LEVELS:
            yield recorded(environment, level, episodes)


def main() -> None:
    """Record, print the rows, and write them into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--out", type=Path, help="default: a folder that is removed")
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = given.out or Path(temporary)
        os.environ["MINARI_DATASETS_PATH"] = str(folder.resolve() / "minari")
        lines = [TITLES, ("---",) * len(TITLES)]
        for row in rows(given.episodes):
            print(*row, sep="  ", flush=True)
            lines.append(row)
    if given.page is not None:
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        note = f"{given.episodes} episodes each, seed {SEED}. Sizes are those of the folders."
        write_section(given.page, "levels", f"{table}\n\n{note}")


if __name__ == "__main__":
    main()
