"""Logs as MCAP files: JSON messages with the schemas of Foxglove, which opens them."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from twin.basics.files import write_atomically
from twin.basics.optional import optional
from twin.basics.size_limits import check_bytes
from twin.errors import InputError
from twin.logs.files.foxglove import NANOSECONDS, SCHEMAS, TRANSFORMS, samples, topics
from twin.logs.files.messages import Collector, numbers
from twin.logs.files.table import MARK, merge_order
from twin.logs.log import Log

LATEST = 9e9
"""[s] Times in MCAP are whole nanoseconds in 64 bits."""

AFTER_CHECKSUM = 12
"""Bytes at the end of an MCAP file from the checksum of its summary on."""

BEFORE_CHECKSUM = 25
"""Bytes of the footer before that checksum."""


def write_mcap(log: Log, path: str | Path) -> Path:
    """Write a log as MCAP; times are rounded to nanoseconds.

    Raises:
        InputError: the place cannot be written to, or a time is below zero or too large.
        MissingDependencyError: mcap is not installed.
    """
    library = optional("mcap.writer")
    for channel in log.channels:
        if len(channel) and not 0.0 <= channel.time.min() <= channel.time.max() <= LATEST:
            raise InputError(f"{channel.name}.time", f"must be from 0 to {LATEST:g} s in MCAP")

    def write(file: IO[bytes]) -> None:
        writer = library.Writer(file, enable_data_crcs=True)
        writer.start()
        writer.add_metadata(MARK, log.metadata)
        found = topics(log)
        schemas: dict[str, int] = {}
        places = []
        for topic in found:
            if topic.schema not in schemas:
                text = json.dumps(SCHEMAS[topic.schema]).encode()
                schemas[topic.schema] = writer.register_schema(topic.schema, "jsonschema", text)
            units = {channel.name: channel.units for channel in topic.channels}
            note = {} if topic.schema == TRANSFORMS else {MARK: json.dumps(units)}
            places.append(writer.register_channel(topic.name, "json", schemas[topic.schema], note))
        for number, row in merge_order([topic.time for topic in found]).tolist():
            topic = found[number]
            time = round(float(topic.time[row]) * NANOSECONDS)
            data = json.dumps(topic.message(row, time)).encode()
            writer.add_message(places[number], time, data, time)
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
            if record.name == MARK
            for key, value in record.metadata.items()
        }
        summary = reader.get_summary()
        channels = {} if summary is None else summary.channels
        schemas = {} if summary is None else summary.schemas
        collector = Collector(path, metadata)
        own: dict[int, dict[str, list[str]]] = {}
        for place, channel in channels.items():
            if MARK in channel.metadata:
                own[place] = _units(channel.metadata[MARK], channel.topic, path)
                for name, units in own[place].items():
                    collector.declare(name, units)
        own_tf = {
            place
            for place, channel in channels.items()
            if own and place not in own and schemas[channel.schema_id].name == TRANSFORMS
        }
        yield collector.take()
        stream.seek(0)
        messages = library.NonSeekingReader(stream, validate_crcs=True)
        for schema, channel, message in messages.iter_messages(log_time_order=False):
            if channel.id in own_tf:
                continue
            content, stamp = _content(channel, message, path)
            if channel.id in own:
                _add_own(collector, schema.name, content, stamp, own[channel.id], path)
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
    end = stream.seek(-AFTER_CHECKSUM, os.SEEK_END)
    begin = footer.summary_start or end - BEFORE_CHECKSUM
    stream.seek(begin)
    if footer.summary_crc not in (0, zlib.crc32(stream.read(end - begin))):
        raise InputError(str(path), "is damaged: the end of the file does not fit its checksum")


def _unpacked_size(chunk: Any) -> int:
    """Return what a chunk takes in memory [byte]: the larger of what it and its frame declare."""
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
        message = f"topic {topic!r}: the metadata {MARK!r} are damaged ({error})"
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
        nanoseconds = stamp["sec"] * NANOSECONDS + stamp["nsec"]  # type: ignore[index]
    except (TypeError, KeyError):
        nanoseconds = message.log_time
    return content, nanoseconds / NANOSECONDS


def _add_own(
    collector: Collector,
    schema: str,
    content: Any,
    stamp: float,
    units: dict[str, list[str]],
    path: Path,
) -> None:
    try:
        found = samples(schema, content, list(units))
        if any(len(a) != len(b) for a, b in zip(found, units.values(), strict=True)):
            raise ValueError("another number of values than units")
    except (KeyError, TypeError, ValueError) as error:
        message = f"a message of {', '.join(units)} at {stamp:.9g} s is damaged"
        raise InputError(str(path), f"{message} ({type(error).__name__}: {error})") from None
    for name, values in zip(units, found, strict=True):
        collector.add(name, stamp, values)
