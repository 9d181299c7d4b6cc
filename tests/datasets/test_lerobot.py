"""Datasets in the format of LeRobot hold the frames of Minari, with names and statistics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from twin.datasets import record_dataset, write_lerobot
from twin.errors import InputError

pandas = pytest.importorskip("pandas")
pytest.importorskip("minari")

pytestmark = pytest.mark.quick

BALL = "twin/BallBalance-v0"
"""Random actions end its episodes at different lengths."""


@pytest.fixture
def recorded() -> Any:
    return record_dataset(
        BALL, episodes=3, dataset="test/ball-v0", options={"max_episode_steps": 230}, seed=4
    )


def test_frames_are_those_of_the_recording(recorded: Any, tmp_path: Path) -> None:
    place = write_lerobot(recorded, tmp_path / "ball")
    info = json.loads((place / "meta" / "info.json").read_text())
    file = info["data_path"].format(chunk_index=0, file_index=0)
    frames = pandas.read_parquet(place / file)
    episodes = pandas.read_parquet(place / "meta" / "episodes" / "chunk-000" / "file-000.parquet")
    assert info["codebase_version"] == "v3.0" and info["fps"] == 100
    assert info["total_frames"] == len(frames) == recorded.total_steps
    assert set(info["features"]) == set(frames.columns)
    for number, episode in enumerate(recorded.iterate_episodes()):
        row = episodes.iloc[number]
        part = frames[row.dataset_from_index : row.dataset_to_index]
        assert row.length == len(part) == len(episode.actions)
        assert (part.episode_index == number).all()
        for name, expected in (
            ("observation.state", episode.observations[:-1]),
            ("action", episode.actions),
        ):
            found = np.stack(part[name].to_list())
            np.testing.assert_array_equal(found, expected)
            assert len(info["features"][name]["names"]) == expected.shape[1]
        np.testing.assert_array_equal(part["next.reward"], episode.rewards.astype(np.float32))
        np.testing.assert_array_equal(part["next.truncated"], episode.truncations)
        assert part["next.done"].tolist() == [False] * (row.length - 1) + [True]
        np.testing.assert_allclose(part.timestamp, 0.01 * part.frame_index, rtol=1e-6)
        kept = row["stats/action/max"]
        np.testing.assert_allclose(kept, episode.actions.max(axis=0), rtol=1e-7)
    assert len({*episodes.length}) > 1 and frames["next.truncated"].any()
    tasks = pandas.read_parquet(place / "meta" / "tasks.parquet")
    assert tasks.loc["ball balance of stewart"].task_index == 0


def test_lerobots_own_class_loads_it(recorded: Any, tmp_path: Path) -> None:
    library = pytest.importorskip("lerobot.datasets.lerobot_dataset", exc_type=ImportError)
    found = library.LeRobotDataset("twin/ball", root=write_lerobot(recorded, tmp_path / "ball"))
    assert (len(found), found.num_episodes, found.fps) == (recorded.total_steps, 3, 100)
    at = 0
    for number, episode in enumerate(recorded.iterate_episodes()):
        for k in (0, len(episode.actions) - 1):
            frame = found[at + k]
            np.testing.assert_array_equal(frame["action"], episode.actions[k])
            np.testing.assert_array_equal(frame["observation.state"], episode.observations[k])
            assert frame["episode_index"] == number and frame["task"] == "ball balance of stewart"
            assert bool(frame["next.done"]) == (k > 0)
        at += len(episode.actions)


def test_statistics_are_of_all_frames(recorded: Any, tmp_path: Path) -> None:
    place = write_lerobot(recorded, tmp_path / "ball")
    kept = json.loads((place / "meta" / "stats.json").read_text())
    seen = np.concatenate([each.observations[:-1] for each in recorded.iterate_episodes()])
    found = kept["observation.state"]
    np.testing.assert_allclose(found["mean"], seen.mean(axis=0, dtype=float), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found["std"], seen.std(axis=0, dtype=float), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found["q10"], np.percentile(seen.astype(float), 10, axis=0))
    assert found["count"] == [len(seen)]


def test_what_cannot_be_written_is_refused(recorded: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exists; take another one"):
        write_lerobot(recorded, tmp_path)
    odd = record_dataset(
        BALL,
        episodes=1,
        dataset="test/odd-v0",
        options={"period": 0.003, "max_episode_steps": 3},
    )
    with pytest.raises(InputError, match="frames per second, LeRobot takes whole"):
        write_lerobot(odd, tmp_path / "odd")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_lerobot(recorded, tmp_path / "file" / "ball")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["datasets", "file"]
