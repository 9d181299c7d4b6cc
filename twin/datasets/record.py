"""Recording episodes of an environment as a Minari dataset.

A recorded episode has arrays over its steps, and its metadata.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twin import __version__
from twin.basics.arrays import whole_number
from twin.basics.files import remove_leftovers, temporary_place
from twin.basics.optional import optional
from twin.basics.progress import Progress
from twin.datasets.actors import (
    Actor,
    ControllerActor,
    NoisyActor,
    RandomActor,
    as_action,
    make_actor,
    saved_policy,
)
from twin.errors import InputError, TwinError, brief
from twin.logs import Channel, Log, signal_units
from twin.training.environments import (
    channels,
    checked_environment,
    explained_differences,
    merged_options,
)
from twin.training.policy import Policy

if TYPE_CHECKING:
    import gymnasium

RECORDING_PREFIX = ".recording-"
"""Beginning of the names of unfinished recordings' folders; Minari ignores hidden folders."""


Numbers = dict[str, Any]
"""Lists of arrays by name, one entry per instant; nested dictionaries contain the same."""


class EpisodeRecord:
    """Collects observations, actions, rewards and infos from reset to end.

    Numbers of `info` are kept for every instant. Texts, such as the reason of the end, and entries
    of the reset alone, such as drawn parameters, become metadata of the episode.
    """

    def __init__(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Start with the results of `reset`."""
        self._observations = [np.array(observation)]
        self._infos = _lists(info)
        self._first = dict(info)
        self._actions: list[Any] = []
        self._rewards: list[float] = []
        self._ends: list[tuple[bool, bool]] = []
        self._last: Mapping[str, Any] = {}

    def add(
        self,
        action: Any,
        observation: Any,
        reward: Any,
        terminated: Any,
        truncated: Any,
        info: Mapping[str, Any],
    ) -> None:
        """Add an action and the results of `step`."""
        self._actions.append(np.array(action))
        self._observations.append(np.array(observation))
        self._rewards.append(float(reward))
        self._ends.append((bool(terminated), bool(truncated)))
        self._last = info
        _append(self._infos, info)

    @property
    def total(self) -> float:
        """Return of the episode: the sum of its rewards."""
        return sum(self._rewards)

    def buffer(self, number: int, seed: int) -> Any:
        """Return the episode as Minari stores it.

        Raises:
            MissingDependencyError: Minari is not installed.
        """
        end_flags = np.array(self._ends)
        return optional("minari.data_collector").EpisodeBuffer(
            id=number,
            seed=seed,
            observations=np.stack(self._observations),
            actions=np.stack(self._actions),
            rewards=np.array(self._rewards),
            terminations=end_flags[:, 0],
            truncations=end_flags[:, 1],
            infos=_stacked(self._infos),
        )

    def metadata(self) -> dict[str, Any]:
        """Return metadata of the episode: statistics of rewards, texts, entries of the reset.

        Raises:
            MissingDependencyError: Minari is not installed.
        """
        callback = optional("minari").EpisodeMetadataCallback()
        metadata: dict[str, Any] = callback({"rewards": np.array(self._rewards)})
        metadata |= {name: value for name, value in self._last.items() if isinstance(value, str)}
        for name, value in self._first.items():
            if name not in self._last:
                metadata[name] = json.dumps(value, default=_plain)
        return metadata


def play(
    env: gymnasium.Env[Any, Any], actor: Actor, seed: int, bar: Progress, done: int
) -> EpisodeRecord:
    """Return the record of one episode; the progress bar is at `done` steps before it.

    Raises:
        InputError: an actor that gives no actions of the environment.
    """
    observation, info = env.reset(seed=seed)
    record = EpisodeRecord(observation, info)
    actor.begin(seed)
    for step in count(done + 1):
        action = as_action(actor.act(observation), env.action_space)
        observation, reward, terminated, truncated, info = env.step(action)
        record.add(action, observation, reward, terminated, truncated, info)
        bar.tick(step)
        if terminated or truncated:
            break
    return record


def _is_number(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "fiub" and not isinstance(value, Mapping)


def _lists(info: Mapping[str, Any]) -> Numbers:
    """Return a list with its first entry for every numeric value in `info`."""
    lists: Numbers = {}
    for name, value in info.items():
        if isinstance(value, Mapping):
            inner_lists = _lists(value)
            lists |= {name: inner_lists} if inner_lists else {}
        elif _is_number(value):
            lists[name] = [np.array(value)]
    return lists


def _append(lists: Numbers, info: Mapping[str, Any]) -> None:
    """Add the values of an instant; a name that is missing at one instant is removed."""
    for name in list(lists):
        if name not in info:
            del lists[name]
        elif isinstance(lists[name], dict):
            _append(lists[name], info[name])
        else:
            lists[name].append(np.array(info[name]))


def _stacked(lists: Numbers) -> Numbers:
    return {
        name: _stacked(value) if isinstance(value, dict) else np.stack(value)
        for name, value in lists.items()
    }


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)


@contextmanager
def new_dataset(
    place: Path, dataset: str, env: gymnasium.Env[Any, Any], summary: Mapping[str, Any]
) -> Iterator[Any]:
    """Provide the storage of a hidden folder, which becomes a dataset if no error occurs.

    Raises:
        InputError: it cannot be written.
    """
    root = optional("minari.storage").get_dataset_path()
    with ExitStack() as stack:
        with system_faults("dataset", dataset):
            remove_leftovers(root, RECORDING_PREFIX)
            folder = stack.enter_context(temporary_place(root, RECORDING_PREFIX, is_folder=True))
            storage = optional("minari.dataset.minari_storage").MinariStorage.new(
                folder / "data",
                observation_space=env.observation_space,
                action_space=env.action_space,
                env_spec=env.spec,
                data_format="hdf5",
            )
        yield storage
        with system_faults("dataset", dataset):
            version = optional("minari").__version__
            storage.update_metadata({"dataset_id": dataset, "minari_version": version, **summary})
            names = optional("minari.namespace")
            namespace = dataset.rpartition("/")[0]
            if namespace and namespace not in names.list_local_namespaces():
                names.create_namespace(namespace)
            open_to_others(folder)
            folder.rename(place)


def open_to_others(folder: Path) -> None:
    """Give a temporary folder, which only its owner can read, the default permissions."""
    mask = os.umask(0)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)


@contextmanager
def system_faults(field: str, place: str | Path) -> Iterator[None]:
    """Turn errors of the operating system, such as a full disk, into an error of the package.

    Raises:
        InputError: inside, an error of the system.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:
        if isinstance(error, TwinError):
            raise
        raise InputError(field, f"{place} cannot be written ({error})") from None


MEDIUM_POLICY, EXPERT_POLICY = "medium", "expert"

DATASET_LEVELS = ("random", MEDIUM_POLICY, EXPERT_POLICY)

NOISE_RANGE = (0.01, 10.0)
"""Smallest and largest standard deviation of a medium actor's noise, in units of the actions."""

NOISE_HALVINGS = 6
"""Number of bisections of the noise's logarithm: they determine it to a tenth of its value."""

PROBE_EPISODES = 6
"""Number of episodes from which a mean return is estimated."""

DATASET_ID = re.compile(r"(?:[-_\w][-_\w/]*[-_\w]/)?[-_\w]+?-v\d+")
"""Pattern of Minari's ids: namespaces, a name, a version."""

LARGEST_SEED = 2**32 - 1
"""Upper bound of seeds of recordings, exclusive."""


class Expert(NamedTuple):
    """Name of a baseline that solves a task well, and the options with which it acts."""

    name: str
    options: Mapping[str, Any]


EXPERT_ACTORS = {
    "twin/PoseTracking-v0": Expert(
        "computed_torque", {"configuration": "hardware", "action": "forces", "residual": False}
    ),
    "twin/MotionCueing-v0": Expert("tilt_law", {}),
    "twin/VibrationIsolation-v0": Expert("isolation_law", {}),
    "twin/BallBalance-v0": Expert("balance_law", {}),
}


def of_level(
    environment: str, policy: Any, options: Mapping[str, Any] | None
) -> tuple[Any, Mapping[str, Any] | None]:
    """Return the expert's name for the policies "medium" and "expert", with the options it acts in.

    Given options take the place of the expert's. Other policies are returned as they are.

    Raises:
        InputError: an environment without an expert.
    """
    if not isinstance(policy, str) or policy not in (MEDIUM_POLICY, EXPERT_POLICY):
        return policy, options
    expert = expert_of(environment)
    return expert.name, {**expert.options, **(options or {})}


def expert_of(environment: str) -> Expert:
    """Return the expert of an environment.

    Raises:
        InputError: there is none.
    """
    if environment not in EXPERT_ACTORS:
        raise InputError("environment", f"experts are known for {', '.join(EXPERT_ACTORS)} only")
    return EXPERT_ACTORS[environment]


def halfway(env: gymnasium.Env[Any, Any], expert: Actor, progress: bool | None) -> Actor:
    """Return the medium actor: an expert with noise on its actions.

    The standard deviation of the noise is the one whose mean return lies halfway between those of
    random actions and of the expert, in the same few episodes. It is found by bisection.
    """
    if isinstance(expert, ControllerActor):
        expert.clips_commands = True
    limit = step_limit(env)
    starts = count(0, limit)
    total = limit * PROBE_EPISODES * (NOISE_HALVINGS + 2)
    with Progress("finding the noise", total, progress) as bar:

        def mean_return(actor: Actor) -> float:
            seeds = range(PROBE_EPISODES)
            return float(np.mean([play(env, actor, i, bar, next(starts)).total for i in seeds]))

        target = 0.5 * (mean_return(RandomActor(env)) + mean_return(expert))
        lower_log, upper_log = np.log(NOISE_RANGE)
        for _ in range(NOISE_HALVINGS):
            middle_log = 0.5 * (lower_log + upper_log)
            if mean_return(NoisyActor(expert, env, float(np.exp(middle_log)))) > target:
                lower_log = middle_log
            else:
                upper_log = middle_log
    return NoisyActor(expert, env, float(np.exp(0.5 * (lower_log + upper_log))))


def step_limit(env: gymnasium.Env[Any, Any]) -> int:
    """Return the largest number of steps of an episode; 1 where there is no limit."""
    return (env.spec.max_episode_steps if env.spec else None) or 1


def task_of(dataset: Any) -> Any:
    """Return the task of a dataset's environment.

    Raises:
        InputError: another environment than those of this package.
    """
    env = dataset.recover_environment()
    env.close()
    task = getattr(env.unwrapped, "task", None)
    if task is None:
        raise InputError("dataset", "must be of an environment of this package")
    return task


def episode_log(dataset: Any, number: int = 0) -> Log:
    """Return the log of an episode: the signals of its `info`, `action` and `reward`.

    Pose, twist and forces have the units of signals; numbers of the task have none. An action has
    the time from which on it is in force.

    Args:
        dataset: a `minari.MinariDataset` of an environment of this package, with its infos.
        number: number of the episode, from 0.

    Raises:
        InputError: no such episode, or another environment.
    """
    if type(number) is not int or not 0 <= number < dataset.total_episodes:
        raise InputError("number", f"must be from 0 to {dataset.total_episodes - 1}")
    task, episode = task_of(dataset), dataset[int(dataset.episode_indices[number])]
    time = task.batch.period * np.arange(len(episode.rewards) + 1)
    units_by_signal = signal_units(task.platform)
    actions = episode.actions
    channels = [
        Channel("action", time[:-1], actions, ("1",) * actions.shape[1]),
        Channel("reward", time[1:], episode.rewards, ("1",)),
    ]
    for name, values in (episode.infos or {}).items():
        if not isinstance(values, dict):
            values_by_instant = np.reshape(values, (len(time), -1)).astype(float)
            channels.append(
                Channel(
                    name,
                    time,
                    values_by_instant,
                    units_by_signal.get(name, ("",) * values_by_instant.shape[1]),
                )
            )
    return Log(tuple(channels), {"machine": task.platform.name, "dataset": dataset.spec.dataset_id})


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
        episodes: number of episodes.
        dataset: id of the dataset, such as "twin/tracking/random-v0".
        seed: seed of the whole recording.
        options: of the environment, in place of those that a trained policy was trained with, or
            that the expert acts in.
        description: description of the dataset; default: one made from the arguments.
        progress: whether to show a progress bar; default: if it takes a while.

    Raises:
        InputError: an argument that cannot be used, or a dataset of that id exists.
        MissingDependencyError: Minari or h5py is not installed.
        MachineNotFoundError: no such machine.
        ParameterError: a platform.toml that cannot be used.
    """
    for library in ("h5py", "minari"):
        optional(library)
    dataset_folder = _place(dataset)
    whole_number(episodes, "episodes", 1)
    whole_number(seed, "seed", 0, LARGEST_SEED)
    actor_request, trained_policy, environment_options = requested(environment, policy, options)
    with explained_differences(trained_policy, environment_options, str(policy)):
        env = _make(environment, environment_options)
    try:
        actor: Any = make_actor(actor_request, env, trained_policy)
        if policy == MEDIUM_POLICY:
            actor = halfway(env, actor, progress)
        summary = {
            "algorithm_name": actor.name,
            "description": description or _description(environment, actor.name, episodes, seed),
            "requirements": [f"platform-twin=={__version__}"],
            "recording_seed": int(seed),
            **_channels(env),
        }
        seeds = np.random.SeedSequence(seed).generate_state(episodes).tolist()
        limit = step_limit(env)
        with (
            new_dataset(dataset_folder, dataset, env, summary) as storage,
            Progress("recording", limit * episodes, progress) as bar,
        ):
            for number, episode_seed in enumerate(seeds):
                record = play(env, actor, episode_seed, bar, number * limit)
                with system_faults("dataset", dataset):
                    storage.update_episodes([record.buffer(number, episode_seed)])
                    storage.update_episode_metadata([record.metadata()], [number])
    finally:
        env.close()
    return optional("minari").load_dataset(dataset)


def requested(
    environment: str, policy: Any, options: Mapping[str, Any] | None
) -> tuple[Any, Policy | None, dict[str, Any]]:
    """Return the actor, its trained policy and the options for the arguments of `record_dataset`.

    The actor is a name, file or function; for a level, the expert's name.

    Raises:
        InputError: no such policy, one for another environment, or another scale of its actions.
    """
    actor, actor_options = of_level(environment, policy, options)
    trained_policy = saved_policy(actor, environment)
    return actor, trained_policy, merged_options(trained_policy, actor_options, str(policy))


def _place(dataset: Any) -> Path:
    """Return the folder of a new dataset."""
    if not isinstance(dataset, str) or not DATASET_ID.fullmatch(dataset):
        raise InputError(
            "dataset",
            f"must look like namespace/name-v0, not {brief(dataset)}: letters, digits, - _ /",
        )
    dataset_folder = Path(optional("minari.storage").get_dataset_path(dataset))
    if dataset_folder.exists():
        raise InputError("dataset", f"{dataset} exists; take another name or version")
    return dataset_folder


def _make(environment: Any, options: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    """Return an environment whose spaces and options a dataset can store."""
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
    """Return a randomisation as plain data, which a dataset can store."""
    from twin.machine.randomisation import Randomisation, as_randomisation

    has_file_or_object = isinstance(randomisation, (Randomisation, Path))
    if has_file_or_object or (isinstance(randomisation, str) and randomisation.endswith(".toml")):
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
        f"{kind}_channels": [channel.model_dump(mode="json") for channel in channel_list]
        for kind, channel_list in zip(("observation", "action"), channels(env), strict=True)
    }
