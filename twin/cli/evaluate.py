"""The command `evaluate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from twin.cli.application import EngineName, app
from twin.cli.train import (
    ConfigurationOption,
    Environment,
    EnvironmentOptions,
    MachineOption,
    RandomisationOption,
)


@app.command()
def evaluate(
    environment: Environment,
    policy: Annotated[
        list[str],
        typer.Option(
            metavar="FILE|NAME",
            help="A policy's file or name, zero for no action, or a controller; may be repeated. "
            "Differences are from the first.",
        ),
    ],
    engine: Annotated[
        list[EngineName] | None,
        typer.Option(help="What computes the motion; may be repeated. Default: all."),
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Of each on each engine.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Of the first episode.")] = 1_000_000,
    machine: MachineOption = None,
    configuration: ConfigurationOption = None,
    randomisation: RandomisationOption = None,
    option: EnvironmentOptions = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes to use; default: one per core.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all episodes as JSON.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the table as Markdown.")
    ] = None,
) -> None:
    """Run policies and baselines in the same episodes on several engines, with 95 % intervals.

    Options of the environment are those that the first policy was trained with, where none are
    given.
    """
    from twin.commands import evaluate as commands

    commands.evaluate(
        environment,
        policy,
        engines=[name.value for name in engine or EngineName],
        episodes=episodes,
        seed=seed,
        given={"machine": machine, "configuration": configuration, "randomisation": randomisation},
        options=option or [],
        jobs=jobs,
        json=json,
        markdown=markdown,
        command=" ".join(["twin", *sys.argv[1:]]),
    )
