"""The command `record`."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from twin.cli.application import app

minari = pytest.importorskip("minari")
importlib.import_module("twin.cli.record")


def test_record(datasets: Path) -> None:
    words = "record twin/PoseTracking-v0 --policy cascade --episodes 2 --seed 3"
    words += " --configuration hardware --dataset test/cascade-v0"
    words += " --option residual=false --option max_episode_steps=20"
    run = CliRunner().invoke(app, words.split())
    assert run.exit_code == 0, run.output
    assert re.search(r"cascade +cascade +2 +40 ", run.output), run.output
    assert "wrote test/cascade-v0" in run.output
    found = minari.load_dataset("test/cascade-v0")
    assert found.total_steps == 40
    assert found.env_spec.kwargs == {"configuration": "hardware", "residual": False}
    assert found.env_spec.max_episode_steps == 20
    assert (datasets / "test" / "cascade-v0").is_dir()


def test_levels_are_three_datasets_in_both_formats(
    datasets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twin.datasets.levels.PROBES", 1)
    monkeypatch.setattr("twin.datasets.levels.HALVINGS", 2)
    words = "record twin/VibrationIsolation-v0 --dataset test/isolation-v0 --levels --episodes 1"
    words += f" --option max_episode_steps=20 --lerobot {tmp_path / 'frames'}"
    run = CliRunner().invoke(app, words.split())
    assert run.exit_code == 0, run.output
    for level in ("random", "medium", "expert"):
        assert minari.load_dataset(f"test/isolation/{level}-v0").total_steps == 20
        assert (tmp_path / "frames" / level / "meta" / "info.json").is_file()
    assert re.search(r"medium +isolation_law +with +noise", run.output)
    again = CliRunner().invoke(app, words.split())
    assert again.exit_code == 2 and "exists; take another folder" in again.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--dataset plain", "dataset: must look like"),
        ("--dataset test/a-v0 --policy pid", "policy: no policy called 'pid'"),
        ("--dataset test/a-v0 --option speed=3", "unexpected keyword"),
        ("--dataset test/a-v0 --levels --policy zero", "levels: takes no policy"),
        ("--dataset test/a-v0 --policy balance_law", "can act in twin/BallBalance-v0 only"),
        ("--dataset test/a-v0 --randomisation wear", "randomisation: unknown randomisation"),
        ("--dataset test/a-v0 --randomisation hardware_spread", "no drives"),
    ],
)
def test_faults_end_in_one_line(words: str, message: str, datasets: Path) -> None:
    run = CliRunner().invoke(app, ["record", "twin/PoseTracking-v0", *words.split()])
    assert run.exit_code == 2
    assert message in run.output
    assert not datasets.exists() or not list(datasets.iterdir())
