"""The command `train`."""

from __future__ import annotations

import time as clock
from pathlib import Path
from typing import Annotated, Literal

from twin.cli import options
from twin.cli.application import app, command_line
from twin.cli.console import line
from twin.cli.options import file_option, option
from twin.cli.values import environment_options, settings_from

AlgorithmName = Literal["ppo", "sac", "ars"]

MAX_STEPS = 1e12
"""Largest number of steps that the user may ask for."""

Steps = Annotated[float, option("Steps of all environments together, such as 3e6.", min=1.0)]
Algorithm = Annotated[
    AlgorithmName | None,
    option("Learning algorithm; default: ppo for tracking and foreign tasks, ars for the others."),
]
Envs = Annotated[
    int | None,
    option("Environments side by side; default: 384 for ars, 64 for others.", min=1),
]
Settings = Annotated[
    list[str] | None,
    option(
        "Hyperparameter of the algorithm, its value as JSON; may be repeated.",
        "--set",
        metavar="KEY=VALUE",
    ),
]
CheckpointEvery = Annotated[int, option("Steps between two checkpoints.", min=1)]
Resume = Annotated[bool, option("Continue the training in the folder, if any.", "--resume")]


@app.command()
def train(
    environment: options.Environment,
    *,
    out: Annotated[Path, file_option("Checkpoints, logs and policy.", metavar="FOLDER")],
    steps: Steps = 1e6,
    algo: Algorithm = None,
    machine: options.EnvironmentMachine = None,
    configuration: options.Configuration = None,
    engine: options.Engine = "analytic",
    randomisation: options.Randomisation = None,
    envs: Envs = None,
    seed: options.Seed = 0,
    option: options.EnvironmentOptions = None,
    set_: Settings = None,
    checkpoint_every: CheckpointEvery = 250_000,
    threads: Annotated[int, option("Threads of PyTorch.", min=1)] = 1,
    resume: Resume = False,
) -> None:
    """Train a policy; ppo and sac need the extra rl. Ctrl-C saves; --resume continues."""
    from twin.basics.arrays import bounded
    from twin.training.run import PICTURE_FILE, POLICY_FILE
    from twin.training.run import train as run

    start_time, start_processor_time = clock.perf_counter(), clock.process_time()
    training = run(
        environment,
        out,
        steps=round(bounded(steps, "steps", 1.0, MAX_STEPS)),
        algorithm=algo,
        envs=envs,
        seed=seed,
        options=environment_options(
            option,
            machine=machine,
            configuration=configuration,
            engine=engine,
            randomisation=randomisation,
        ),
        hyperparameters=settings_from(set_ or (), "set"),
        resume=resume,
        checkpoint_every=checkpoint_every,
        threads=threads,
        command=command_line(),
    )
    run_time, processor_time = (
        clock.perf_counter() - start_time,
        clock.process_time() - start_processor_time,
    )
    state_text = "finished" if training.finished else "interrupted; continue with --resume"
    line(
        f"{training.steps} steps in {run_time:.0f} s ({processor_time:.0f} s of processor time): "
        f"{state_text}"
    )
    for name in (POLICY_FILE, PICTURE_FILE):
        line(f"wrote {training.folder / name}")
