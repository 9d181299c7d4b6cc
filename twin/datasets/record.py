"""Recording episodes of an environment as a Minari dataset."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twin import __version__
from twin.basics.arrays import whole_number
from twin.basics.optional import optional
from twin.basics.progress import Progress
from twin.datasets.choice import make_actor, saved_policy
from twin.datasets.episode import play
from twin.datasets.levels import MEDIUM, halfway, of_level, step_limit
from twin.datasets.storage import Writer
from twin.errors import InputError, brief
from twin.training.environments import channels, checked_environment
from twin.training.options import explained_differences, merged_options
from twin.training.policy import Policy

if TYPE_CHECKING:
    import gymnasium

DATASET_ID = re.compile(r"(?:[-_\w][-_\w/]*[-_\w]/)?[-_\w]+?-v\d+")
"""Id of Minari: namespaces, a name, a version."""

LARGEST_SEED = 2**32 - 1
"""Upper bound of seeds of recordings, exclusive."""


def record_dataset(
    environment: str,
    policy: Any = "random",
    *,
    episodes: int,
    dataset: str,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    description: str = "",
    progress: bool | None = None,
) -> Any:
    """Record episodes and return them as a `minari.MinariDataset`.

    The dataset is stored in Minari's folder, which the environment variable MINARI_DATASETS_PATH
    names. It appears there when it is complete. Every episode has a seed of its own in its
    metadata: a reset with it and the recorded actions give the recorded observations again. `infos`
    hold the signals of `info` in physical units.

    Args:
        environment: id, such as "twin/PoseTracking-v0".
        policy: "random", "zero", the name of a controller (where motions are followed) or of a law
            of the task, "medium", "expert", a function from observations to actions, or the name or
            file of a trained policy.
        episodes: their number.
        dataset: id of the dataset, such as "twin/tracking/random-v0".
        seed: of the whole recording.
        options: of the environment, in place of those that a trained policy was trained with, or
            that the expert acts in.
        description: of the dataset; default: one made from the arguments.
        progress: whether to show a progress bar; default: if it takes a while.

    Raises:
        InputError: an argument that cannot be used, or a dataset of that id exists.
        MissingDependencyError: Minari or h5py is not installed.
        MachineNotFoundError: no such machine.
        ParameterError: a platform.toml that cannot be used.
    """
    for library in ("h5py", "minari"):
        optional(library)
    place = _place(dataset)
    whole_number(episodes, "episodes", 1)
    whole_number(seed, "seed", 0, LARGEST_SEED)
    chosen, saved, own = requested(environment, policy, options)
    with explained_differences(saved, own, str(policy)):
        env = _make(environment, own)
    try:
        actor: Any = make_actor(chosen, env, saved)
        if policy == MEDIUM:
            actor = halfway(env, actor, progress)
        summary = {
            "algorithm_name": actor.name,
            "description": description or _description(environment, actor.name, episodes, seed),
            "requirements": [f"platform-twin=={__version__}"],
            "recording_seed": int(seed),
            **_channels(env),
        }
        with Writer(place, dataset, env, summary) as writer:
            _run(
                env, actor, np.random.SeedSequence(seed).generate_state(episodes), writer, progress
            )
    finally:
        env.close()
    return optional("minari").load_dataset(dataset)


class Request(NamedTuple):
    """Actor of a recording, and the options of the environment that it acts in."""

    actor: Any
    """name, file or function; the expert's for a level"""
    saved: Policy | None
    """the trained policy of that name; None for another actor"""
    options: dict[str, Any]


def requested(environment: str, policy: Any, options: Mapping[str, Any] | None) -> Request:
    """Return what `record_dataset` makes of its policy and options.

    Raises:
        InputError: no such policy, one for another environment, or another scale of its actions.
    """
    chosen, given = of_level(environment, policy, options)
    saved = saved_policy(chosen, environment)
    return Request(chosen, saved, merged_options(saved, given, str(policy)))


def _run(
    env: gymnasium.Env[Any, Any], actor: Any, seeds: Any, writer: Writer, progress: bool | None
) -> None:
    """Record one episode for each seed."""
    limit = step_limit(env)
    with Progress("recording", limit * len(seeds), progress) as bar:
        for number, seed in enumerate(seeds.tolist()):
            writer.write(play(env, actor, seed, bar, number * limit), seed)


def _place(dataset: Any) -> Path:
    """Return the folder of a new dataset."""
    if not isinstance(dataset, str) or not DATASET_ID.fullmatch(dataset):
        raise InputError(
            "dataset",
            f"must look like namespace/name-v0, not {brief(dataset)}: letters, digits, - _ /",
        )
    place = Path(optional("minari.storage").get_dataset_path(dataset))
    if place.exists():
        raise InputError("dataset", f"{dataset} exists; take another name or version")
    return place


def _make(environment: Any, options: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    """Return an environment that a dataset can describe."""
    import gymnasium

    if "randomisation" in options:
        options["randomisation"] = _as_data(options["randomisation"])
    with checked_environment(environment):
        env: gymnasium.Env[Any, Any] = gymnasium.make(environment, **options)
    for kind, space in (("actions", env.action_space), ("observations", env.observation_space)):
        if not isinstance(space, gymnasium.spaces.Box):
            env.close()
            raise InputError(
                "environment", f"the {kind} of {environment} are no vectors of numbers"
            )
    try:
        if env.spec is not None:
            env.spec.to_json()
    except (TypeError, ValueError) as error:
        env.close()
        raise InputError(
            "options", f"a dataset cannot keep them ({error}); give names, numbers and tables"
        ) from None
    return env


def _as_data(randomisation: Any) -> Any:
    """Return a randomisation as plain data, which the dataset can keep."""
    from twin.machine.randomisation import Randomisation, as_randomisation

    whole = isinstance(randomisation, (Randomisation, Path))
    if whole or (isinstance(randomisation, str) and randomisation.endswith(".toml")):
        return as_randomisation(randomisation).as_dict()
    return randomisation


def _description(environment: str, name: str, episodes: int, seed: int) -> str:
    return (
        f"{episodes} episodes of {environment} under {name}, recorded with seed {seed} by "
        f"platform-twin {__version__}. Infos are in SI units."
    )


def _channels(env: gymnasium.Env[Any, Any]) -> dict[str, Any]:
    """Return the names, units and scales of observations and actions."""
    return {
        f"{kind}_channels": [channel.model_dump(mode="json") for channel in found]
        for kind, found in zip(("observation", "action"), channels(env), strict=True)
    }
