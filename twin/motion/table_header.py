"""The header of a CSV file: names of columns, with their units in brackets."""

from __future__ import annotations

from collections.abc import Mapping

from twin.basics.text_table import TIME_NAMES, TextTable
from twin.machine.quantity import TITLE, is_number
from twin.motion.samples import Column

LONGEST_NAME = 200
"""Characters of a column name with its unit."""


def read_header(
    table: TextTable,
    known: Mapping[str, Column],
    *,
    units: Mapping[str, str],
    columns: Mapping[str, str] | None,
) -> tuple[list[str | None], dict[str, str]]:
    """Return the column name of every cell, None where it is ignored, and the units by name.

    Args:
        table: the file.
        known: the columns that may occur.
        units: column name -> unit, for columns whose header has none.
        columns: header text without unit -> column name, for the columns to read; None for all.

    Raises:
        InputError: no header, a column unknown, missing, twice or without unit.
    """
    line, cells = table.layout.line, table.layout.names
    if all(is_number(cell) for cell in cells):
        table.fail(
            f"line {line}: holds numbers, but must name the columns; add a header line, such as: "
            "time [s],pitch [deg]"
        )
    pairs = [_split(table, cell) for cell in cells]
    wanted = None if columns is None else dict(columns)
    timed = [n for n, _ in pairs if n.lower() in TIME_NAMES and n not in (wanted or known)]
    renamed = {} if "time" in {*(wanted or {}).values(), *(n for n, _ in pairs)} else timed[:1]
    names: list[str | None] = []
    found: dict[str, str] = {}
    for header, written in pairs:
        name = "time" if header in renamed else header
        if wanted is not None and name != "time":
            if header not in wanted:
                names.append(None)
                continue
            name = wanted[header]
        if name not in known:
            table.fail(
                f"line {line}: there is no column {name!r}; known: {', '.join(known)}. Rename it, "
                "or say which column has which title (--column 'z=Heave [mm]')"
            )
        if name in found:
            table.fail(f"line {line}: column {name!r} is there twice; remove one")
        found[name] = _unit(table, name, written, units.get(name), known[name])
        names.append(name)
    for header, name in (columns or {}).items():
        if name not in found:
            table.fail(f"line {line}: there is no column {header!r} to read {name!r} from")
    return names, found


def _split(table: TextTable, cell: str) -> tuple[str, str | None]:
    """Return the name in a cell, and the unit in its brackets."""
    if len(cell) > LONGEST_NAME:
        table.fail(f"line {table.layout.line}: {cell[:20]!r}... is too long for a column name")
    match = TITLE.fullmatch(cell)
    if match is None:
        table.fail(f"line {table.layout.line}: {cell!r} is no column name; write it as name [unit]")
    return match["name"], match["unit"]


def _unit(
    table: TextTable, name: str, written: str | None, given: str | None, column: Column
) -> str:
    fitting = ", ".join(column.quantity.factors)
    where = f"line {table.layout.line}, column {name!r}: "
    if written and given and written != given:
        table.fail(f"{where}the file says {written!r}, you say {given!r}; remove one")
    unit = written or given
    if not unit:
        example = f"{name} [{column.quantity.si}]"
        table.fail(
            f"{where}has no unit; write {example!r} in the header, or say it with the title "
            f"(--column '{name}=TITLE [{column.quantity.si}]'); units of {column.quantity.name}: "
            f"{fitting}"
        )
    if unit not in column.quantity.factors:
        table.fail(f"{where}{unit!r} is no unit of {column.quantity.name}; use one of {fitting}")
    return unit
