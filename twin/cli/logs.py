"""The command `logs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from twin.charts.results import Cell
from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, table
from twin.cli.options import argument, file_option, option
from twin.cli.values import check_files, write

File = Annotated[Path, argument("Log: .csv, .parquet, .mcap, a saved run, a bag.", metavar="FILE")]
Map = Annotated[
    Path | None,
    file_option("Write a mapping to check and edit, for --mapping of identify and others."),
]
TimeName = Annotated[
    str | None, option("Column with the times of a table.", "--time", metavar="NAME")
]


@app.command()
def logs(
    file: File, *, map: Map = None, time: TimeName = None, replace: options.ReplaceFile = False
) -> None:
    """List the channels of a log, and guess which signals of a machine they are.

    \f
    Raises:
        InputError: a file that cannot be read or written, or a mapping that exists.
    """
    from twin.charts.panels import number
    from twin.logs import read_log
    from twin.logs.mapping import guessed_mapping

    check_files(reads=(file,), replace=replace, map=(map, ".toml"))
    log = read_log(file, time=time or "time")
    rows: list[tuple[Cell, ...]] = []
    for channel in log.channels:
        for column, unit in enumerate(channel.units):
            values = channel.values[:, column]
            name = channel.name if channel.width == 1 else f"{channel.name} {column + 1}"
            extremes = (values.min(), values.max()) if len(values) else (float("nan"),) * 2
            rows.append((name, unit, len(values), *(number(float(end), 5) for end in extremes)))
    table(("channel", "unit", "samples", "smallest", "largest"), rows)
    start, stop = log.span
    line(f"{file}: {stop - start:.6g} s from {start:.6f} s on")
    write(map, guessed_mapping(log, time))
