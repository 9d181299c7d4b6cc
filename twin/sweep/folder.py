"""The folder of a sweep: its description, a line per finished run, and the table of all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twin.basics.files import append_text, as_path, new_folder, write_atomically, write_text
from twin.basics.optional import optional
from twin.errors import InputError
from twin.sweep.description import Sweep
from twin.sweep.work import REPEATED_STATUSES, Row

if TYPE_CHECKING:
    import pyarrow

FORMAT_VERSION = 2
"""Version of the folder's layout; a folder with another version is refused."""

MANIFEST_FILE = "sweep.json"
"""Name of the file with the description and the keys of all runs in order."""

ROWS_FILE = "runs.jsonl"
"""Name of the file with one line of JSON per finished run."""

RESULTS_FILE = "results.parquet"
"""Name of the table of all runs."""


class SweepFolder:
    """The folder with the results of one sweep.

    Attributes:
        path: the folder.
    """

    def __init__(self, path: str | Path) -> None:
        """Refer to a folder, which need not exist."""
        self.path = as_path(path, "folder")

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
        content = sweep.model_dump(mode="json")
        if (self.path / MANIFEST_FILE).exists():
            existing = self._manifest()["sweep"]
            names = [name for name in content if existing.get(name) != content[name]]
            if names:
                message = f"{self.path} holds another sweep (differs in {', '.join(names)})"
                raise InputError("folder", f"{message}; give a new folder")
            if not resume and (self.path / ROWS_FILE).exists():
                raise InputError("folder", f"{self.path} holds results; resume, or give a new one")
        elif self.path.is_dir() and any(self.path.iterdir()):
            raise InputError("folder", f"{self.path} holds other files; give a new or empty folder")
        manifest = {"format": FORMAT_VERSION, "sweep": content, "runs": list(keys)}
        with new_folder(self.path, "folder"):
            write_text(self.path / MANIFEST_FILE, json.dumps(manifest, indent=1) + "\n")

    def finished(self) -> set[str]:
        """Return the keys of runs that need not be computed again."""
        rows = self._rows().items()
        return {key for key, row in rows if row["status"] not in REPEATED_STATUSES}

    def write(self, row: Row) -> None:
        """Write the row of one run, whole or not at all.

        Raises:
            InputError: the folder cannot be written to.
        """
        try:
            # What a power cut has left of the last line stays alone.
            append_text(self.path / ROWS_FILE, f"\n{json.dumps(row)}")
        except OSError as error:
            message = f"cannot write to {self.path / ROWS_FILE} ({error.strerror})"
            raise InputError("folder", message) from None

    def table(self) -> pyarrow.Table:
        """Return the rows of all finished runs, in order; this works while others still run.

        Raises:
            InputError: not the folder of a sweep.
        """
        keys, rows_by_key = self._manifest()["runs"], self._rows()
        rows = [rows_by_key[key] for key in keys if key in rows_by_key]
        names = dict.fromkeys(name for row in rows for name in row)
        return optional("pyarrow").table(
            {name: [row.get(name) for row in rows] for name in names or ["key"]}
        )

    def consolidate(self) -> pyarrow.Table:
        """Write all rows into one table and return it.

        Raises:
            InputError: not the folder of a sweep, or it cannot be written to.
        """
        parquet = optional("pyarrow.parquet")
        description = json.dumps(self._manifest()["sweep"])
        table = self.table().replace_schema_metadata({"sweep": description})
        write_atomically(self.path / RESULTS_FILE, lambda file: parquet.write_table(table, file))
        return table

    def _rows(self) -> dict[str, Row]:
        """Return the latest row of every run by key; damaged lines do not count."""
        rows: dict[str, Row] = {}
        try:
            lines = (self.path / ROWS_FILE).read_bytes().splitlines()
        except FileNotFoundError:
            return rows
        except OSError as error:
            message = f"cannot read {self.path / ROWS_FILE} ({error.strerror})"
            raise InputError("folder", message) from None
        for line in lines:
            try:
                row = json.loads(line)
                rows[row["key"]] = row
            except (ValueError, TypeError, KeyError):
                continue
        return rows

    def _manifest(self) -> dict[str, Any]:
        """Return the checked description of the runs in the folder."""
        try:
            content = json.loads((self.path / MANIFEST_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise InputError("folder", f"{self.path} is not the folder of a sweep") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT_VERSION:
            raise InputError("folder", f"{self.path} was written in another format")
        if not isinstance(content.get("sweep"), dict) or not isinstance(content.get("runs"), list):
            raise InputError("folder", f"{self.path / MANIFEST_FILE} is damaged; give a new folder")
        return content


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
