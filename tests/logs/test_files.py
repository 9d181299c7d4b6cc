"""Files of logs: what is written is read; windows make the whole; damaged files are refused."""

import importlib
import json

import numpy as np
import pytest
from console import console
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within

from twin.errors import TwinError
from twin.logs import Channel, Log, LogMapping, join, log_of, read_log, write_log
from twin.logs.files import table
from twin.motion import read_recording
from twin.motion import table as table_file

pytestmark = pytest.mark.quick


def needed(ending):
    """Skip where the library of a format is missing."""
    library = {"parquet": "pyarrow", "mcap": "mcap", "bag": "rosbags"}.get(ending)
    if library:
        pytest.importorskip(library, reason=f"files of kind {ending} need {library}")


@pytest.fixture(scope="module")
def log(stewart):
    """A simulated run, a slow channel, one that jumps back, one that is empty."""
    run = log_of(stewart.simulate(0.03, twist=[0.0, 0.1, 0.1, 0.0, 0.3, 0.2]))
    slow = Channel("temperatures", [0.0005, 0.0205], [[20.0], [21.5]], "degC")
    jumping = Channel("clock", [0.01, 0.02, 0.012, 0.03], [1.0, 2.0, 3.0, 1 / 3], "")
    empty = Channel("empty", np.empty(0), np.empty((0, 3)), "N")
    return run.with_channels(slow, jumping, empty)


def assert_same(one, other, atol):
    """Compare values bit for bit, and times as far as the format holds them."""
    assert one.names == other.names or set(one.names) == set(other.names)
    assert one.metadata == other.metadata
    for channel in one.channels:
        found = other[channel.name]
        assert found.units == channel.units
        assert_array_equal(found.values, channel.values)
        assert_within(found.time, channel.time, atol)


@pytest.mark.parametrize("ending", ["csv", "parquet", "mcap"])
def test_what_is_written_is_read(log, tmp_path, constants, ending):
    """As a whole, in blocks that make the whole, and in part."""
    needed(ending)
    atol = 5e-10 if ending == "mcap" else 0.0
    path = write_log(log, tmp_path / f"run.{ending}")
    assert_same(log, read_log(path), atol)
    constants("twin.logs.files.table", BLOCK_ROWS=7)
    constants("twin.logs.files.mcap_file", BLOCK_SIZE=11)
    path = write_log(log, tmp_path / f"blocks.{ending}")
    assert_same(log, read_log(path), atol)
    part = read_log(path, signals=("pose", "nothing"))
    assert_same(Log((log["pose"],), log.metadata), part, atol)


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_saved_trajectories_are_logs(stewart, tmp_path, ending):
    needed(ending)
    run = stewart.simulate(0.005)
    assert_same(log_of(run), read_log(run.save(tmp_path / f"run.{ending}")), 0.0)


def written_messages(path, topics, messages, **options):
    """Write messages (number of the topic, time [ns], bytes) with the library of the format."""
    from mcap.writer import Writer

    with path.open("wb") as file:
        writer = Writer(file, **options)
        writer.start()
        schema = writer.register_schema("any", "jsonschema", b"{}")
        places = [writer.register_channel(name, kind, schema) for name, kind in topics]
        for topic, time, content in messages:
            writer.add_message(places[topic], time, content, time)
        writer.finish()
    return path


def test_channels_that_begin_late_are_mapped(stewart, tmp_path, constants):
    """What never comes is an error."""
    needed("mcap")
    constants("twin.logs.files.mcap_file", BLOCK_SIZE=11)
    messages = []
    for k in range(60):
        data = {f"q{leg}": 100.0 * leg + k for leg in range(6)}
        messages.append((0, 1_000_000 * k, json.dumps(data).encode()))
        if k > 25:
            messages.append((1, 1_000_000 * k, json.dumps({"t": [20.0] * 6}).encode()))
    topics = (("/legs", "json"), ("/late", "json"))
    path = written_messages(tmp_path / "other.mcap", topics, messages)
    legs = {"channels": [f"/legs.q{leg}" for leg in range(6)], "unit": "mm", "sign": -1}
    late = {"channels": [f"/late.t {leg}" for leg in range(1, 7)], "unit": "degC", "delay": "2 ms"}
    mapping = LogMapping.of({"signals": {"coordinates": legs, "temperatures": late}})
    whole = read_log(path, mapping, stewart)
    assert whole.names == ("coordinates", "temperatures")
    assert len(whole["temperatures"]) == 34
    wrong = LogMapping.of({"signals": {"coordinates": legs | {"channels": ["/legs.q9"]}}})
    with refused(r"no channel '/legs\.q9'"):
        read_log(path, wrong, stewart)


def test_tables_of_others_are_read(tmp_path, stewart):
    """Comments, semicolons, units in brackets, empty cells, times in ms in a column of any name."""
    path = tmp_path / "drive.csv"
    path.write_text(
        "# made by a drive\nStamp [ms]; leg 1 [mm];leg 2 [mm] ;temp\n"
        "0;1.5;2.5;20\n\n2;1.6;;\n4;;2.7;NaN\n"
    )
    mapping = LogMapping.of({"time": "stamp", "signals": {"pose": {"channels": "x"}}})
    with refused(r"signals\.pose\.channels: no channel 'x'"):
        read_log(path, mapping, stewart)
    with refused("machine"):
        read_log(path, mapping)
    log = join(list(table.read_csv_blocks(path, "stamp", None)))
    assert_allclose(log["leg 1"].time, [0.0, 0.002], rtol=1e-15)
    assert_array_equal(log["leg 2"].values[:, 0], [2.5, 2.7])
    assert log["leg 2"].units == ("mm",) and log["temp"].units == ("",)
    assert len(log["temp"]) == 1


def test_damaged_tables_name_the_fault(tmp_path):
    path = tmp_path / "log.csv"
    for text, words in (
        ("", "empty"),
        ("a,b\n1,2\n", "no column 'time'"),
        ("time,time\n1,2\n", "2 columns 'time'"),
        ("time,a,a\n1,2,3\n", "names that differ"),
        ("time [m],a\n1,2\n", "a unit of length, not of time"),
        ("time,a\n1,2\n2\n", "line 3: has 1 cells, the header has 2"),
        ("# x\ntime,a\n1,2\n2,1;5\n", "line 4, column 'a': '1;5' is not a number"),
        ("time,a\n,3\n", "has no time"),
        ("# twin log {]\ntime,a\n1,2\n", "damaged"),
        ('# twin log {"channels": {"a": "m"}, "metadata": {}}\ntime,a\n', "damaged"),
        ('# twin log {"channels": {"b": ["m"]}, "metadata": {}}\ntime,a\n', r"no column b \[m\]"),
        (
            '# twin log {"channels": {"a": ["m", "m"]}, "metadata": {}}\n'
            "time,a 1 [m],a 2 [m]\n0,1,\n",
            "channel 'a': a part of the cells is empty at 0 s",
        ),
    ):
        path.write_text(text)
        with refused(words):
            read_log(path)


def test_wrong_files_are_refused(log, tmp_path):
    for path, words in (("a.xyz", "must end in"), ("a.csv", "does not exist"), ("a.bag", "exist")):
        with refused(words):
            read_log(tmp_path / path)
    with refused("must end in"):
        write_log(log, tmp_path / "run.npz")
    with refused("log"):
        write_log(3, tmp_path / "run.csv")
    twice = Log((Channel("a 1", [0.0], [1.0], ""), Channel("a", [0.0], [[1.0, 2.0]], "")))
    with refused("two columns would be called a 1"):
        write_log(twice, tmp_path / "run.csv")
    (tmp_path / "bytes.csv").write_bytes(b"time,a\n1,\xff\n")
    with refused(r"bytes\.csv"):
        read_log(tmp_path / "bytes.csv")


def test_foxglove_finds_its_schemas(log, tmp_path):
    """Names, fields and order of time as Foxglove's own schemas have them."""
    needed("mcap")
    from mcap.reader import make_reader

    path = write_log(log, tmp_path / "run.mcap")
    with path.open("rb") as file:
        messages = list(make_reader(file).iter_messages())
    found = {channel.topic: (schema, message) for schema, channel, message in reversed(messages)}
    assert found["/joints"][0].name == "foxglove.JointStates"
    assert found["/pose"][0].name == "foxglove.PoseInFrame"
    assert found["/tf"][0].name == "foxglove.FrameTransforms"
    frame = json.loads(found["/tf"][1].data)["transforms"][0]
    assert frame["child_frame_id"] == "platform"
    w, x, y, z = log["pose"].values[0, 3:]
    assert frame["rotation"] == {"w": w, "x": x, "y": y, "z": z}
    joints = json.loads(found["/joints"][1].data)["joints"]
    assert [joint["position"] for joint in joints] == log["coordinates"].values[0].tolist()
    assert [joint["effort"] for joint in joints] == log["forces"].values[0].tolist()


def test_messages_and_schemas_are_those_of_foxglove(log, tmp_path):
    """As Foxglove publishes them for protocol buffers: fields, their types, and what they parse."""
    needed("mcap")
    pytest.importorskip("foxglove_schemas_protobuf", reason="the schemas are not installed")
    from google.protobuf.json_format import ParseDict
    from mcap.reader import make_reader

    with write_log(log, tmp_path / "run.mcap").open("rb") as file:
        messages = list(make_reader(file).iter_messages())
    found = {schema.name: (schema, message) for schema, _, message in messages}
    names = [name for name in found if name.startswith("foxglove.")]
    assert len(names) == 3
    for name in names:
        schema, message = found[name]
        title = name.removeprefix("foxglove.")
        module = importlib.import_module(f"foxglove_schemas_protobuf.{title}_pb2")
        kind = getattr(module, title)
        check_fields(json.loads(schema.data), kind.DESCRIPTOR)
        ParseDict(json.loads(message.data, object_hook=without_stamps), kind())


def check_fields(rules, message):
    """Check that rules of JSON have the fields and types of a message, but for optional ones."""
    fields = {field.name: field for field in message.fields}
    assert set(rules["properties"]) <= set(fields)
    for name in set(fields) - set(rules["properties"]):
        assert fields[name].has_presence and fields[name].message_type is None, name
    for name, rule in rules["properties"].items():
        field, inner = fields[name], fields[name].message_type
        if rule["type"] == "array":
            assert field.is_repeated, name
            rule = rule["items"]
        if inner is not None and inner.full_name == "google.protobuf.Timestamp":
            assert set(rule["properties"]) == {"sec", "nsec"}
        elif inner is not None:
            check_fields(rule, inner)
        else:
            known = {field.TYPE_DOUBLE: "number", field.TYPE_STRING: "string"}
            assert rule["type"] == known[field.type], name


def without_stamps(content):
    """Leave out the times, which JSON writes as two whole numbers."""
    return {name: value for name, value in content.items() if name != "timestamp"}


def test_topics_of_others_give_their_numbers(tmp_path):
    needed("mcap")
    path = tmp_path / "other.mcap"
    messages = (
        (0, 2_000_000_000, b'{"a": {"x": 1.5, "on": true}, "l": [1, 2]}'),
        (0, 3_000_000_000, b'{"a": {"x": 2.5, "name": "n"}, "l": []}'),
    )
    log = read_log(written_messages(path, (("/imu", "json"),), messages, enable_crcs=False))
    assert_array_equal(log["/imu.a.x"].values[:, 0], [1.5, 2.5])
    assert_array_equal(log["/imu.a.x"].time, [2.0, 3.0])
    assert set(log.names) == {"/imu.a.x", "/imu.a.on", "/imu.l 1", "/imu.l 2"}
    for encoding, data, words in (("cdr", b"", "encoding 'cdr'"), ("json", b"{", "is no JSON")):
        written_messages(path, (("/t", encoding),), ((0, 1, data),))
        with refused(words):
            read_log(path)
    with refused(r"a\.time: must be from 0"):
        write_log(Log((Channel("a", [-1.0], [1.0], ""),)), path)


def test_bags_of_ros_are_read(tmp_path):
    needed("bag")
    from rosbags.rosbag2 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    kinds = store.types
    state = kinds["sensor_msgs/msg/JointState"]
    legs = np.array([0.9, 0.91, 0.92])
    with Writer(tmp_path / "bag", version=9) as writer:
        topic = writer.add_connection("/legs", state.__msgtype__, typestore=store)
        for k in range(3):
            stamp = kinds["builtin_interfaces/msg/Time"](sec=5, nanosec=k * 1_000_000)
            header = kinds["std_msgs/msg/Header"](stamp=stamp, frame_id="base")
            message = state(header, ["a", "b", "c"], legs + k, legs * 0.0, np.empty(0))
            raw = store.serialize_cdr(message, state.__msgtype__)
            writer.write(topic, 6_000_000_000 + k, raw)
    log = read_log(tmp_path / "bag")
    assert_allclose(log["/legs.position 2"].time, [5.0, 5.001, 5.002], rtol=1e-15)
    assert_array_equal(log["/legs.position 2"].values[:, 0], 0.91 + np.arange(3))
    assert "/legs.effort 1" not in log
    with pytest.raises(TwinError, match="bag"):
        (tmp_path / "bag" / "metadata.yaml").write_text("nothing")
        read_log(tmp_path / "bag")


@pytest.mark.parametrize(
    ("stamps", "first"),
    [
        (("2026-11-20T09:15:00.000+01:00", "2026-11-20T09:15:00.002+01:00"), 1795162500.0),
        (("1763626500,000", "1763626500,002"), 1763626500.0),
        (("1763626500000", "1763626500002"), 1763626500.0),
        (("1763626500000000000", "1763626500002000000"), 1763626500.0),
        (("0,000", "0,002"), 0.0),
    ],
)
def test_times_are_dates_or_counted_since_1970_in_any_unit(tmp_path, stamps, first):
    path = tmp_path / "log.csv"
    path.write_text("Zeitstempel;a [mm]\n" + "".join(f"{stamp};1,5\n" for stamp in stamps))
    found = read_log(path)["a"]
    assert found.values[:, 0].tolist() == [1.5, 1.5]
    assert found.time == pytest.approx([first, first + 0.002], abs=1e-6)


def test_a_mapping_is_guessed_from_names_and_units(tmp_path, stewart):
    titles = [f"{name} {k} [{unit}]" for name, unit in GUESSED for k in (2, 1, 3, 4, 5, 6)]
    path, out = tmp_path / "plc.csv", tmp_path / "mapping.toml"
    row = ";".join(str(k) for k in range(len(titles) + 2))
    path.write_text(";".join(["Time", *titles, "state"]) + f"\n{row}\n{row}\n")
    console("logs", path, "--map", out)
    assert "# state []" in out.read_text()
    mapping = LogMapping.read(out)
    assert set(mapping.signals) == {"coordinates", "setpoint", "forces", "currents"}
    found = read_log(path, mapping, stewart)
    assert found["coordinates"].values[0, :2].tolist() == pytest.approx([2e-3, 1e-3])
    out.write_text("edited")
    refused = console("logs", path, "--map", out, code=2)
    assert "--replace" in refused.output
    assert out.read_text() == "edited"


GUESSED = (("Beinlänge", "mm"), ("Soll", "mm"), ("Kraft", "N"), ("Strom", "A"))
"""Names and units of the channels of a controller, legs 2 and 1 exchanged."""


def test_logs_may_be_larger_than_motions(tmp_path, constants):
    """A log is read in windows; a motion is held whole, so its file has a largest size."""
    constants(table_file, MAX_FILE_SIZE=20)
    path = tmp_path / "run.csv"
    path.write_text("time [s],z [m]\n" + "".join(f"{k},0\n" for k in range(10)))
    assert len(read_log(path)["z"]) == 10
    with refused("is larger than 20 bytes"):
        read_recording(path, (0.0, 0.0, 0.0))


def test_columns_with_a_number_missing_are_no_signal(tmp_path):
    names = [f"rates {number}" for number in (1, 2, 4)]
    log = Log([Channel(name, [0.0, 1.0], [2.0, 3.0], "m/s") for name in names])
    path = write_log(log, tmp_path / "run.csv")
    assert read_log(path, signals=["rates", names[2]]).names == (names[2],)


def test_columns_of_signals_need_no_comment_above_them(tmp_path):
    """A table that has lost its first line, as in a spreadsheet, has the same signals."""
    time = np.arange(5.0) * 1e-3
    channels = (
        Channel("coordinates", time, np.arange(30.0).reshape(5, 6), "m"),
        Channel("pose", time[::2], np.ones((3, 7)), ("m",) * 3 + ("1",) * 4),
    )
    path = write_log(Log(channels), tmp_path / "run.csv")
    path.write_text(path.read_text().split("\n", 1)[1])
    log = read_log(path, signals=["coordinates", "pose", "forces"])
    assert log.names == ("coordinates", "pose")
    assert_same(Log(channels), log, 0.0)
