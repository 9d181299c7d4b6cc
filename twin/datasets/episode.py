"""A recorded episode: arrays over its steps, and its metadata."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.files import remove_leftovers, temporary_place
from twin.basics.optional import optional
from twin.basics.progress import Progress
from twin.datasets.actors import Actor, as_action
from twin.errors import InputError, TwinError

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
    is_over, step = False, done
    while not is_over:
        action = as_action(actor.act(observation), env.action_space)
        observation, reward, terminated, truncated, info = env.step(action)
        record.add(action, observation, reward, terminated, truncated, info)
        is_over = bool(terminated or truncated)
        step += 1
        bar.tick(step)
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


class Writer:
    """Writes episodes to a hidden folder, which becomes a dataset if no error occurs."""

    def __init__(
        self, place: Path, dataset: str, env: gymnasium.Env[Any, Any], summary: Mapping[str, Any]
    ) -> None:
        """Keep the folder and the id of the dataset, its environment and its description."""
        self._place, self._dataset = place, dataset
        self._summary = dict(summary)
        self._env, self._count = env, 0

    def __enter__(self) -> Writer:
        root = optional("minari.storage").get_dataset_path()
        storage = optional("minari.dataset.minari_storage").MinariStorage
        with ExitStack() as stack, system_faults("dataset", self._dataset):
            remove_leftovers(root, RECORDING_PREFIX)
            self._folder = stack.enter_context(
                temporary_place(root, RECORDING_PREFIX, is_folder=True)
            )
            self._storage = storage.new(
                self._folder / "data",
                observation_space=self._env.observation_space,
                action_space=self._env.action_space,
                env_spec=self._env.spec,
                data_format="hdf5",
            )
            self._stack = stack.pop_all()
        return self

    def write(self, record: EpisodeRecord, seed: int) -> None:
        """Add an episode.

        Raises:
            InputError: it cannot be written.
        """
        with system_faults("dataset", self._dataset):
            self._storage.update_episodes([record.buffer(self._count, seed)])
            self._storage.update_episode_metadata([record.metadata()], [self._count])
        self._count += 1

    def __exit__(self, kind: object, *_: object) -> None:
        with self._stack:
            if kind is None:
                with system_faults("dataset", self._dataset):
                    self._finish()

    def _finish(self) -> None:
        """Turn the hidden folder into a dataset."""
        version = optional("minari").__version__
        summary = {"dataset_id": self._dataset, "minari_version": version, **self._summary}
        self._storage.update_metadata(summary)
        names = optional("minari.namespace")
        namespace = self._dataset.rpartition("/")[0]
        if namespace and namespace not in names.list_local_namespaces():
            names.create_namespace(namespace)
        open_to_others(self._folder)
        self._folder.rename(self._place)


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
