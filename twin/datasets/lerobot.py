"""A recorded dataset in the format of LeRobot, version 3: Parquet, and JSON about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.files import as_path, remove_leftovers, temporary_place
from twin.basics.optional import optional
from twin.datasets.episode import RECORDING_PREFIX, open_to_others, system_faults
from twin.errors import InputError

FORMAT_VERSION = "v3.0"
"""Version of the format: one Parquet file of many episodes, whose metadata are tables too."""

DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
EPISODES_PATH = "meta/episodes/chunk-000/file-000.parquet"
TASKS_PATH, INFO_PATH, STATISTICS_PATH = "meta/tasks.parquet", "meta/info.json", "meta/stats.json"

QUANTILES = (1, 10, 50, 90, 99)
"""[%] Quantiles in the statistics of a feature."""

Columns = dict[str, Any]
"""Feature -> its values in every frame, `(frames,)` or `(frames, width)`."""


def write_lerobot(dataset: Any, folder: str | Path) -> Path:
    """Write a dataset of `record_dataset` as a dataset of LeRobot; return its folder.

    A frame is an observation, the action on it, and the reward and end that followed. The last
    observation of an episode is left out, as in all datasets of LeRobot. `next.done` is true in the
    last frame of an episode, and `next.truncated` where the time limit ended it.

    Args:
        dataset: a `minari.MinariDataset` of an environment of this package.
        folder: new one; it appears when it is complete.

    Raises:
        InputError: a folder that exists or cannot be written, another environment, or a control
            period of which a second has no whole number.
        MissingDependencyError: pyarrow is not installed.
    """
    parquet = optional("pyarrow.parquet", "A dataset of LeRobot")
    target_folder = as_path(folder, "folder")
    if target_folder.exists():
        raise InputError("folder", f"{target_folder} exists; take another one")
    task = task_of(dataset)
    episodes = list(_episodes(dataset, 1.0 / _rate(task)))
    all_frames = {
        name: np.concatenate([episode[name] for episode in episodes]) for name in episodes[0]
    }
    name = f"{task.title} of {task.platform.name}"
    info = _info(dataset, task, all_frames)
    files = {
        DATA_PATH.format(chunk_index=0, file_index=0): all_frames,
        EPISODES_PATH: _about(episodes, name),
    }
    with system_faults("folder", target_folder):
        target_folder.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target_folder.parent, RECORDING_PREFIX)
        with temporary_place(target_folder.parent, RECORDING_PREFIX, is_folder=True) as root:
            for file, table_columns in files.items():
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                parquet.write_table(_table(table_columns), root / file)
            parquet.write_table(_tasks(name), root / TASKS_PATH)
            for file, content in ((INFO_PATH, info), (STATISTICS_PATH, _statistics(all_frames))):
                (root / file).write_text(json.dumps(content, indent=1), encoding="utf-8")
            open_to_others(root)
            root.rename(target_folder)
    return target_folder


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


def _rate(task: Any) -> int:
    """Return the frames per second, a whole number."""
    rate: float = 1.0 / task.batch.period
    if abs(rate - round(rate)) > 1e-6 * rate:
        raise InputError(
            "period", f"gives {rate:.6g} frames per second, LeRobot takes whole numbers of them"
        )
    return round(rate)


def _episodes(dataset: Any, period: float) -> Iterator[Columns]:
    """Yield the features of every episode."""
    frames_before = 0
    for number, episode in enumerate(dataset.iterate_episodes()):
        count = len(episode.actions)
        frames = np.arange(count)
        is_last = frames == count - 1
        yield {
            "observation.state": episode.observations[:-1].astype(np.float32),
            "action": episode.actions.astype(np.float32),
            "next.reward": episode.rewards.astype(np.float32),
            "next.done": is_last,
            "next.truncated": episode.truncations.astype(bool),
            "timestamp": (frames * period).astype(np.float32),
            "frame_index": frames,
            "episode_index": np.full(count, number),
            "index": frames_before + frames,
            "task_index": np.zeros(count, dtype=np.int64),
        }
        frames_before += count


def _info(dataset: Any, task: Any, whole: Columns) -> dict[str, Any]:
    """Return the description of a dataset, with a name for every number."""
    names = {"observation.state": _names(task.observations), "action": _names(task.actions)}
    features = {
        name: {
            "dtype": str(values.dtype),
            "shape": list(values.shape[1:] or (1,)),
            "names": names.get(name),
        }
        for name, values in whole.items()
    }
    count = int(dataset.total_episodes)
    return {
        "codebase_version": FORMAT_VERSION,
        "robot_type": task.platform.name,
        "total_episodes": count,
        "total_frames": len(whole["index"]),
        "total_tasks": 1,
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": _rate(task),
        "splits": {"train": f"0:{count}"},
        "data_path": DATA_PATH,
        "video_path": None,
        "features": features,
    }


def _names(channels: Any) -> list[str]:
    """Return a name for every number of the channels, numbered where a channel has several."""
    return [
        f"{channel.name} {k + 1}" if channel.size > 1 else channel.name
        for channel in channels
        for k in range(channel.size)
    ]


def _about(episodes: list[Columns], task: str) -> Columns:
    """Return the table of the episodes: lengths, indices in the data, statistics."""
    lengths = np.array([len(item["index"]) for item in episodes])
    end_indices = np.cumsum(lengths)
    zeros = np.zeros(len(episodes), dtype=np.int64)
    table: Columns = {
        "episode_index": np.arange(len(episodes)),
        "tasks": [[task]] * len(episodes),
        "length": lengths,
        "dataset_from_index": end_indices - lengths,
        "dataset_to_index": end_indices,
    }
    for name in ("data/chunk_index", "data/file_index"):
        table |= {name: zeros, f"meta/episodes/{name.removeprefix('data/')}": zeros}
    statistics = [_statistics(item) for item in episodes]
    for feature, item in statistics[0].items():
        for name in item:
            table[f"stats/{feature}/{name}"] = [
                episode_statistics[feature][name] for episode_statistics in statistics
            ]
    return table


def _tasks(task: str) -> Any:
    """Return the table of tasks, whose texts are the index of a data frame: LeRobot asks for it."""
    columns = {"task_index": ("int64", [0]), "task": ("unicode", [task])}
    pandas_metadata = {
        "index_columns": ["task"],
        "column_indexes": [],
        "columns": [
            {"name": name, "field_name": name, "pandas_type": pandas_type, "numpy_type": "object"}
            for name, (pandas_type, _) in columns.items()
        ],
    }
    table = optional("pyarrow").table({name: values for name, (_, values) in columns.items()})
    return table.replace_schema_metadata({"pandas": json.dumps(pandas_metadata)})


def _statistics(columns: Columns) -> dict[str, dict[str, list[Any]]]:
    """Return minimum, maximum, mean, deviation, count and quantiles of every feature."""
    statistics = {}
    for name, column in columns.items():
        values = column.reshape(len(column), -1).astype(np.float64)
        values_by_statistic = {
            "min": values.min(axis=0),
            "max": values.max(axis=0),
            "mean": values.mean(axis=0),
            "std": values.std(axis=0),
            "count": np.array([len(values)]),
        }
        quantile_rows = np.percentile(values, QUANTILES, axis=0)
        values_by_statistic |= {
            f"q{percentage:02d}": row
            for percentage, row in zip(QUANTILES, quantile_rows, strict=True)
        }
        statistics[name] = {
            kind: statistic_values.tolist()
            for kind, statistic_values in values_by_statistic.items()
        }
    return statistics


def _table(columns: Columns) -> Any:
    """Return columns as a table of Arrow; rows of numbers are lists of one length."""
    arrow = optional("pyarrow")
    return arrow.table(
        {
            name: arrow.FixedSizeListArray.from_arrays(values.ravel(), values.shape[1])
            if getattr(values, "ndim", 1) > 1
            else arrow.array(values)
            for name, values in columns.items()
        }
    )
