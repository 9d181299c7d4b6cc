"""Temporary places: lent, removed, and left by a killed process only until the next one."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from twin.basics.files import remove_leftovers, remove_oldest, temporary_place, write_text

pytestmark = pytest.mark.quick

HOLD = """
import sys, time
from twin.basics.files import temporary_place
with temporary_place(sys.argv[1], "kept-", is_folder=sys.argv[2] == "folder") as place:
    print(place, flush=True)
    time.sleep(60.0)
"""


@pytest.mark.parametrize("is_folder", [False, True])
def test_places_are_removed(tmp_path, is_folder):
    with temporary_place(tmp_path, "kept-", ".end", is_folder=is_folder) as place:
        assert place.is_dir() is is_folder
        assert place.name.startswith("kept-") and place.suffix == ".end"
        remove_leftovers(tmp_path, "kept-")
        assert place.exists(), "it is lent"
    assert not list(tmp_path.iterdir())


def test_what_is_renamed_stays(tmp_path):
    with temporary_place(tmp_path, "kept-", is_folder=True) as place:
        place.rename(tmp_path / "final")
    assert [each.name for each in tmp_path.iterdir()] == ["final"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_leftovers_of_a_killed_process_are_removed(tmp_path, kind):
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


HALF = """
import os, sys
from pathlib import Path
from twin.basics.files import write_atomically
def stop(file):
    file.write(b"half")
    os.kill(os.getpid(), 9)
write_atomically(Path(sys.argv[1]) / "run.csv", stop)
"""


def test_half_a_file_of_a_killed_process_is_removed_by_the_next_one(tmp_path):
    """Not by one that writes at the same time, and nothing but what the package has left."""
    others = [tmp_path / ".run.csv.swp", tmp_path / ".twinned"]
    for each in others:
        each.touch()
    killed = subprocess.run([sys.executable, "-c", HALF, str(tmp_path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    [left] = tmp_path.glob(".twin-*")
    with temporary_place(tmp_path, ".twin-") as lent:
        write_text(tmp_path / "new.csv", "whole")
        assert lent.exists() and not left.exists()
    assert sorted(tmp_path.iterdir()) == sorted([*others, tmp_path / "new.csv"])


def test_files_are_written_where_there_are_no_locks(tmp_path, monkeypatch):
    def without(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    # No file system here is without locks.
    monkeypatch.setattr(fcntl, "flock", without)
    (tmp_path / ".twin-left").touch()
    assert write_text(tmp_path / "new.csv", "whole").read_text() == "whole"
    assert (tmp_path / ".twin-left").exists(), "it may be another process's"


def test_the_newest_files_of_gone_processes_stay(tmp_path):
    names = [f"twin_a_{4_194_303 - k}_x.npz" for k in range(5)]  # above the largest usual number
    for k, name in enumerate([*names, f"twin_a_{os.getpid()}_x.npz"]):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1e9 - k, 1e9 - k))
    remove_oldest(tmp_path, "twin_*.npz", keep=2)
    left = {each.name for each in tmp_path.iterdir()}
    assert left == {*names[:2], f"twin_a_{os.getpid()}_x.npz"}
