"""Logs of runs that are under way: whole after each block, whatever ends them."""

import errno

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refused

from twin.errors import InputError
from twin.logs import Channel, Log, read_log
from twin.logs.files import part
from twin.logs.recorder import LogRecorder, files_of

pytestmark = pytest.mark.quick

METADATA = {"machine": "stewart"}


def block(start, count=10):
    """Return samples that are numbered."""
    rows = np.arange(start, start + count, dtype=float)
    legs = np.multiply.outer(rows, np.ones(6)) / 3.0
    channels = (Channel("coordinates", 0.1 * rows, legs, "m"), Channel("empty", [], [], "1"))
    return Log(channels, METADATA)


def rows_of(path):
    """Return the numbers of the samples in a file."""
    log = read_log(path)
    assert log.metadata == METADATA
    assert_array_equal(log["coordinates"].values[:, 5], log["coordinates"].values[:, 0])
    return [round(3.0 * value) for value in log["coordinates"].values[:, 0]]


@pytest.mark.parametrize("ending", [".csv", ".mcap", ".parquet"])
def test_a_log_is_written_as_it_goes_and_whole_at_its_end(tmp_path, ending):
    recorder = LogRecorder(tmp_path / f"run{ending}", METADATA)
    for k in range(3):
        recorder.write(block(10 * k))
        assert rows_of(recorder.part) == list(range(10 * k + 10))
        assert not recorder.path.exists()
    assert recorder.finish() == recorder.path
    assert rows_of(recorder.path) == list(range(30))
    assert list(tmp_path.iterdir()) == [recorder.path]


def test_a_part_is_read_up_to_its_last_whole_block(tmp_path):
    """However few bytes of the next one a killed process has written."""
    recorder = LogRecorder(tmp_path / "run.csv", METADATA)
    recorder.write(block(0))
    whole = recorder.part.stat().st_size
    recorder.write(block(10))
    data = recorder.part.read_bytes()
    recorder.close()
    for size in range(whole, len(data) + 1, 7):
        recorder.part.write_bytes(data[:size])
        assert rows_of(recorder.part) == list(range(20 if size == len(data) else 10))
    spoiled = bytearray(data)
    spoiled[whole - 3] ^= 1
    recorder.part.write_bytes(spoiled)
    with refused("damaged"):
        read_log(recorder.part)


def test_the_last_seconds_are_kept_in_two_parts(tmp_path):
    recorder = LogRecorder(tmp_path / "run.csv", METADATA, keep=2.0)
    for k in range(30):
        recorder.write(block(10 * k))
    found = rows_of(recorder.part)
    assert found == list(range(found[0], 300))
    assert 20 <= len(found) <= 60
    recorder.finish()
    assert rows_of(recorder.path) == list(range(279, 300))
    assert list(tmp_path.iterdir()) == [recorder.path]


def test_a_part_without_samples_is_in_nobodys_way(tmp_path):
    """Such as that of a command that was killed while it waited."""
    ended = LogRecorder(tmp_path / "run.csv", METADATA)
    content = ended.part.read_bytes()
    ended.close()
    for size in (0, 20, len(content)):
        ended.part.write_bytes(content[:size])
        LogRecorder(tmp_path / "run.csv", METADATA).close()
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("which", [0, 1, 2])
def test_nothing_is_replaced_unasked(tmp_path, which):
    """Neither a log nor what a killed process has left."""
    path = tmp_path / "run.csv"
    files_of(path)[which].write_text("precious\n")
    with refused("--replace"):
        LogRecorder(path, METADATA)
    assert files_of(path)[which].read_text() == "precious\n"
    assert len(list(tmp_path.iterdir())) == 1
    recorder = LogRecorder(path, METADATA, replace=True)
    recorder.write(block(0))
    recorder.finish()
    assert rows_of(path) == list(range(10))


def test_a_part_belongs_to_one_process(tmp_path):
    first = LogRecorder(tmp_path / "run.csv", METADATA)
    first.write(block(0))
    for replace in (False, True):
        with refused("another process"):
            LogRecorder(tmp_path / "run.csv", METADATA, replace=replace)
    first.finish()
    assert rows_of(first.path) == list(range(10))


def test_a_full_disk_loses_nothing_that_fits_later(tmp_path, monkeypatch):
    recorder = LogRecorder(tmp_path / "run.csv", METADATA)
    recorder.write(block(0))

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as without:
        without.setattr(part, "append_bytes", full)
        recorder.write(block(10))
        assert "No space left" in recorder.fault
        assert rows_of(recorder.part) == list(range(10))
    recorder.write(block(20))
    assert not recorder.fault
    assert rows_of(recorder.part) == list(range(30))


def test_a_part_goes_on_where_no_second_one_can_begin(tmp_path, monkeypatch):
    recorder = LogRecorder(tmp_path / "run.csv", METADATA, keep=0.5)

    def full(*_):
        raise InputError("log", "No space left on device")

    with monkeypatch.context() as without:
        without.setattr(part, "PartFile", full)
        for k in range(3):
            recorder.write(block(10 * k))
        assert "No space left" in recorder.fault
    recorder.write(block(30))
    assert not recorder.fault
    assert rows_of(recorder.part) == list(range(40))
    recorder.finish()
    assert list(tmp_path.iterdir()) == [recorder.path]


def test_samples_stay_where_the_log_cannot_be_written(tmp_path):
    recorder = LogRecorder(tmp_path / "run.csv", METADATA)
    recorder.write(block(0))
    recorder.path.mkdir()
    with refused(r"kept in .*run\.csv\.part"):
        recorder.finish()
    assert rows_of(recorder.part) == list(range(10))


def test_a_run_without_samples_leaves_nothing(tmp_path):
    LogRecorder(tmp_path / "run.csv", METADATA).close()
    assert LogRecorder(tmp_path / "run.csv", METADATA).finish() is None
    assert not list(tmp_path.iterdir())
