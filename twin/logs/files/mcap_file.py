"""Logs as MCAP files: JSON messages with the schemas of Foxglove, which opens them.

Samples of channels become messages that Foxglove shows, and messages become samples again.

Reference:
    Foxglove SDK, schemas/jsonschema: JointStates, PoseInFrame, FrameTransforms.
"""

from __future__ import annotations

import bz2
import json
import math
import os
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import IO, Any

import numpy as np

from twin.basics.files import check_bytes, check_columns, max_bytes, write_atomically
from twin.basics.optional import optional
from twin.errors import InputError
from twin.logs.files.table import LAYOUT_MARK, merge_order
from twin.logs.log import POSE_UNITS, Channel, Log

MAX_LIST_LENGTH = 64
"""Maximum number of entries; longer lists, such as pictures, are left out."""

STAMP_FIELDS = ("timestamp", "header", "_header")
"""Fields that are no samples."""

BLOCK_SIZE = 20_000
"""Number of samples that make a block."""

JOINT_FIELDS = {"coordinates": "position", "rates": "velocity", "forces": "effort"}
"""Channels of the legs -> their field in the state of a joint."""

NANOSECONDS_PER_SECOND = 10**9

MAX_TIME = 9e9
"""[s] Largest time: times in MCAP are whole nanoseconds in 64 bits."""

AFTER_CHECKSUM = 12
"""Bytes at the end of an MCAP file from the checksum of its summary on."""

BEFORE_CHECKSUM = 25
"""Bytes of the footer before that checksum."""


def numbers(value: Any, path: str) -> Iterator[tuple[str, float]]:
    """Yield the path and value of every finite number inside a message, depth first."""
    if isinstance(value, bool | np.bool_ | Real | np.number):
        if math.isfinite(value):
            yield path, float(value)
        return
    fields = value if isinstance(value, dict) else getattr(value, "__dataclass_fields__", None)
    if fields is not None:
        for name in fields:
            if not str(name).startswith("__") and name not in STAMP_FIELDS:
                member = value[name] if isinstance(value, dict) else getattr(value, name)
                yield from numbers(member, f"{path}.{name}")
    elif isinstance(value, list | tuple | np.ndarray) and len(value) <= MAX_LIST_LENGTH:
        for k, element in enumerate(value, 1):
            yield from numbers(element, f"{path} {k}")


class Collector:
    """Collects samples of channels from messages until they make a block."""

    def __init__(self, path: Path, metadata: dict[str, str]) -> None:
        """Start without channels; `path` names the file in errors."""
        self._path, self._metadata = path, metadata
        self._units: dict[str, tuple[str, ...]] = {}
        self._samples: dict[str, list[tuple[float, Sequence[float]]]] = {}
        self._count = 0

    def declare(self, name: str, units: Sequence[str]) -> None:
        """Add a channel, which may stay without samples.

        Raises:
            InputError: too many channels.
        """
        self._units[name] = tuple(units)
        check_columns(self._path, self._units)
        self._samples[name] = []

    def add(self, name: str, time: float, values: Sequence[float]) -> None:
        """Add a sample; a channel that was not declared has no units."""
        if name not in self._units:
            self.declare(name, ("",) * len(values))
        self._samples[name].append((time, values))
        self._count += 1

    @property
    def full(self) -> bool:
        """Whether there are enough samples for a block."""
        return self._count >= BLOCK_SIZE

    def take(self) -> Log:
        """Return the samples as a log, and restart with the same channels."""
        channels = []
        for name, units in self._units.items():
            rows = np.array([(time, *row) for time, row in self._samples[name]], dtype=float)
            rows = rows.reshape(-1, 1 + len(units))
            channels.append(Channel(name, rows[:, 0], rows[:, 1:], units))
            self._samples[name] = []
        self._count = 0
        return Log(tuple(channels), self._metadata)


VALUES_SCHEMA = "platform_twin.Values"
"""Name of our own schema, for channels of any kind."""

JOINTS_SCHEMA = "foxglove.JointStates"
"""Name of the schema of joint states."""

POSE_SCHEMA = "foxglove.PoseInFrame"
"""Name of the schema of a pose."""

TRANSFORMS_SCHEMA = "foxglove.FrameTransforms"
"""Name of the schema of frame transforms."""


Message = dict[str, Any]


def _table(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


NUMBER_TYPE = {"type": "number"}
"""JSON schema of a number."""

TEXT_TYPE = {"type": "string"}
"""JSON schema of a text."""

COUNT_TYPE = {"type": "integer", "minimum": 0}
"""JSON schema of a whole number from zero on."""

TIME_TYPE = {**_table(sec=COUNT_TYPE, nsec=COUNT_TYPE), "title": "time"}
VECTOR_TYPE = _table(x=NUMBER_TYPE, y=NUMBER_TYPE, z=NUMBER_TYPE)
QUATERNION_TYPE = _table(x=NUMBER_TYPE, y=NUMBER_TYPE, z=NUMBER_TYPE, w=NUMBER_TYPE)
JOINT_TYPE = {
    **_table(name=TEXT_TYPE, position=NUMBER_TYPE, velocity=NUMBER_TYPE, effort=NUMBER_TYPE),
    "required": ["name"],
}
TRANSFORM_TYPE = _table(
    timestamp=TIME_TYPE,
    parent_frame_id=TEXT_TYPE,
    child_frame_id=TEXT_TYPE,
    translation=VECTOR_TYPE,
    rotation=QUATERNION_TYPE,
)
JSON_SCHEMAS: dict[str, dict[str, Any]] = {
    name: {"title": name, **schema}
    for name, schema in (
        (VALUES_SCHEMA, _table(timestamp=TIME_TYPE, values=_list(NUMBER_TYPE))),
        (JOINTS_SCHEMA, _table(timestamp=TIME_TYPE, joints=_list(JOINT_TYPE))),
        (
            POSE_SCHEMA,
            _table(
                timestamp=TIME_TYPE,
                frame_id=TEXT_TYPE,
                pose=_table(position=VECTOR_TYPE, orientation=QUATERNION_TYPE),
            ),
        ),
        (TRANSFORMS_SCHEMA, _table(transforms=_list(TRANSFORM_TYPE))),
    )
}
"""JSON schemas by name."""


class Topic:
    """Channels with the same times whose samples make the messages of one topic."""

    def __init__(self, name: str, schema: str, channels: Sequence[Channel]) -> None:
        """Name the topic, its schema, and its channels."""
        self.name, self.schema, self.channels = name, schema, tuple(channels)
        self.time = self.channels[0].time

    def message(self, row: int, nanoseconds: int) -> Message:
        """Return the message of a sample, stamped with its time."""
        seconds, rest = divmod(nanoseconds, NANOSECONDS_PER_SECOND)
        time_stamp = {"sec": seconds, "nsec": rest}
        values = [channel.values[row].tolist() for channel in self.channels]
        if self.schema == JOINTS_SCHEMA:
            fields = [JOINT_FIELDS[channel.name] for channel in self.channels]
            joints = [
                {"name": f"leg_{leg}", **dict(zip(fields, numbers, strict=True))}
                for leg, numbers in enumerate(zip(*values, strict=True), 1)
            ]
            return {"timestamp": time_stamp, "joints": joints}
        if self.schema == VALUES_SCHEMA:
            return {"timestamp": time_stamp, "values": values[0]}
        position = dict(zip("xyz", values[0][:3], strict=True))
        rotation = dict(zip("wxyz", values[0][3:], strict=True))
        if self.schema == POSE_SCHEMA:
            pose = {"position": position, "orientation": rotation}
            return {"timestamp": time_stamp, "frame_id": "base", "pose": pose}
        frames = {"parent_frame_id": "base", "child_frame_id": "platform"}
        return {
            "transforms": [
                {"timestamp": time_stamp, **frames, "translation": position, "rotation": rotation}
            ]
        }


def topics(log: Log) -> list[Topic]:
    """Return the topics of a log: /joints, /tf, and one for every other channel."""
    topic_list = []
    of_legs = [channel for channel in log.channels if channel.name in JOINT_FIELDS]
    joints = [
        channel
        for channel in of_legs
        if channel.width == of_legs[0].width and np.array_equal(channel.time, of_legs[0].time)
    ]
    if joints:
        topic_list.append(Topic("/joints", JOINTS_SCHEMA, joints))
    for channel in log.channels:
        if channel.units == POSE_UNITS:
            topic_list.append(Topic(f"/{channel.name}", POSE_SCHEMA, [channel]))
            if channel.name == "pose":
                topic_list.append(Topic("/tf", TRANSFORMS_SCHEMA, [channel]))
        elif channel not in joints:
            topic_list.append(Topic(f"/{channel.name}", VALUES_SCHEMA, [channel]))
    return topic_list


def samples(schema: str, message: Message, names: Sequence[str]) -> list[list[float]]:
    """Return the values of each channel in a message of a topic of ours.

    Raises:
        KeyError: a field is missing.
        TypeError: a field is of another kind.
    """
    if schema == JOINTS_SCHEMA:
        return [[float(joint[JOINT_FIELDS[name]]) for joint in message["joints"]] for name in names]
    if schema == POSE_SCHEMA:
        position, rotation = message["pose"]["position"], message["pose"]["orientation"]
        return [[float(position[k]) for k in "xyz"] + [float(rotation[k]) for k in "wxyz"]]
    return [[float(value) for value in message["values"]]]


def write_mcap(log: Log, path: str | Path) -> Path:
    """Write a log as MCAP; times are rounded to nanoseconds.

    Raises:
        InputError: the place cannot be written to, or a time is below zero or too large.
        MissingDependencyError: mcap is not installed.
    """
    library = optional("mcap.writer")
    for channel in log.channels:
        if len(channel) and not 0.0 <= channel.time.min() <= channel.time.max() <= MAX_TIME:
            raise InputError(f"{channel.name}.time", f"must be from 0 to {MAX_TIME:g} s in MCAP")

    def write(file: IO[bytes]) -> None:
        writer = library.Writer(file, enable_data_crcs=True)
        writer.start()
        writer.add_metadata(LAYOUT_MARK, log.metadata)
        topic_list = topics(log)
        schemas: dict[str, int] = {}
        channel_ids = []
        for topic in topic_list:
            if topic.schema not in schemas:
                text = json.dumps(JSON_SCHEMAS[topic.schema]).encode()
                schemas[topic.schema] = writer.register_schema(topic.schema, "jsonschema", text)
            units = {channel.name: channel.units for channel in topic.channels}
            layout = {LAYOUT_MARK: json.dumps(units)} if topic.schema != TRANSFORMS_SCHEMA else {}
            schema = schemas[topic.schema]
            channel_ids.append(writer.register_channel(topic.name, "json", schema, layout))
        for topic_index, row in merge_order([topic.time for topic in topic_list]).tolist():
            topic = topic_list[topic_index]
            time = round(float(topic.time[row]) * NANOSECONDS_PER_SECOND)
            data = json.dumps(topic.message(row, time)).encode()
            writer.add_message(channel_ids[topic_index], time, data, time)
        writer.finish()

    return write_atomically(path, write)


def read_blocks(path: Path, time: str, time_unit: str | None) -> Iterator[Log]:
    """Yield an MCAP file with JSON messages as logs of some thousand samples, in file order.

    Topics of other programs give one channel per number, such as `/imu.gyro.x`, without unit.

    Raises:
        InputError: the file is damaged or cut off, or messages are not JSON; then it is a ROS bag.
        MissingDependencyError: mcap is not installed.
    """
    library = optional("mcap.reader")
    with path.open("rb") as stream:
        _check_parts(stream, path)
        stream.seek(0)
        reader = library.make_reader(stream)
        metadata = {
            str(key): str(value)
            for record in reader.iter_metadata()
            if record.name == LAYOUT_MARK
            for key, value in record.metadata.items()
        }
        summary = reader.get_summary()
        channels = {} if summary is None else summary.channels
        schemas = {} if summary is None else summary.schemas
        collector = Collector(path, metadata)
        units_of_channels = {
            channel_id: _units(channel.metadata[LAYOUT_MARK], channel.topic, path)
            for channel_id, channel in channels.items()
            if LAYOUT_MARK in channel.metadata
        }
        for units in units_of_channels.values():
            for name in units:
                collector.declare(name, units[name])
        own_transforms = {
            channel_id
            for channel_id, channel in channels.items()
            if units_of_channels
            and channel_id not in units_of_channels
            and schemas[channel.schema_id].name == TRANSFORMS_SCHEMA
        }
        yield collector.take()
        stream.seek(0)
        messages = library.NonSeekingReader(stream, validate_crcs=True)
        for schema, channel, message in messages.iter_messages(log_time_order=False):
            if channel.id in own_transforms:
                continue
            content, stamp = _content(channel, message, path)
            if channel.id in units_of_channels:
                units = units_of_channels[channel.id]
                _add_own(collector, schema.name, content, stamp, units, path)
            else:
                for name, value in numbers(content, channel.topic):
                    collector.add(name, stamp, (value,))
            if collector.full:
                yield collector.take()
        yield collector.take()


def _check_parts(stream: IO[bytes], path: Path) -> None:
    """Check all checksums that a file has, and the sizes that its chunks declare.

    Raises:
        InputError: a chunk is too large, or the end of the file is damaged.
        Exception: of the library, for a chunk or the data section.
    """
    reader, records = optional("mcap.stream_reader"), optional("mcap.records")
    footer: Any = None
    for record in reader.StreamReader(stream, emit_chunks=True, validate_crcs=True).records:
        if isinstance(record, records.Chunk):
            check_bytes(path, _unpacked_size(record))
        elif isinstance(record, records.Footer):
            footer = record
    data_end = stream.seek(-AFTER_CHECKSUM, os.SEEK_END)
    data_start = footer.summary_start or data_end - BEFORE_CHECKSUM
    stream.seek(data_start)
    if footer.summary_crc not in (0, zlib.crc32(stream.read(data_end - data_start))):
        raise InputError(str(path), "is damaged: the end of the file does not fit its checksum")


def _unpacked_size(chunk: Any) -> int:
    """Return a chunk's size in memory [byte]: the larger of those that it and its frame declare."""
    framed = 0
    if chunk.compression == "zstd":
        framed = import_module("zstandard").frame_content_size(chunk.data)
    elif chunk.compression == "lz4":
        framed = import_module("lz4.frame").get_frame_info(chunk.data)["content_size"]
    return max(int(chunk.uncompressed_size), int(framed))


def _units(text: str, topic: str, path: Path) -> dict[str, list[str]]:
    try:
        return {str(name): [str(u) for u in units] for name, units in json.loads(text).items()}
    except (ValueError, AttributeError, TypeError) as error:
        message = f"topic {topic!r}: the metadata {LAYOUT_MARK!r} are damaged ({error})"
        raise InputError(str(path), message) from None


def _content(channel: Any, message: Any, path: Path) -> tuple[Any, float]:
    """Return a JSON message and its time [s]: the one that it is stamped with, else the log's."""
    if channel.message_encoding != "json":
        raise InputError(
            str(path),
            f"topic {channel.topic!r} has messages of encoding {channel.message_encoding!r}, not "
            "JSON; of a ROS 2 bag, give the folder with its metadata.yaml",
        )
    try:
        content = json.loads(message.data)
    except ValueError as error:
        raise InputError(str(path), f"topic {channel.topic!r}: is no JSON ({error})") from None
    stamp = content.get("timestamp") if isinstance(content, dict) else None
    try:
        nanoseconds = stamp["sec"] * NANOSECONDS_PER_SECOND + stamp["nsec"]  # type: ignore[index]
    except (TypeError, KeyError):
        nanoseconds = message.log_time
    return content, nanoseconds / NANOSECONDS_PER_SECOND


def _add_own(
    collector: Collector,
    schema: str,
    content: Any,
    stamp: float,
    units: dict[str, list[str]],
    path: Path,
) -> None:
    """Add a message of a schema that this package writes to the channels of a log."""
    try:
        values_of_channels = samples(schema, content, list(units))
        if any(len(a) != len(b) for a, b in zip(values_of_channels, units.values(), strict=True)):
            raise ValueError("the number of values differs from that of units")
    except (KeyError, TypeError, ValueError) as error:
        message = f"a message of {', '.join(units)} at {stamp:.9g} s is damaged"
        raise InputError(str(path), f"{message} ({type(error).__name__}: {error})") from None
    for name, values in zip(units, values_of_channels, strict=True):
        collector.add(name, stamp, values)


def read_bag_blocks(path: Path, time: str, time_unit: str | None) -> Iterator[Log]:
    """Yield a bag as logs: one channel per number of a message, such as `/joints.position 1`.

    Times are those of the messages' headers, or else those at which they were recorded.

    Raises:
        InputError: no messages of a known type, or a chunk that takes too much memory.
        MissingDependencyError: rosbags is not installed.
    """
    library = optional("rosbags.highlevel")
    types = optional("rosbags.typesys")
    store = types.get_typestore(types.Stores.ROS2_HUMBLE)
    with library.AnyReader([path], default_typestore=store) as reader:
        if not reader.connections:
            raise InputError(str(path), "the bag has no topics")
        for source in reader.readers:
            chunks = getattr(source, "chunks", {})  # of ROS 1
            for topic_key, chunk in chunks.items():
                if chunk.decompressor is bz2.decompress:
                    chunks[topic_key] = chunk._replace(decompressor=partial(_unpacked, path))
        collector = Collector(path, {})
        for connection, receive_time, raw_message in reader.messages():
            message = reader.deserialize(raw_message, connection.msgtype)
            stamp = _stamp(message, receive_time)
            for name, value in numbers(message, connection.topic):
                collector.add(name, stamp, (value,))
            if collector.full:
                yield collector.take()
        yield collector.take()


def _unpacked(path: Path, data: bytes) -> bytes:
    """Return the unpacked bytes of a chunk, up to the size limit, as bzip2 does not state it."""
    unpacked = bz2.BZ2Decompressor().decompress(data, max_bytes() + 1)
    check_bytes(path, len(unpacked))
    return unpacked


def _stamp(message: Any, receive_time: int) -> float:
    """Return the time of a message [s]; headers that nobody filled in are zero."""
    stamp = getattr(getattr(message, "header", None), "stamp", None)
    nanoseconds = 0 if stamp is None else stamp.sec * NANOSECONDS_PER_SECOND + stamp.nanosec
    return (nanoseconds or receive_time) / NANOSECONDS_PER_SECOND
