"""The header of a CSV file: names of columns, with their units in brackets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from twin.errors import InputError
from twin.machine.quantity import TITLE, is_number
from twin.motion.samples import Column

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

LONGEST_NAME = 200
"""Characters of a column name with its unit."""


def fail_in(file: Path, message: str) -> NoReturn:
    """Raise the InputError of a fault in a file."""
    raise InputError(str(file), message)


def read_header(
    file: Path,
    row: tuple[int, list[str]],
    known: Mapping[str, Column],
    *,
    units: Mapping[str, str],
    columns: Mapping[str, str] | None,
    delimiter: str,
) -> tuple[list[str | None], dict[str, str]]:
    """Return the column name of every cell, None where it is ignored, and the units by name.

    Args:
        file: the file, for messages.
        row: line of the header and its cells.
        known: the columns that may occur.
        units: column name -> unit, for columns whose header has none.
        columns: header text without unit -> column name, for the columns to read; None for all.
        delimiter: at which the cells were split.

    Raises:
        InputError: no header, wrong delimiter, a column unknown, missing, twice or without unit.
    """
    line, cells = row
    _check_names(file, line, cells, delimiter)
    names: list[str | None] = []
    found: dict[str, str] = {}
    for cell in cells:
        name, written = _split(file, line, cell)
        if columns is not None:
            if name not in columns:
                names.append(None)
                continue
            name = columns[name]
        if name not in known:
            fail_in(
                file,
                f"line {line}: there is no column {name!r}; known: {', '.join(known)}. "
                "Rename it, or pass columns={header: column} to pick and rename columns",
            )
        if name in found:
            fail_in(file, f"line {line}: column {name!r} is there twice; remove one")
        found[name] = _unit(file, line, name, written, units.get(name), known[name])
        names.append(name)
    if columns is not None:
        for header, name in columns.items():
            if name not in found:
                fail_in(file, f"line {line}: there is no column {header!r} to read {name!r} from")
    return names, found


def _check_names(file: Path, line: int, cells: list[str], delimiter: str) -> None:
    """Refuse a row of numbers, and one that was split at the wrong delimiter."""
    if all(is_number(cell) for cell in cells):
        fail_in(
            file,
            f"line {line}: holds numbers, but must name the columns; add a header line, such as: "
            "time [s],pitch [deg]",
        )
    if len(cells) == 1:
        for other, title in DELIMITERS.items():
            if other != delimiter and other in cells[0]:
                fail_in(
                    file,
                    f"line {line}: is one column when split at {DELIMITERS[delimiter]}s, but holds "
                    f"{title}s; pass delimiter={other!r}",
                )


def _split(file: Path, line: int, cell: str) -> tuple[str, str | None]:
    """Return the name in a cell, and the unit in its brackets."""
    if len(cell) > LONGEST_NAME:
        fail_in(file, f"line {line}: {cell[:20]!r}... is too long for a column name")
    match = TITLE.fullmatch(cell)
    if match is None:
        fail_in(file, f"line {line}: {cell!r} is no column name; write it as name [unit]")
    return match["name"], match["unit"]


def _unit(
    file: Path, line: int, name: str, written: str | None, given: str | None, column: Column
) -> str:
    fitting = ", ".join(column.quantity.factors)
    if written and given and written != given:
        fail_in(
            file,
            f"line {line}, column {name!r}: the file says {written!r}, the option units says "
            f"{given!r}; remove one",
        )
    unit = written or given
    if not unit:
        example = f"{name} [{column.quantity.si}]"
        fail_in(
            file,
            f"line {line}, column {name!r}: has no unit; write {example!r} in the header or pass "
            f"units={{{name!r}: {column.quantity.si!r}}}; units of {column.quantity.name}: "
            f"{fitting}",
        )
    if unit not in column.quantity.factors:
        fail_in(
            file,
            f"line {line}, column {name!r}: {unit!r} is no unit of {column.quantity.name}; "
            f"use one of {fitting}",
        )
    return unit
