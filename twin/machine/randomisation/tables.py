"""Numbers inside the tables of a platform.toml: where they are, and tables with other ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from twin.machine.quantity import field_unit
from twin.machine.table import Table, tables_in

STRUCTURE = frozenset(
    {
        *("source", "configuration", "variant", "orientation"),
        *("shift", "order", "mirrored", "fixed_foot"),
    }
)
"""Fields that say which joint or leg is meant, or whose entries cannot change one by one."""

Keys = tuple[str, ...]
Changes = dict[str, Any]
"""New numbers by key, in a dictionary for every table and list between."""


def leaf(owner: Any, keys: Keys) -> int | float | None:
    """Return the number at `keys` of a table, None if there is none."""
    if _below_diagonal(keys):
        return None
    for key in keys:
        owner = _child(owner, key)
    return owner if _is_number(owner) else None


def unset(owner: Any, keys: Keys) -> bool:
    """Return whether a table has a field for a number at `keys` that the file leaves out."""
    for key in keys[:-1]:
        owner = _child(owner, key)
    if not isinstance(owner, Table) or keys[-1] in STRUCTURE:
        return False
    field = type(owner).model_fields.get(keys[-1])
    if field is None or getattr(owner, keys[-1]) is not None:
        return False
    return not any(tables_in(field.annotation))


def unit_of(owner: Any, keys: Keys) -> str:
    """Return the SI unit of the number at `keys` of a table; empty for none."""
    unit = ""
    for key in keys:
        if isinstance(owner, Table):
            unit = field_unit(type(owner).model_fields[key])
        owner = _child(owner, key)
    return unit


def leaves(owner: Any, keys: Keys = ()) -> Iterator[str]:
    """Yield the dotted path of every number inside a table; of tensors the upper triangle."""
    if _is_number(owner) and not _below_diagonal(keys):
        yield ".".join(keys)
    names: Any = ()
    if isinstance(owner, Table):
        names = type(owner).model_fields
    elif isinstance(owner, tuple):
        names = map(str, range(len(owner)))
    for name in names:
        yield from leaves(_child(owner, name), (*keys, name))


def note(changes: Changes, keys: Keys, value: float | str) -> None:
    """Add a new number to `changes`, on both sides of the diagonal of a tensor."""
    twins = [keys]
    if keys[-3:-2] == ("inertia",):
        twins.append((*keys[:-2], keys[-1], keys[-2]))
    for twin in twins:
        inner = changes
        for key in twin[:-1]:
            inner = inner.setdefault(key, {})
        inner[twin[-1]] = value


def changed(owner: Any, changes: Any) -> Any:
    """Return a table as a dictionary, or a tuple as a list, with changes.

    What is inside and does not change stays the object it is, which the models take as checked.
    """
    if isinstance(owner, tuple):
        content: Any = list(owner)
        for key, change in changes.items():
            content[int(key)] = changed(owner[int(key)], change)
        return content
    if not isinstance(owner, Table):
        return changes
    content = fields(owner)
    for key, change in changes.items():
        content[key] = changed(content[key], change)
    return content


def fields(table: Table) -> Changes:
    """Return the fields of a table by name, as they are."""
    return {name: getattr(table, name) for name in type(table).model_fields}


def _child(owner: Any, key: str) -> Any:
    if isinstance(owner, Table):
        inside = key in type(owner).model_fields and key not in STRUCTURE | owner.derived
        return getattr(owner, key) if inside else None
    if isinstance(owner, tuple) and key in map(str, range(len(owner))):
        return owner[int(key)]
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _below_diagonal(keys: Keys) -> bool:
    return keys[-3:-2] == ("inertia",) and keys[-2] > keys[-1]
