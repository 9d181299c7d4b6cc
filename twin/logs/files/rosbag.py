"""Logs from bags of ROS 1 and ROS 2."""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from twin.basics.optional import optional
from twin.basics.size_limits import check_bytes, max_bytes
from twin.errors import InputError
from twin.logs.files.foxglove import NANOSECONDS
from twin.logs.files.messages import Collector, numbers
from twin.logs.log import Log


def read_blocks(path: Path, time: str, time_unit: str | None) -> Iterator[Log]:
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
        for each in reader.readers:
            chunks = getattr(each, "chunks", {})  # of ROS 1
            for place, chunk in chunks.items():
                if chunk.decompressor is bz2.decompress:
                    chunks[place] = chunk._replace(decompressor=partial(_unpacked, path))
        collector = Collector(path, {})
        for connection, recorded, raw in reader.messages():
            message = reader.deserialize(raw, connection.msgtype)
            stamp = _stamp(message, recorded)
            for name, value in numbers(message, connection.topic):
                collector.add(name, stamp, (value,))
            if collector.full:
                yield collector.take()
        yield collector.take()


def _unpacked(path: Path, data: bytes) -> bytes:
    """Return what a chunk unpacks to, of which bzip2 does not say beforehand how much it is."""
    found = bz2.BZ2Decompressor().decompress(data, max_bytes() + 1)
    check_bytes(path, len(found))
    return found


def _stamp(message: Any, recorded: int) -> float:
    """Return the time of a message [s]; headers that nobody filled in are zero."""
    stamp = getattr(getattr(message, "header", None), "stamp", None)
    nanoseconds = 0 if stamp is None else stamp.sec * NANOSECONDS + stamp.nanosec
    return (nanoseconds or recorded) / NANOSECONDS
