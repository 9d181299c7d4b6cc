"""Damaged and oversized logs: a changed bit is refused or said, and bombs are not unpacked."""

import warnings
from importlib.util import find_spec
from random import Random

import numpy as np
import pytest
from refusals import refused

from twin.basics.files import BYTES_VARIABLE, COLUMNS_VARIABLE
from twin.errors import TwinError, TwinWarning
from twin.logs import Channel, Log, log_of, read_log, write_log

pytestmark = pytest.mark.quick

LOGS = [
    name
    for name, library in (("csv", "csv"), ("parquet", "pyarrow"), ("mcap", "mcap"))
    if find_spec(library)
]
RUNS = [name for name in ("npz", *LOGS) if name != "mcap"]


@pytest.fixture(scope="module")
def run(stewart):
    return stewart.simulate(0.01, twist=[0.0, 0.1, 0.1, 0.0, 0.3, 0.2], progress=False)


@pytest.fixture(scope="module", params=[*(f"log.{a}" for a in LOGS), *(f"run.{a}" for a in RUNS)])
def good(run, request, tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / request.param
    return run.save(path) if path.stem == "run" else write_log(log_of(run), path)


def is_same(one, other):
    """Return whether two logs have the same texts and numbers, to the last bit."""
    return (one.names, one.metadata) == (other.names, other.metadata) and all(
        a.units == b.units and np.array_equal(a.time, b.time) and np.array_equal(a.values, b.values)
        for a, b in zip(one.channels, other.channels, strict=True)
    )


def test_no_flipped_bit_changes_a_log_without_a_word(good, tmp_path):
    content, log, random = good.read_bytes(), read_log(good), Random(0)
    for _ in range(60):
        data, bit = bytearray(content), random.randrange(8 * len(content))
        data[bit // 8] ^= 1 << bit % 8
        path = tmp_path / good.name
        path.write_bytes(data)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                found = read_log(path)
            except TwinError:
                continue
        assert is_same(found, log) or any(each.category is TwinWarning for each in said), bit


def test_what_nobody_changed_is_read_without_a_warning(good, tmp_path):
    """Nor what other line ends have changed."""
    path = tmp_path / good.name
    ends = b"\r\n" if good.suffix == ".csv" else b"\n"
    path.write_bytes(good.read_bytes().replace(b"\n", ends))
    with warnings.catch_warnings():
        warnings.simplefilter("error", TwinWarning)
        assert is_same(read_log(path), read_log(good))


@pytest.mark.parametrize("kind", ["log", "run"])
def test_tables_that_people_edit_are_read_with_a_warning(run, tmp_path, kind):
    path = tmp_path / "a.csv"
    _ = run.save(path) if kind == "run" else write_log(log_of(run), path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:8]))
    with pytest.warns(TwinWarning, match="does not fit its checksum 'crc32'"):
        assert len(read_log(path)["pose"]) == 6


@pytest.mark.parametrize("ending", LOGS)
def test_metadata_may_have_the_name_of_the_checksum(tmp_path, ending):
    log = Log((Channel("a", [0.0], [1.0], "m"),), {"crc32": "deadbeef"})
    path = write_log(log, tmp_path / f"a.{ending}")
    with warnings.catch_warnings():
        warnings.simplefilter("error", TwinWarning)
        assert is_same(read_log(path), log)


@pytest.mark.skipif("parquet" not in LOGS, reason="pyarrow is not installed")
def test_tables_of_others_need_no_checksums(tmp_path):
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "other.parquet"
    parquet.write_table(pyarrow.table({"time": [0.0, 1.0], "x": [1.5, 2.5]}), path)
    assert read_log(path)["x"].values[:, 0].tolist() == [1.5, 2.5]


@pytest.mark.parametrize(("variable", "most"), [(BYTES_VARIABLE, "3000"), (COLUMNS_VARIABLE, "4")])
def test_a_log_is_no_larger_than_it_may_be(good, monkeypatch, variable, most):
    monkeypatch.setenv(variable, most)
    with refused(rf"{good.name}.*{variable}"):
        read_log(good)


@pytest.mark.skipif("mcap" not in LOGS, reason="mcap is not installed")
@pytest.mark.parametrize("declared", [10, 5_000_000])
def test_chunks_are_measured_before_they_are_unpacked(declared, tmp_path, monkeypatch):
    """Whatever the chunk itself declares."""
    from mcap.data_stream import RecordBuilder
    from mcap.records import Chunk, DataEnd, Footer, Header
    from mcap.writer import MCAP0_MAGIC
    from zstandard import compress

    monkeypatch.setenv(BYTES_VARIABLE, "4e6")
    records, zeros = RecordBuilder(), compress(bytes(5_000_000))
    for record in (
        Header("", ""),
        Chunk("zstd", zeros, 1, 0, 0, declared),
        DataEnd(0),
        Footer(0, 0, 0),
    ):
        record.write(records)
    path = tmp_path / "bomb.mcap"
    path.write_bytes(MCAP0_MAGIC + records.end() + MCAP0_MAGIC)
    with refused(r"takes 0\.005 GB"):
        read_log(path)


def test_many_channels_take_no_longer_than_their_number():
    """Names are compared once each: ten times the channels are not a hundred times the work."""
    channels = tuple(Channel(f"c{k}", [0.0], [1.0], "m") for k in range(3000))
    counted = 0

    class Name(str):
        __slots__ = ()

        def __eq__(self, other):
            nonlocal counted
            counted += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    for channel in channels:
        object.__setattr__(channel, "name", Name(channel.name))
    log = Log(channels)
    assert len(log.names) == 3000 and counted < 10 * 3000


@pytest.mark.parametrize("size", [1000, 5_000_000])
def test_bags_are_measured_while_they_are_unpacked(size, tmp_path, monkeypatch):
    """Bzip2 does not say beforehand how much it unpacks to."""
    rosbag = pytest.importorskip("rosbags.rosbag1")
    types = pytest.importorskip("rosbags.typesys")
    store = types.get_typestore(types.Stores.ROS1_NOETIC)
    kind = store.types["std_msgs/msg/UInt8MultiArray"]
    layout = store.types["std_msgs/msg/MultiArrayLayout"]([], 7)
    message = kind(layout, np.zeros(size, np.uint8))
    path = tmp_path / "a.bag"
    writer = rosbag.Writer(path)
    writer.set_compression(rosbag.Writer.CompressionFormat.BZ2)
    with writer:
        topic = writer.add_connection("/a", kind.__msgtype__, typestore=store)
        writer.write(topic, 1, store.serialize_ros1(message, kind.__msgtype__))
    assert path.stat().st_size < 20_000
    monkeypatch.setenv(BYTES_VARIABLE, "4e6")
    if size < 4e6:
        assert read_log(path)["/a.layout.data_offset"].values.tolist() == [[7.0]]
    else:
        with refused(rf"a\.bag.*{BYTES_VARIABLE}"):
            read_log(path)
