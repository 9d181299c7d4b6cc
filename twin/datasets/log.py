"""A recorded episode as a log, for whoever reads logs of machines."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.datasets.lerobot import task_of
from twin.errors import InputError
from twin.logs import Channel, Log, signal_units


def episode_log(dataset: Any, number: int = 0) -> Log:
    """Return the log of an episode: the signals of its `info`, `action` and `reward`.

    Pose, twist and forces have the units of signals; numbers of the task have none. An action has
    the time from which on it is in force.

    Args:
        dataset: a `minari.MinariDataset` of an environment of this package, with its infos.
        number: of the episode, from 0.

    Raises:
        InputError: no such episode, or another environment.
    """
    if type(number) is not int or not 0 <= number < dataset.total_episodes:
        raise InputError("number", f"must be from 0 to {dataset.total_episodes - 1}")
    task, episode = task_of(dataset), dataset[int(dataset.episode_indices[number])]
    time = task.batch.period * np.arange(len(episode.rewards) + 1)
    known = signal_units(task.platform)
    actions = episode.actions
    channels = [
        Channel("action", time[:-1], actions, ("1",) * actions.shape[1]),
        Channel("reward", time[1:], episode.rewards, ("1",)),
    ]
    for name, values in (episode.infos or {}).items():
        if not isinstance(values, dict):
            rows = np.reshape(values, (len(time), -1)).astype(float)
            channels.append(Channel(name, time, rows, known.get(name, ("",) * rows.shape[1])))
    return Log(tuple(channels), {"machine": task.platform.name, "dataset": dataset.spec.dataset_id})
