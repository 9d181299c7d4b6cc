"""The samples of a run that is under way: blocks of a file that is whole after each of them.

A block is a line of JSON and the numbers of one channel behind it, a row per sample, its time
first, as 64-bit floats, little endian. What a killed process leaves ends in the middle of a block
at worst, and is read up to there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from twin.basics.files import append_bytes, check_bytes
from twin.errors import InputError
from twin.logs.log import Channel, Log

PART_SUFFIX = ".part"

PART_HEADER = {"twin log": "part", "version": 1}

NUMBER_TYPE = np.dtype("<f8")


class PartFile:
    """A new, locked file to which blocks of a log are appended."""

    def __init__(self, path: Path, metadata: dict[str, str], *, replace: bool = False) -> None:
        """Make the file.

        Raises:
            InputError: it exists and is not to be replaced, another process writes to it, or the
                place cannot be written to.
        """
        self.path, exists = path, path.exists()
        try:
            self._file = path.open("ab", buffering=0)
            try:
                self._lock()
                if exists and not replace and not _is_empty(path):
                    raise left_over(path)
                self._file.truncate(0)
                header_line = json.dumps(PART_HEADER | {"metadata": metadata})
                append_bytes(self._file, header_line.encode() + b"\n")
            except BaseException:
                self._file.close()
                raise
        except OSError as error:
            raise InputError("log", f"cannot write {path} ({error.strerror})") from None

    def _lock(self) -> None:
        with suppress(OSError):  # a file system may have no locks
            try:
                flock(self._file, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                raise InputError("log", f"another process records to {self.path} now") from None

    def write(self, log: Log) -> None:
        """Add a block of every channel that has samples.

        Raises:
            OSError: it cannot be written, as on a full disk; the file is as it was before.
        """
        pieces = []
        for channel in log.channels:
            if len(channel):
                rows = np.column_stack([channel.time, channel.values]).astype(NUMBER_TYPE).tobytes()
                block_header = {
                    "channel": channel.name,
                    "units": channel.units,
                    "rows": len(channel),
                }
                pieces += [json.dumps(block_header | {"crc": crc32(rows)}).encode() + b"\n", rows]
        append_bytes(self._file, b"".join(pieces))

    def close(self) -> None:
        """Close the file; calling it twice is allowed."""
        self._file.close()


def _is_empty(path: Path) -> bool:
    """Return whether a part ended before its first block."""
    header_start = json.dumps(PART_HEADER).encode()[:-1]
    with path.open("rb") as file:
        first_line, next_byte = file.readline(), file.read(1)
    return not next_byte and first_line[: len(header_start)] == header_start[: len(first_line)]


def left_over(path: Path) -> InputError:
    """Return the error that a part is there already."""
    return InputError(
        "log",
        f"{path} has the samples of a run that was ended before its log was written; read it as a "
        "log, move it away, or add --replace",
    )


def earlier_path(path: Path) -> Path:
    """Return the part that came before another one, where a run keeps its last seconds alone."""
    return path.with_name(f"{path.name.removesuffix(PART_SUFFIX)}.before{PART_SUFFIX}")


def read_blocks(path: Path, time: str, time_unit: str | None) -> Iterator[Log]:
    """Yield the blocks of a part as logs, up to its last whole one, after the part before it.

    Raises:
        InputError: a part is damaged before its end.
    """
    for part_path in (earlier_path(path), path):
        if part_path.exists():
            yield from _blocks_of(part_path)


def _blocks_of(path: Path) -> Iterator[Log]:
    """Yield the header and then the complete blocks of an unfinished recording."""
    size = path.stat().st_size
    with path.open("rb") as file:
        first_line = _line(file.readline(), path)
        if first_line is None or first_line.get("twin log") != PART_HEADER["twin log"]:
            raise InputError(str(path), "is no recording of this package")
        yield Log((), {str(k): str(v) for k, v in first_line["metadata"].items()})
        while text := file.readline():
            block_header = _line(text, path)
            if block_header is None:
                return
            name = str(block_header["channel"])
            units = tuple(block_header["units"])
            count = int(block_header["rows"])
            n_bytes = count * (1 + len(units)) * NUMBER_TYPE.itemsize
            if file.tell() + n_bytes > size:
                return
            check_bytes(path, n_bytes)
            data = file.read(n_bytes)
            if crc32(data) != block_header["crc"]:
                raise InputError(str(path), f"a block of channel {name!r} is damaged")
            table = np.frombuffer(data, NUMBER_TYPE).reshape(count, -1)
            # The first column holds the times.
            yield Log((Channel(name, table[:, 0], table[:, 1:], units),))


def _line(text: bytes, path: Path) -> dict[str, Any] | None:
    """Return the content of a block's first line; None where the file ends within it.

    Raises:
        InputError: it is damaged.
    """
    if not text.endswith(b"\n"):
        return None
    try:
        content = json.loads(text)
        if not isinstance(content, dict):
            raise ValueError("is no table")
    except ValueError as error:
        raise InputError(str(path), f"a block is damaged ({error})") from None
    return content
