"""The commands `train` and `evaluate`."""

from __future__ import annotations

import os
import time as clock
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal, get_args

from twin.cli import options
from twin.cli.application import app, command_line
from twin.cli.console import line, paragraph, progress_bar, table
from twin.cli.options import file_option, option
from twin.cli.values import check_files, environment_options, settings_from, write

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
Hyperparameters = Annotated[
    list[str] | None,
    option(
        "Hyperparameter of the algorithm, its value as JSON; may be repeated.",
        "--hyperparameter",
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
    algorithm: Algorithm = None,
    machine: options.EnvironmentMachine = None,
    configuration: options.Configuration = None,
    engine: options.Engine = "analytic",
    randomisation: options.Randomisation = None,
    envs: Envs = None,
    seed: options.Seed = 0,
    option: options.EnvironmentOptions = None,
    hyperparameter: Hyperparameters = None,
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
        algorithm=algorithm,
        envs=envs,
        seed=seed,
        options=environment_options(
            option,
            machine=machine,
            configuration=configuration,
            engine=engine,
            randomisation=randomisation,
        ),
        hyperparameters=settings_from(hyperparameter, "hyperparameter"),
        resume=resume,
        checkpoint_every=checkpoint_every,
        threads=threads,
        command=command_line(),
    )
    run_time = clock.perf_counter() - start_time
    processor_time = clock.process_time() - start_processor_time
    state_text = "finished" if training.finished else "interrupted; continue with --resume"
    line(
        f"{training.steps} steps in {run_time:.0f} s ({processor_time:.0f} s of processor time): "
        f"{state_text}"
    )
    for name in (POLICY_FILE, PICTURE_FILE):
        line(f"wrote {training.folder / name}")


Policy = Annotated[
    list[str],
    option(
        "A policy's file or name, zero for no action, a controller in twin/PoseTracking-v0, "
        "or a law: isolation_law, balance_law, tilt_law, classical, adaptive; may be repeated. "
        "Differences are from the first.",
        metavar="FILE|NAME",
    ),
]
Engine = Annotated[
    list[str] | None,
    option(f"{options.ENGINES_HELP}; default: all.", metavar="NAME"),
]
Episodes = Annotated[int, option("Episodes of each policy on each engine.", min=1)]


@app.command()
def evaluate(
    environment: options.Environment,
    *,
    policy: Policy,
    engine: Engine = None,
    episodes: Episodes = 20,
    seed: Annotated[int, option("Seed of the first episode.", min=0)] = 1_000_000,
    machine: options.EnvironmentMachine = None,
    configuration: options.Configuration = None,
    randomisation: options.Randomisation = None,
    option: options.EnvironmentOptions = None,
    jobs: options.Jobs = None,
    json: options.Json = None,
    markdown: Annotated[Path | None, file_option("Write the table as Markdown.")] = None,
) -> None:
    """Run policies and baselines in the same episodes on several engines, with 95 % intervals.

    Options of the environment are those that the first policy was trained with; given ones take
    their place, and the differences are printed.
    """
    from twin.training.evaluation import (
        as_json,
        as_markdown,
        changes_from_training,
        count_parts,
        report_columns,
        report_rows,
    )
    from twin.training.evaluation import evaluate as run

    check_files(json=json, markdown=(markdown, ".md"))
    engines = engine or get_args(options.EngineName)
    part_count = count_parts(len(policy), len(engines), episodes)
    with progress_bar("evaluating", part_count, done=1) as show:
        evaluation = run(
            environment,
            policy,
            engines=engines,
            episodes=episodes,
            seed=seed,
            options=environment_options(
                option, machine=machine, configuration=configuration, randomisation=randomisation
            ),
            jobs=jobs or ((os.cpu_count() or 1) if find_spec("joblib") else 1),
            show=show,
        )
    for sentence in changes_from_training(evaluation):
        paragraph(sentence, bold=True)
    metric_name, _, unit = evaluation.titles[0].partition(" [")
    titles = [*report_columns(evaluation)[:-1], f"difference [{unit}" if unit else "difference [1]"]
    table(titles, report_rows(evaluation))
    line(
        f"{episodes} episode{'s' * (episodes != 1)}, the same for all; means with 95 % intervals; "
        f"differences of the {metric_name} from {policy[0]}, by episode"
    )
    write(json, as_json(evaluation, command_line()))
    write(markdown, as_markdown(evaluation, command_line()))
