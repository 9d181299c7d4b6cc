"""Temporary places: lent, removed, and left by a killed process only until the next one."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from twin.basics.temporary import remove_leftovers, temporary_place

pytestmark = pytest.mark.quick

HOLD = """
import sys, time
from twin.basics.temporary import temporary_place
with temporary_place(sys.argv[1], "kept-", is_folder=sys.argv[2] == "folder") as place:
    print(place, flush=True)
    time.sleep(60.0)
"""


@pytest.mark.parametrize("is_folder", [False, True])
def test_places_are_removed(tmp_path: Path, is_folder: bool) -> None:
    with temporary_place(tmp_path, "kept-", ".end", is_folder=is_folder) as place:
        assert place.is_dir() is is_folder
        assert place.name.startswith("kept-") and place.suffix == ".end"
        remove_leftovers(tmp_path, "kept-")
        assert place.exists(), "it is lent"
    assert not list(tmp_path.iterdir())


def test_what_is_renamed_stays(tmp_path: Path) -> None:
    with temporary_place(tmp_path, "kept-", is_folder=True) as place:
        place.rename(tmp_path / "final")
    assert [each.name for each in tmp_path.iterdir()] == ["final"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path, kind: str) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path), kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        place = Path(process.stdout.readline().strip())
        remove_leftovers(tmp_path, "kept-")
        assert place.exists(), "its process is alive"
        process.send_signal(signal.SIGKILL)
    (tmp_path / "other").touch()
    remove_leftovers(tmp_path, "kept-")
    assert [each.name for each in tmp_path.iterdir()] == ["other"]
