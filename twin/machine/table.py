"""Base of all tables of a platform.toml: frozen, strict about names, and with a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field


class Table(BaseModel):
    """A table whose numbers come from one stated source."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, str_strip_whitespace=True
    )

    source: str = Field(min_length=1, description="Where the numbers of this table are from")


def field_names(table: type[Table], path: Sequence[str]) -> set[str]:
    """Return the names of the fields that may stand in the table at `path` inside `table`.

    The path may hold the tag (kind or layout) of a member of a union after the union's field.
    """
    return {name for inner in _members(table, path) for name in inner.model_fields}


def tag_names(table: type[Table], path: Sequence[str]) -> list[str]:
    """Return the tags of the members of the union at `path` inside `table`."""
    return [tag for inner in _members(table, path) for tag in sorted(_tags(inner))]


def _members(table: type[Table], path: Sequence[str]) -> list[type[Table]]:
    tables = [table]
    for part in path:
        fields = [outer.model_fields[part] for outer in tables if part in outer.model_fields]
        if fields:
            tables = [inner for field in fields for inner in _tables(field.annotation)]
        else:
            tables = [inner for inner in tables if part in _tags(inner)]
    return tables


def _tags(table: type[Table]) -> set[str]:
    fields = table.model_fields
    return {fields[name].default for name in ("kind", "layout") if name in fields}


def _tables(annotation: Any) -> Iterator[type[Table]]:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        yield annotation
    for inner in get_args(annotation):
        yield from _tables(inner)
