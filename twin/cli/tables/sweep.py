"""Table of a sweep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from twin.analysis.platform import load
from twin.charts.panels import number
from twin.cli.console import Column, line, table
from twin.sweep import Sweep
from twin.sweep.work import DONE_STATUS, Row

INPUT_COLUMNS = ("configuration", "engine", "controller", "payload")
"""Columns that are shown where they differ between runs; the varied parameters are added."""

MEASURE_COLUMNS = (
    ("position_rms", "position rms [mm]", 1e3),
    ("rotation_rms", "rotation rms [mrad]", 1e3),
    ("position_peak", "position peak [mm]", 1e3),
    ("force_peak", "force peak [{force}]", 1.0),
    ("rate_peak", "rate peak [{rate}/s]", 1.0),
)
"""Measures in the table: column, title, factor."""

MOST_ROWS = 60
"""Maximum number of rows of the table; the files contain all runs."""

Group = tuple[tuple[str, ...], list[Row]]


def print_runs(sweep: Sweep, rows: list[Row]) -> None:
    """Print the means over the seeds of all runs that were not stopped, and the failed runs."""
    inputs = [name for name in INPUT_COLUMNS if len({row[name] for row in rows}) > 1]
    inputs += list(sweep.parameters)
    titles = [Column(*_input(name, sweep)) for name in inputs]
    titles += [Column("runs", True), Column("whole", True)]
    machine = load(sweep.machine)
    units = {"force": machine.force_unit, "rate": machine.coordinate_unit}
    titles += [Column(title.format(**units), True) for _, title, _ in MEASURE_COLUMNS]
    groups = list(_groups(inputs, rows))
    cells = [(*input_texts, *_cells(group_rows)) for input_texts, group_rows in groups[:MOST_ROWS]]
    table(titles, cells, f"{sweep.machine}, {sweep.motion.name}: means over seeds of whole runs")
    if len(groups) > MOST_ROWS:
        line(f"and {len(groups) - MOST_ROWS} more rows")


def _input(name: str, sweep: Sweep) -> tuple[str, bool]:
    """Return the title of an input column, and whether it contains numbers."""
    return (f"{name} [SI]", True) if name in sweep.parameters else (name, False)


def _groups(inputs: list[str], rows: list[Row]) -> Iterator[Group]:
    """Yield groups of runs that differ only in their seeds, with the texts of their inputs."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in inputs), []).append(row)
    for key, members in groups.items():
        yield tuple(number(part) if isinstance(part, float) else str(part) for part in key), members


def _cells(members: list[Row]) -> list[str]:
    finished_runs = [row for row in members if row["status"] == DONE_STATUS]
    cells = [str(len(members)), str(len(finished_runs))]
    for name, _, factor in MEASURE_COLUMNS:
        mean = (
            sum(row[name] for row in finished_runs) / len(finished_runs) if finished_runs else None
        )
        cells.append("-" if mean is None else number(factor * mean, 4))
    return cells
