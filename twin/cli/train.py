"""The command `train`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from twin.cli.application import EngineName, app


class AlgorithmName(StrEnum):
    """Algorithms that `train` takes."""

    PPO = "ppo"
    SAC = "sac"


Environment = Annotated[
    str,
    typer.Argument(metavar="ENV", help="Id of an environment, such as twin/PoseTracking-v0."),
]

EnvironmentOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="Option of the environment, its value as JSON or a word; may be repeated.",
    ),
]

MachineOption = Annotated[
    str | None, typer.Option(metavar="MACHINE", help="Name, or path of a platform.toml.")
]

ConfigurationOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Configuration of the machine's file, such as hardware."),
]

RandomisationOption = Annotated[
    str | None, typer.Option(metavar="NAME|FILE", help="What differs between episodes.")
]

Hyperparameters = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Hyperparameter of the algorithm, its value as JSON; may be repeated.",
    ),
]


@app.command()
def train(
    environment: Environment,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where checkpoints, logs and policy are written.")
    ],
    steps: Annotated[
        float, typer.Option(min=1.0, help="Of all environments together; 3e6 is three million.")
    ] = 1e6,
    algo: Annotated[AlgorithmName, typer.Option(help="What learns.")] = AlgorithmName.PPO,
    machine: MachineOption = None,
    configuration: ConfigurationOption = None,
    engine: Annotated[
        EngineName, typer.Option(help="What computes the motion.")
    ] = EngineName.ANALYTIC,
    randomisation: RandomisationOption = None,
    envs: Annotated[int, typer.Option(min=1, help="Environments side by side.")] = 64,
    seed: Annotated[int, typer.Option(min=0, help="Of everything random.")] = 0,
    option: EnvironmentOptions = None,
    set_: Hyperparameters = None,
    checkpoint_every: Annotated[int, typer.Option(min=1, help="Steps.")] = 250_000,
    threads: Annotated[int, typer.Option(min=1, help="Of PyTorch.")] = 1,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with the training that the folder holds, if any."),
    ] = False,
) -> None:
    """Train a policy; needs the extra rl. Ctrl-C saves; --resume goes on."""
    from twin.commands import train as commands

    commands.train(
        environment,
        out,
        steps=round(steps),
        algorithm=algo.value,
        envs=envs,
        seed=seed,
        given={
            "machine": machine,
            "configuration": configuration,
            "engine": engine.value,
            "randomisation": randomisation,
        },
        options=option or [],
        hyperparameters=set_ or [],
        resume=resume,
        checkpoint_every=checkpoint_every,
        threads=threads,
        command=" ".join(["twin", *sys.argv[1:]]),
    )
