"""The log file of a run that is under way: whatever ends the run, earlier samples are kept."""

from __future__ import annotations

from math import inf
from pathlib import Path

from twin.basics.files import check_replaced, check_writable
from twin.errors import InputError
from twin.logs.files import LOG_WRITERS, part, write_log
from twin.logs.log import Log, join


def files_of(path: Path | None) -> list[Path]:
    """Return a log and the files that its samples are in until its end."""
    if path is None:
        return []
    part_path = path.with_name(path.name + part.PART_SUFFIX)
    return [path, part_path, part.earlier_path(part_path)]


class LogRecorder:
    """Writes samples to `FILE.part` as they come, and the log to `FILE` at the end.

    The part is as complete after SIGKILL or a power failure as the last block. With `keep`, a
    second part begins after so many seconds, and takes the place of the first one in turn.

    Attributes:
        path: of the log.
        part: file that is written to until the end.
        fault: why the last block is not in the part yet; empty where all are.
    """

    def __init__(
        self,
        path: str | Path,
        metadata: dict[str, str],
        *,
        keep: float | None = None,
        replace: bool = False,
    ) -> None:
        """Begin the part.

        Args:
            path: of the log; ends in .csv, .parquet or .mcap.
            metadata: of the log.
            keep: [s] of the samples that are kept at least; default: all.
            replace: whether an existing log, or part of an ended run, may be replaced.

        Raises:
            InputError: another ending, a log or a part that exists and is not to be replaced, or a
                place that cannot be written to.
        """
        self.path, self._metadata, self._keep = Path(path), metadata, keep
        check_writable(self.path, *LOG_WRITERS)
        check_replaced(self.path, "log", replace=replace)
        _, self.part, self._earlier_part = files_of(self.path)
        if self._earlier_part.exists() and not replace:
            raise part.left_over(self._earlier_part)
        self._file = part.PartFile(self.part, metadata, replace=replace)
        self._earlier_part.unlink(missing_ok=True)
        self._unwritten: list[Log] = []
        self._part_start: float | None = None
        self.fault = ""

    def write(self, log: Log) -> None:
        """Add a block of samples; where it cannot be written now, it is kept and tried again."""
        self._unwritten.append(log)
        keep_time = inf if self._keep is None else self._keep
        while len(self._unwritten) > 1 and log.span[1] - self._unwritten[0].span[0] > keep_time:
            del self._unwritten[0]
        try:
            while self._unwritten:
                self._file.write(self._unwritten[0])
                self._start_new_part(self._unwritten.pop(0))
            self.fault = ""
        except (OSError, InputError) as error:
            self.fault = f"cannot write {self.part} ({getattr(error, 'strerror', error)})"

    def close(self) -> None:
        """Close the part, and remove it if nothing is in it; calling it twice is allowed."""
        self._file.close()
        if self._part_start is None and not (self._unwritten or self._earlier_part.exists()):
            self.part.unlink(missing_ok=True)

    def finish(self) -> Path | None:
        """Write the log and remove the part; return the log's path. `keep` leaves the last seconds.

        Without any sample there is no log, and None is returned.

        Raises:
            InputError: the log cannot be written; the part remains and is named.
        """
        self._file.close()
        log = join([*part.read_blocks(self.part, "time", None), *self._unwritten])
        if self._keep is not None:
            log = log.between(log.span[1] - self._keep, inf)
        written_path = None
        if any(map(len, log.channels)):
            try:
                written_path = write_log(log, self.path)
            except InputError as error:
                loss_text = f", but for its end ({self.fault})" if self.fault else ""
                kept_text = f"the samples are kept in {self.part}{loss_text}"
                raise InputError("log", f"{error.message}; {kept_text}") from None
        for part_path in (self.part, self._earlier_part):
            part_path.unlink(missing_ok=True)
        return written_path

    def _start_new_part(self, log: Log) -> None:
        """Start a new part once the present one is long enough."""
        start, stop = log.span
        self._part_start = start if self._part_start is None else self._part_start
        if self._keep is not None and abs(stop - self._part_start) >= self._keep:
            self.part.replace(self._earlier_part)
            try:
                new_part = part.PartFile(self.part, self._metadata)
            except InputError:  # it is tried again after the next block
                self._earlier_part.replace(self.part)
                raise
            self._file.close()
            self._file, self._part_start = new_part, None
