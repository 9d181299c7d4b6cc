"""Tables that change some entries of another table."""

from __future__ import annotations

from typing import Any

TAGS = ("kind", "layout")
"""Fields that decide which other fields a table has."""


def merged(table: dict[str, Any], change: dict[str, Any], source: Any) -> dict[str, Any]:
    """Return `table` with the entries of `change` in place of its own, table by table.

    A table whose kind or layout changes is replaced as a whole. Tables with a new entry take
    `source` as theirs unless the change states one, or there is none.
    """
    result = dict(table)
    for key, value in change.items():
        old = table.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and not _another(old, value):
            result[key] = merged(old, value, source)
        else:
            result[key] = _with_source(value, source)
    entries = [key for key, value in change.items() if not isinstance(value, dict)]
    if entries and "source" not in entries and source is not None:
        result["source"] = source
    return result


def _another(table: dict[str, Any], change: dict[str, Any]) -> bool:
    return any(tag in change and change[tag] != table.get(tag) for tag in TAGS)


def _with_source(value: Any, source: Any) -> Any:
    if not isinstance(value, dict) or source is None:
        return value
    return {"source": source} | {key: _with_source(entry, source) for key, entry in value.items()}
