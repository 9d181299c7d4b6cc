"""Files and folders: whole or not there, also where the system refuses to write."""

import errno
import resource
from contextlib import contextmanager
from pathlib import Path

import pytest
from console import console
from refusals import refused

import twin
from twin.basics.files import as_path, check_writable, new_folder, write_text
from twin.engines.base import replay
from twin.engines.export import export
from twin.errors import StateError, TwinError
from twin.logs import LogMapping, read_log
from twin.machine.file.read import write_template
from twin.shadow import read_thresholds
from twin.simulation.simulate import Trajectory
from twin.sweep import read_results, read_sweep
from twin.training.policy import Policy, load_policy

pytestmark = pytest.mark.quick


@contextmanager
def full_disk():
    """Refuse files beyond 100 bytes, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_the_old_file(tmp_path):
    file = write_text(tmp_path / "a.txt", "old")
    with full_disk(), refused(r"cannot write .*a\.txt .File too large"):
        write_text(file, "new" * 100)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]


def test_a_full_disk_leaves_no_half_folder(stewart, tmp_path):
    with full_disk(), refused("File too large"):
        export(stewart, "mjcf", tmp_path / "new" / "folder")
    assert not list(tmp_path.iterdir())
    (tmp_path / "mine").mkdir()
    with full_disk(), refused("File too large"):
        export(stewart, "mjcf", tmp_path / "mine")
    assert (tmp_path / "mine").is_dir()


def test_other_errors_remove_a_new_folder_too(tmp_path):
    with pytest.raises(StateError), new_folder(tmp_path / "a" / "b", "out") as folder:
        (folder / "file").touch()
        raise StateError("stopped")
    nowhere = new_folder(3, "out")
    with refused("out: cannot make the folder 3"), nowhere:
        pass
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_one_line_on_the_console(monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/x")

    monkeypatch.setattr("twin.machine.machine.machine_names", full)
    result = console("list", code=2)
    assert result.output == "twin: No space left on device: /tmp/x\n"


def test_a_name_too_long_is_refused(subtests):
    for use in [
        as_path,
        check_writable,
        twin.load,
        read_log,
        Trajectory.load,
        Policy.load,
        load_policy,
        replay,
        read_results,
        read_thresholds,
        read_sweep,
        LogMapping.read,
        write_template,
    ]:
        with subtests.test(f"{use}"):
            for path in ("x" * 5000, "x" * 5000 + ".csv", Path("a") / ("x" * 5000 + ".npz")):
                with pytest.raises(TwinError):
                    use(path)
