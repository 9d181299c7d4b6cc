"""The command `record`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from twin.charts.results import Cell
from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, paragraph, table
from twin.cli.options import file_option, option
from twin.cli.values import check_files, environment_options
from twin.errors import InputError


@app.command()
def record(
    environment: options.Environment,
    *,
    dataset: Annotated[
        str,
        option("Id of the new dataset, as twin/tracking/random-v0.", metavar="ID"),
    ],
    policy: Annotated[
        str,
        option(
            "random, zero, medium, expert, a controller, a law of the task, or a trained "
            "policy's name or file.",
            metavar="FILE|NAME",
        ),
    ] = "random",
    episodes: Annotated[int, option("Number of episodes.", min=1)] = 100,
    seed: options.Seed = 0,
    machine: options.EnvironmentMachine = None,
    configuration: options.Configuration = None,
    engine: options.OptionalEngine = None,
    randomisation: options.Randomisation = None,
    option: options.EnvironmentOptions = None,
    description: Annotated[str, option("Description of the dataset.")] = "",
    levels: Annotated[
        bool,
        option("Three datasets: random, medium and expert, in their ids.", "--levels"),
    ] = False,
    first_episode: Annotated[
        Path | None, file_option("Write the first episode as a log, too: .mcap, .csv or .parquet.")
    ] = None,
    replace: options.ReplaceFile = False,
) -> None:
    """Record episodes of an environment as a Minari dataset, in Minari's own folder.

    Options of the environment are those that a trained policy was trained with, or that the expert
    acts in; given ones take their place.
    """
    from twin.datasets import episode_log, record_dataset
    from twin.logs import write_log

    check_files(replace=replace, first_episode=(first_episode, ".mcap", ".csv", ".parquet"))
    overrides = environment_options(
        option,
        machine=machine,
        configuration=configuration,
        engine=engine,
        randomisation=randomisation,
    )
    datasets = {policy: dataset}
    if levels:
        datasets, overrides = _levels(environment, policy, dataset, overrides)
    common: dict[str, Any] = {"episodes": episodes, "seed": seed, "description": description}
    rows = []
    for actor, name in datasets.items():
        _say_changes(environment, actor, overrides)
        recording = record_dataset(environment, actor, dataset=name, options=overrides, **common)
        rows.append(_row(actor, recording))
        line(f"wrote {name} to {recording.storage.data_path.parent}")
        if first_episode is not None:
            log_file = first_episode
            if levels:
                log_file = first_episode.with_stem(f"{first_episode.stem}_{actor}")
            line(f"wrote {write_log(episode_log(recording), log_file)}")
    titles = ("actor", "episodes", "steps", "mean return", "least", "largest", "size [MB]")
    table(("level" if levels else "policy", *titles), rows)


def _say_changes(environment: str, policy: str, own_options: dict[str, Any]) -> None:
    """Print the options that differ from those of a policy's training."""
    from twin.datasets.record import requested
    from twin.training.environments import change_text, option_differences

    actor, trained_policy, options = requested(environment, policy, own_options)
    differences = {} if trained_policy is None else option_differences(trained_policy, options)
    if differences:
        paragraph(change_text(actor, differences, "recorded"), bold=True)


def _levels(
    environment: str, policy: str, dataset: str, own_options: dict[str, Any]
) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the id of the dataset of every level, and the options that all have.

    Raises:
        InputError: a policy is given too, or there is no expert.
    """
    from twin.datasets.record import DATASET_LEVELS, expert_of

    if policy != "random":
        raise InputError("levels", "takes no policy: there is an expert for every task")
    id_prefix, _, version = dataset.rpartition("-")
    ids = {level: f"{id_prefix}/{level}-{version}" for level in DATASET_LEVELS}
    return ids, {**expert_of(environment).options, **own_options}


def _row(name: str, dataset: Any) -> tuple[Cell, ...]:
    """Return the row of the table for a dataset."""
    returns = [float(episode.rewards.sum()) for episode in dataset.iterate_episodes()]
    numbers = (sum(returns) / len(returns), min(returns), max(returns))
    return (
        name,
        dataset.storage.metadata["algorithm_name"],
        dataset.total_episodes,
        dataset.total_steps,
        *numbers,
        float(dataset.storage.get_size()),
    )
