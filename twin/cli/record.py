"""The command `record`."""

from __future__ import annotations

from typing import Annotated

import typer

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line
from twin.cli.values import environment_options


@app.command()
def record(
    environment: options.Environment,
    *,
    dataset: Annotated[
        str,
        typer.Option(metavar="ID", help="Id of the new dataset, as twin/tracking/random-v0."),
    ],
    policy: Annotated[
        str,
        typer.Option(
            metavar="FILE|NAME",
            help="random, zero, a controller, or a trained policy's name or file.",
        ),
    ] = "random",
    episodes: Annotated[int, typer.Option(min=1, help="Number of episodes.")] = 100,
    seed: options.Seed = 0,
    machine: options.EnvironmentMachine = None,
    configuration: options.Configuration = None,
    engine: options.OptionalEngine = None,
    randomisation: options.Randomisation = None,
    option: options.EnvironmentOptions = None,
    description: Annotated[str, typer.Option(help="Description of the dataset.")] = "",
) -> None:
    """Record episodes of an environment as a Minari dataset, in Minari's own folder.

    Options of the environment are those that a trained policy was trained with; given ones take
    their place.
    """
    from twin.datasets import record_dataset

    own = environment_options(
        option,
        machine=machine,
        configuration=configuration,
        engine=engine,
        randomisation=randomisation,
    )
    found = record_dataset(
        environment,
        policy,
        episodes=episodes,
        dataset=dataset,
        seed=seed,
        options=own,
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
