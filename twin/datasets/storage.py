"""Folders of datasets that appear when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twin.basics.optional import optional
from twin.basics.temporary import remove_leftovers, temporary_place
from twin.datasets.episode import EpisodeRecord
from twin.errors import InputError, TwinError

if TYPE_CHECKING:
    import gymnasium

PREFIX = ".recording-"
"""Of the folders of unfinished recordings; Minari passes over hidden ones."""


class Writer:
    """Writes episodes to a hidden folder, which becomes a dataset if no error occurs."""

    def __init__(
        self, place: Path, dataset: str, env: gymnasium.Env[Any, Any], summary: Mapping[str, Any]
    ) -> None:
        """Take the folder and the id of the dataset, its environment, and what describes it."""
        self._place, self._dataset = place, dataset
        self._summary = dict(summary)
        self._env, self._count = env, 0

    def __enter__(self) -> Writer:
        root = optional("minari.storage").get_dataset_path()
        storage = optional("minari.dataset.minari_storage").MinariStorage
        with ExitStack() as stack, system_faults("dataset", self._dataset):
            remove_leftovers(root, PREFIX)
            self._folder = stack.enter_context(temporary_place(root, PREFIX, is_folder=True))
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
        """Make the folder a dataset."""
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
    """Give a temporary folder, which is its maker's alone, the usual rights."""
    mask = os.umask(0)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)


@contextmanager
def system_faults(field: str, place: str | Path) -> Iterator[None]:
    """Make what the system refuses, such as a full disk, one error of the package.

    Raises:
        InputError: inside, an error of the system.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:
        if isinstance(error, TwinError):
            raise
        raise InputError(field, f"{place} cannot be written ({error})") from None
