"""The command `record`."""

from __future__ import annotations

from typing import Annotated

import typer

from twin.cli.application import EngineName, app
from twin.cli.train import Environment, EnvironmentOptions


@app.command()
def record(
    environment: Environment,
    dataset: Annotated[
        str,
        typer.Option(metavar="ID", help="Of the new dataset, such as twin/tracking/random-v0."),
    ],
    policy: Annotated[
        str,
        typer.Option(
            metavar="FILE|NAME",
            help="random, zero, a controller, or a trained policy's name or file.",
        ),
    ] = "random",
    episodes: Annotated[int, typer.Option(min=1, help="How many to record.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of the whole recording.")] = 0,
    machine: Annotated[
        str | None, typer.Option(metavar="MACHINE", help="Name, or path of a platform.toml.")
    ] = None,
    configuration: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Configuration of the machine's file, such as hardware."),
    ] = None,
    engine: Annotated[
        EngineName | None, typer.Option(help="What computes the motion; default: analytic.")
    ] = None,
    randomisation: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="What differs between episodes."),
    ] = None,
    option: EnvironmentOptions = None,
    description: Annotated[str, typer.Option(help="What the dataset says about itself.")] = "",
) -> None:
    """Record episodes of an environment as a Minari dataset, in the folder Minari looks in.

    Options of the environment are those that a trained policy was trained with, where none are
    given.
    """
    from twin.commands import record as commands

    commands.record(
        environment,
        policy,
        episodes=episodes,
        dataset=dataset,
        seed=seed,
        given={
            "machine": machine,
            "configuration": configuration,
            "engine": None if engine is None else engine.value,
            "randomisation": randomisation,
        },
        options=option or [],
        description=description,
    )
