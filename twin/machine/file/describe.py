"""Parameters as a flat list for people: value, unit, meaning and source of every field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from twin.machine.machine import MachineParameters
from twin.machine.quantity import field_unit
from twin.machine.table import Table


class Parameter(NamedTuple):
    """One field of a platform.toml."""

    table: str
    """dotted path of its table, empty at the top"""
    name: str
    value: Any
    """a number, a text, a list of either, or a list of lists"""
    unit: str
    """SI, empty for none"""
    description: str
    source: str
    """where the numbers of its table are from"""


def describe(parameters: MachineParameters) -> list[Parameter]:
    """Return every field of a machine in the order of the models; fields left out are missing.

    Of a variant these are its legs and what differs from `[leg]`; of configurations their names and
    the one that is applied, whose values are in their own tables.
    """
    rows = list(_rows(parameters, ""))
    common = {(row.table, row.name): row.value for row in _rows(parameters.leg, "leg")}
    for i, variant in enumerate(parameters.variant):
        path = f"variant.{i}"
        rows += [row for row in _rows(variant, path) if row.table == path]
        rows += [
            row._replace(table=path + row.table.removeprefix("leg"))
            for row in _rows(variant.leg, "leg")
            if common.get((row.table, row.name)) != row.value
        ]
    return rows


def _rows(table: Table, path: str) -> Iterator[Parameter]:
    inner = []
    for name, field in type(table).model_fields.items():
        value = getattr(table, name)
        if isinstance(value, Table):
            inner.append((value, f"{path}.{name}".lstrip(".")))
        elif name not in ("source", "variant") and value not in (None, (), ""):
            unit = field_unit(field)
            text = field.description or ""
            yield Parameter(path, name, _plain(value), unit, text, table.source)
    for value, inner_path in inner:
        yield from _rows(value, inner_path)


def _plain(value: Any) -> Any:
    return [_plain(entry) for entry in value] if isinstance(value, tuple) else value
