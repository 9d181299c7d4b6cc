"""Compute a sweep and print what came out of it."""

from __future__ import annotations

import hashlib
import json as notation
import math
import time as clock
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from twin.basics.files import write_text
from twin.charts.text import number
from twin.commands.console import Column, line, table
from twin.commands.options import check_files
from twin.errors import InputError
from twin.sweep import Sweep, run_sweep
from twin.sweep.description import read_content, sweep_from
from twin.sweep.work import DONE, STOPPED, Row

INPUTS = ("configuration", "engine", "controller", "payload")
"""Columns that are shown where they differ between runs; parameters are added."""

SHOWN = (
    ("position_rms", "position rms mm", 1e3),
    ("rotation_rms", "rotation rms mrad", 1e3),
    ("position_peak", "position peak mm", 1e3),
    ("force_peak", "force peak", 1.0),
    ("rate_peak", "rate peak", 1.0),
)
"""Measures in the table: column, title, factor."""

MOST_ROWS = 60
"""Of the table; the files hold all."""

Group = tuple[tuple[str, ...], list[Row]]


def sweep(
    subject: str,
    out: Path | None,
    json: Path | None,
    *,
    values: list[str],
    samples: int | None,
    motion: dict[str, Any],
    changes: dict[str, Any],
    resume: bool,
    **options: Any,
) -> bool:
    """Compute what is missing, print a table over the seeds; False where a run has failed.

    Args:
        subject: a sweep's file, or a machine.
        out: folder; None: one in the working folder, named after the sweep.
        json: file for the rows: `sweep` (the description) and `runs` (column -> value, null where
            a run has none).
        values: texts `path=values`.
        samples: points in place of the grid, or None.
        motion: its fields, by name; None: as in the file, or the default.
        changes: other fields of the sweep by name; None: as in the file, or the default.
        resume: take a folder that holds results.
        options: of `twin.sweep.run_sweep`.

    Raises:
        InputError: what is no sweep, or a folder of another one.
        ParameterError: a file that cannot be used.
        MissingDependencyError: a library of the backend is not installed.
    """
    check_files(json=(json, ""))
    wanted = described(subject, values, samples, motion, changes)
    folder = default_folder(wanted) if out is None else out
    began = clock.perf_counter()
    try:
        rows = run_sweep(wanted, folder, resume=resume, **options).to_pylist()
    except KeyboardInterrupt:
        line(f"interrupted; {folder} keeps what is finished, the same command computes the rest")
        raise
    _print_table(wanted, rows)
    failed = [row for row in rows if row["status"] not in (DONE, STOPPED)]
    seconds = clock.perf_counter() - began
    line(f"{len(rows)} runs of {wanted.machine} in {seconds:.3g} s: {folder / 'results.parquet'}")
    for row in failed[:5]:
        line(f"run {row['run']} {row['status']}: {row['error']}", bold=True)
    if len(failed) > 5:
        line(f"and {len(failed) - 5} more: see the columns status and error")
    if json is not None:
        content = {"sweep": wanted.model_dump(mode="json"), "runs": [_plain(row) for row in rows]}
        text = notation.dumps(content, indent=1, allow_nan=False)
        line(f"wrote {write_text(json, text + chr(10))}")
    return not failed


def described(
    subject: str,
    values: list[str],
    samples: int | None,
    motion: dict[str, Any],
    changes: dict[str, Any],
) -> Sweep:
    """Return the sweep of a file or a machine, with what the command line says.

    Raises:
        InputError: texts that are no values, or a sweep that cannot be.
        ParameterError: a file that cannot be used.
    """
    content: dict[str, Any] = {"machine": subject}
    from_file = Path(subject).suffix == ".toml" and "machine" in (found := read_content(subject))
    if from_file:
        content = found
    content |= {name: value for name, value in changes.items() if value is not None}
    moved = {name: value for name, value in motion.items() if value is not None}
    if moved:
        content["motion"] = content.get("motion", {}) | moved
    if values:
        content["parameters"] = content.get("parameters", {}) | dict(map(_value, values))
    if samples is not None:
        content["sampling"] = content.get("sampling", {}) | {"count": samples}
    return sweep_from(content, subject) if from_file else Sweep(**content)


def default_folder(sweep: Sweep) -> Path:
    """Return a folder's name that another sweep does not have."""
    digest = hashlib.sha256(sweep.model_dump_json().encode()).hexdigest()[:8]
    machine = Path(sweep.machine)
    own = machine.stem != "platform"  # otherwise the folder says which machine it is
    return Path(f"sweep-{machine.stem if own else machine.resolve().parent.name}-{digest}")


def _value(text: str) -> tuple[str, str]:
    path, equal, values = text.partition("=")
    if not (equal and path.strip() and values.strip()):
        raise InputError("set", f"must look like leg.drive.delay=0:0.004:5, got {text!r}")
    return path.strip(), values.strip()


def _print_table(sweep: Sweep, rows: list[Row]) -> None:
    inputs = [name for name in INPUTS if len({row[name] for row in rows}) > 1]
    inputs += list(sweep.parameters)
    titles = [Column(name, name in sweep.parameters) for name in inputs]
    titles += [Column("runs", True), Column("whole", True)]
    titles += [Column(title, True) for _, title, _ in SHOWN]
    groups = list(_groups(inputs, rows))
    cells = [(*key, *_cells(members)) for key, members in groups[:MOST_ROWS]]
    table(titles, cells, f"{sweep.machine}, {sweep.motion.name}: means over seeds of whole runs")
    if len(groups) > MOST_ROWS:
        line(f"and {len(groups) - MOST_ROWS} more rows")


def _groups(inputs: list[str], rows: list[Row]) -> Iterator[Group]:
    """Yield runs that differ in their seeds alone, by the texts of what went in."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in inputs), []).append(row)
    for key, members in groups.items():
        yield tuple(number(part) if isinstance(part, float) else str(part) for part in key), members


def _cells(members: list[Row]) -> list[str]:
    whole = [row for row in members if row["status"] == DONE]
    cells = [str(len(members)), str(len(whole))]
    for name, _, factor in SHOWN:
        mean = sum(row[name] for row in whole) / len(whole) if whole else None
        cells.append("-" if mean is None else number(factor * mean, 4))
    return cells


def _plain(row: Row) -> Row:
    """Return a row with null for what is no number."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }
