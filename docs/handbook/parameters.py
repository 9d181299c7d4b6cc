"""A machine's numbers with their sources, table by table as in its platform.toml."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import twin
from handbook.markdown import plain, table
from twin.analysis.machine_summary import machine_summary
from twin.analysis.platform import Platform
from twin.charts.panels import value_text
from twin.machine.file.read import Parameter, describe

CHANGES = "Changed and added values.\n\n"

COLUMNS = ("Name", "Value", "Unit", "Description")


def summary(platform: Platform) -> str:
    """Return the table of what follows from the numbers, each value on one line."""
    rows = [
        (plain(fact.name), _whole(fact.value), _unbroken(plain(fact.unit)), plain(fact.note))
        for fact in machine_summary(platform)
    ]
    return table(("Quantity", "Value", "Unit", "Note"), rows)


def parameters(platform: Platform) -> str:
    """Return a table for each table of the machine's file, then those of its configurations."""
    plain_rows = describe(platform.parameters)
    text = _tables(plain_rows)
    for configuration in configurations(platform):
        changed = describe(twin.load(platform.name, configuration=configuration).parameters)
        rows = [row for row in changed if row not in plain_rows and row.table != "configuration"]
        text += f"\n### Configuration `{configuration}`\n\n" + CHANGES + _tables(rows)
    return text


def configurations(platform: Platform) -> tuple[str, ...]:
    """Return the names of the configurations of a machine's file."""
    found = platform.parameters.configuration
    return () if found is None else tuple(found.known)


def _tables(rows: Iterable[Parameter]) -> str:
    text = ""
    for name, group in groupby(rows, key=lambda row: row.table):
        inside = list(group)
        text += (
            f"**{f'`[{name}]`' if name else 'The machine'}** Source: {plain(inside[0].source)}\n\n"
        )
        text += table(COLUMNS, [_row(row) for row in inside]) + "\n"
    return text


def _whole(value: object) -> str:
    return _unbroken(plain(value_text(value, "", 5)))


def _row(row: Parameter) -> tuple[str, ...]:
    value = plain(value_text(row.value, row.unit))
    if isinstance(row.value, list) and not any(isinstance(one, str) for one in row.value):
        value = "; ".join(map(_unbroken, value.split("; ")))
    return f"`{row.name}`", value, _unbroken(plain(row.unit)), plain(row.description)


def _unbroken(text: str) -> str:
    """Return text that stays on one line."""
    return text.replace(" ", "&nbsp;")
