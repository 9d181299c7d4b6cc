"""The folder of a sweep: what it is, one small Parquet file per finished run, and all of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings

from twin.basics.arrays import one_of, whole_number
from twin.basics.files import as_path, new_folder, write_atomically, write_text
from twin.basics.optional import optional
from twin.errors import InputError
from twin.sweep.cluster import cluster_backend, cluster_cores, connected, ray_library
from twin.sweep.description import Sweep
from twin.sweep.plan import Task
from twin.sweep.work import REPEATED_STATUSES, Row, run_task

if TYPE_CHECKING:
    import pyarrow

BACKEND_NAMES = ("loky", "ray", "serial")
"""Names of the backends: processes on this computer, a Ray cluster, or this process."""

FORMAT_VERSION = 1
"""Version of the folder's layout; a folder with another version is refused."""

MANIFEST_FILE = "sweep.json"

RESULTS_FILE = "results.parquet"

PARTS_FOLDER = "parts"

REPEATED_ENDING = ".again"
"""Mark before the ending of files whose runs a later call computes again."""

PARQUET_OPTIONS = {"use_dictionary": False, "write_statistics": False}
"""Options of files with one row: without statistics and dictionaries they are a third smaller."""


class Crew:
    """Pool of workers that compute runs."""

    def __init__(self, backend: str, workers: int | None) -> None:
        self._backend, self._workers = backend, workers

    def outcomes(
        self, tasks: Sequence[Task], alone: bool = False
    ) -> Generator[Row | Any, None, None]:
        """Yield the row of each run as it is finished, `Lost` where its worker died.

        Args:
            tasks: the runs.
            alone: run one at a time, so that a worker's death is caused by its own run.
        """
        if self._backend == "serial":
            yield from map(run_task, tasks)
        elif alone:
            for task in tasks:
                yield from self._together([task], 1)
        else:
            yield from self._together(tasks, self._count())

    def _together(self, tasks: Sequence[Task], count: int) -> Generator[Row | Any, None, None]:
        joblib = optional("joblib")
        if self._backend == "ray":
            backend = cluster_backend(count)
        else:
            from twin.sweep.work import SeparateWorkers

            backend = SeparateWorkers(count)
        parallel = joblib.Parallel(
            n_jobs=2,  # the backends know their number; for one joblib would not use them
            backend=backend,
            batch_size=1,
            pre_dispatch=count,
            return_as="generator_unordered",
        )
        rows = parallel(joblib.delayed(run_task)(task) for task in tasks)
        try:
            # Rows themselves would be closed before the warning is silenced.
            yield from (row for row in rows)
        finally:
            with catch_warnings():
                # Whoever interrupts a sweep knows that runs were under way.
                filterwarnings("ignore", category=UserWarning)
                rows.close()

    def _count(self) -> int:
        if self._workers is not None:
            return self._workers
        if self._backend == "ray":
            return cluster_cores()
        return int(optional("joblib").cpu_count())


def check_crew(backend: str, workers: int | None, address: str | None) -> None:
    """Check the options of `crew`, and that its libraries are installed.

    Raises:
        InputError: an unknown backend, workers below one, or an address that nobody asks for.
        MissingDependencyError: joblib or Ray is not installed.
    """
    one_of(backend, "backend", BACKEND_NAMES)
    if workers is not None:
        whole_number(workers, "workers", 1)
    if address is not None and backend != "ray":
        raise InputError("address", f"is of a Ray cluster; the backend is {backend}")
    if backend != "serial":
        optional("joblib")
    if backend == "ray":
        ray_library(address)


@contextmanager
def crew(backend: str, workers: int | None, address: str | None) -> Iterator[Crew]:
    """Provide a pool of workers inside the block.

    Args:
        backend: one of `BACKEND_NAMES`.
        workers: number of workers; None: one per core.
        address: address of a Ray cluster; None: a cluster on this computer.

    Raises:
        InputError: as `check_crew`, or an address that is of no cluster.
        MissingDependencyError: joblib or Ray is not installed.
    """
    check_crew(backend, workers, address)
    if backend != "ray":
        yield Crew(backend, workers)
        return

    with connected(address, workers):
        yield Crew(backend, workers)


class SweepFolder:
    """The folder with the results of one sweep.

    Attributes:
        path: the folder.
    """

    def __init__(self, path: str | Path) -> None:
        """Refer to a folder, which need not exist."""
        self.path = as_path(path, "folder")
        self._parts = self.path / PARTS_FOLDER

    def open(self, sweep: Sweep, keys: Sequence[str], resume: bool = True) -> None:
        """Create the folder, or check that it belongs to this sweep.

        Args:
            sweep: sweep whose results are stored here.
            keys: keys of its runs, in order.
            resume: take a folder that holds results already.

        Raises:
            InputError: the folder is of another sweep, holds other files or, unless resumed,
                results; or it cannot be made.
        """
        sweep_content = sweep.model_dump(mode="json")
        if (self.path / MANIFEST_FILE).exists():
            if self._manifest()["sweep"] != sweep_content:
                raise InputError(
                    "folder",
                    f"{self.path} holds another sweep "
                    f"({_differences(self._manifest(), sweep_content)}); give a new folder",
                )
            if not resume and any(self._parts.glob("*.parquet")):
                raise InputError("folder", f"{self.path} holds results; resume, or give a new one")
        elif self.path.is_dir() and any(self.path.iterdir()):
            raise InputError("folder", f"{self.path} holds other files; give a new or empty folder")
        content = {"format": FORMAT_VERSION, "sweep": sweep_content, "runs": list(keys)}
        with new_folder(self.path, "folder"):
            self._parts.mkdir(exist_ok=True)
            write_text(self.path / MANIFEST_FILE, json.dumps(content, indent=1) + "\n")

    def finished(self) -> set[str]:
        """Return the keys of runs that need not be computed again; damaged files do not count."""
        files = (
            file
            for file in self._parts.glob("*.parquet")
            if not file.stem.endswith(REPEATED_ENDING)
        )
        return {file.stem for file in files if _read(file) is not None}

    def write(self, row: Row) -> None:
        """Write the row of one run as a separate file, whole or not at all.

        Raises:
            InputError: the folder cannot be written to.
        """
        key = row["key"]
        repeated_file = self._parts / f"{key}{REPEATED_ENDING}.parquet"
        if row["status"] in REPEATED_STATUSES:
            self._write(repeated_file, _table([row]), **PARQUET_OPTIONS)
            return
        self._write(self._parts / f"{key}.parquet", _table([row]), **PARQUET_OPTIONS)
        _remove(repeated_file)

    def table(self) -> pyarrow.Table:
        """Return the rows of all finished runs, in order; this works while others still run.

        Raises:
            InputError: not the folder of a sweep.
        """
        keys = self._manifest()["runs"]
        all_results = _read(self.path / RESULTS_FILE)
        if all_results is not None and (all_results.schema.metadata or {}).get(b"runs") == _digest(
            keys
        ):
            return all_results
        arrow = optional("pyarrow")
        tables = [table for key in keys if (table := self._part(key)) is not None]
        if not tables:
            return arrow.table({"key": arrow.array([], arrow.string())})
        return arrow.concat_tables(tables, promote_options="permissive")

    def consolidate(self) -> pyarrow.Table:
        """Write all rows into one file and return them.

        Raises:
            InputError: not the folder of a sweep, or it cannot be written to.
        """
        _remove(self.path / RESULTS_FILE)
        manifest = self._manifest()
        metadata = {"sweep": json.dumps(manifest["sweep"]), "runs": _digest(manifest["runs"])}
        table = self.table().replace_schema_metadata(metadata)
        self._write(self.path / RESULTS_FILE, table)
        return table

    def _part(self, key: str) -> pyarrow.Table | None:
        tables = (_read(self._parts / f"{key}{mark}.parquet") for mark in ("", REPEATED_ENDING))
        return next((table for table in tables if table is not None), None)

    def _manifest(self) -> dict[str, Any]:
        try:
            content = json.loads((self.path / MANIFEST_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise InputError("folder", f"{self.path} is not the folder of a sweep") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT_VERSION:
            raise InputError("folder", f"{self.path} was written in another format")
        if not isinstance(content.get("sweep"), dict) or not isinstance(content.get("runs"), list):
            raise InputError("folder", f"{self.path / MANIFEST_FILE} is damaged; give a new folder")
        return content

    def _write(self, path: Path, table: pyarrow.Table, **options: Any) -> None:
        parquet = optional("pyarrow.parquet")
        options |= {"write_page_checksum": True}
        write_atomically(path, lambda file: parquet.write_table(table, file, **options))


def read_results(folder: str | Path) -> pyarrow.Table:
    """Return the results of a sweep, one row per run that is finished, in the sweep's order.

    Columns: what went in (`key`, `run`, `controller`, `payload`, `seed`, one column per parameter
    by its path, and more), `status`, `stopped`, `error`, `wall_time` [s], `timestep` [s], those of
    `twin.sweep.MEASURE_UNITS`, and those of the sweep's own function.

    Raises:
        InputError: not the folder of a sweep.
        MissingDependencyError: pyarrow is not installed.
    """
    return SweepFolder(folder).table()


def _table(rows: list[Row]) -> pyarrow.Table:
    return optional("pyarrow").Table.from_pylist(rows)


def _read(file: Path) -> pyarrow.Table | None:
    """Return the table of a file; None if there is none or it is damaged."""
    if not file.is_file():  # pyarrow takes a folder for a table, an empty one for one without rows
        return None
    try:
        return optional("pyarrow.parquet").read_table(file, page_checksum_verification=True)
    except (OSError, ValueError):  # among them what pyarrow raises for a damaged file
        return None


def _remove(file: Path) -> None:
    """Remove a file if it exists; raises InputError if that is impossible."""
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            "folder", f"cannot replace {file} ({error.strerror}); move it away"
        ) from None


def _digest(keys: Sequence[str]) -> bytes:
    return hashlib.sha256("".join(keys).encode()).hexdigest().encode()


def _differences(manifest: dict[str, Any], own: dict[str, Any]) -> str:
    existing = manifest["sweep"]
    names = [name for name in own if existing.get(name) != own[name]]
    return f"differs in {', '.join(names)}"
