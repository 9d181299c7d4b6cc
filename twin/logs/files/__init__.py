"""Files of logs, by the ending of their names: .csv, .parquet, .mcap, and bags of ROS."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from twin.basics.arrays import as_instance
from twin.basics.files import as_path, check_bytes
from twin.errors import InputError, TwinError
from twin.logs.files import mcap_file, part, table
from twin.logs.log import Log, join, with_whole_signals
from twin.logs.mapping import LogMapping
from twin.logs.simulated import log_of
from twin.model.machine_model import MachineModel
from twin.simulation.simulate import Trajectory

LOG_WRITERS: dict[str, Callable[[Log, str | Path], Path]] = {
    ".csv": table.write_csv,
    ".parquet": table.write_parquet,
    ".mcap": mcap_file.write_mcap,
}

LOG_READERS: dict[str, Callable[[Path, str, str | None], Iterator[Log]]] = {
    ".csv": table.read_csv_blocks,
    ".txt": table.read_csv_blocks,
    ".parquet": table.read_parquet_blocks,
    ".npz": lambda path, time, time_unit: iter([log_of(Trajectory.load(path))]),
    ".mcap": mcap_file.read_blocks,
    part.PART_SUFFIX: part.read_blocks,
    ".bag": mcap_file.read_bag_blocks,
    ".db3": mcap_file.read_bag_blocks,
}
"""Readers by the ending of the file; a folder is a bag of ROS 2."""


def write_log(log: Log, path: str | Path) -> Path:
    """Write a log as .csv, .parquet or .mcap; returns the path.

    Raises:
        InputError: not a log, another ending, or a place that cannot be written to.
        MissingDependencyError: the library of the format is not installed.
    """
    as_instance(log, "log", Log)
    ending = as_path(path).suffix
    if ending not in LOG_WRITERS:
        raise InputError("path", f"must end in {' or '.join(LOG_WRITERS)}, got {str(path)!r}")
    return LOG_WRITERS[ending](log, path)


def read_log(
    path: str | Path,
    mapping: LogMapping | None = None,
    machine: MachineModel | None = None,
    *,
    time: str = "time",
    signals: Collection[str] | None = None,
) -> Log:
    """Return a log from a file, or from the folder of a bag of ROS 2.

    Args:
        path: ends in .csv, .txt, .parquet, .npz, .mcap, .bag or .db3.
        mapping: turns channels into signals of the `machine`; default: channels as in the file.
        machine: needed with a mapping.
        time: name of the column with the times of a table; a mapping has its own.
        signals: names of those that are returned; others take no memory. Default: all.

    Raises:
        InputError: no such file, damaged, too large, or without times; a mapping that does not fit.
        MissingDependencyError: the library of the format is not installed.
    """
    wanted_signals = signals
    if mapping is not None:
        as_instance(mapping, "mapping", LogMapping)
        if machine is None:
            raise InputError("machine", "is needed with a mapping")
        if signals is not None:
            mapping = mapping.part(signals)
            wanted_signals = mapping.channels
    blocks = _blocks(path, mapping, time, whole=wanted_signals is None)
    if mapping is None and signals is not None:
        blocks = (with_whole_signals(block, signals) for block in blocks)
    log = join(_with_signals(blocks, path, wanted_signals))
    return log if mapping is None or machine is None else mapping.apply(log, machine)


def sha256_of(path: str | Path) -> str:
    """Return the SHA-256 of a file, or of all files of a folder in the order of their paths.

    Raises:
        InputError: a file that cannot be read.
    """
    path, digest = as_path(path), hashlib.sha256()
    try:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                with file.open("rb") as stream:
                    hashlib.file_digest(stream, lambda: digest)
    except OSError as error:
        raise InputError("log", f"{path} cannot be read ({error.strerror})") from None
    return digest.hexdigest()


def _with_signals(
    blocks: Iterable[Log], path: str | Path, signals: Collection[str] | None
) -> Iterator[Log]:
    """Yield blocks with the channels that are wanted, None for all; they are kept in memory.

    Raises:
        InputError: they take too much of it.
    """
    count = 0
    for block in blocks:
        channels = [
            channel for channel in block.channels if signals is None or channel.name in signals
        ]
        count += sum(channel.time.nbytes + channel.values.nbytes for channel in channels)
        check_bytes(path, count)
        yield Log(tuple(channels), block.metadata)


def _blocks(
    path: str | Path, mapping: LogMapping | None, time: str, *, whole: bool
) -> Iterator[Log]:
    """Yield a file block by block; `whole`: all of them are kept.

    Raises:
        InputError: no such file, or a fault in it, whatever the libraries raise for it.
    """
    file = as_path(path)
    time, unit = (time, None) if mapping is None else (mapping.time, mapping.time_unit)
    reader = mcap_file.read_bag_blocks if file.is_dir() else LOG_READERS.get(file.suffix)
    if reader is None:
        known_endings = ", ".join(LOG_READERS)
        raise InputError(
            "path", f"must end in one of {known_endings} or be a bag, got {str(path)!r}"
        )
    try:
        if not file.exists():
            raise InputError("path", f"{file} does not exist")
        if whole and file.suffix == ".parquet":
            table.check_size(file)
        yield from reader(file, time, unit)
    except TwinError:
        raise
    except Exception as error:  # libraries raise anything for a damaged file
        message = f"cannot be read as a log ({type(error).__name__}: {error})"
        raise InputError(str(file), message) from None
