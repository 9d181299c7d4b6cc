"""Tables of a platform.toml: their common base, their problems, and changes merged into them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from twin.basics.control_characters import CONTROL

TAGS = ("kind", "layout")
"""Fields that decide which other fields a table has."""


class Table(BaseModel):
    """A table whose numbers come from one stated source."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        str_strip_whitespace=True,
        defer_build=True,
    )

    source: str = Field(min_length=1, description="Where the numbers of this table are from")

    @field_validator("source", "title", check_fields=False)
    @classmethod
    def _has_no_control_characters(cls, value: str, info: ValidationInfo) -> str:
        if CONTROL.search(value) or (info.field_name == "title" and len(value.splitlines()) > 1):
            lines = " and ends of lines" if info.field_name == "title" else ""
            raise ValueError(f"has control characters; remove them{lines}")
        return value

    @property
    def derived(self) -> frozenset[str]:
        """Fields that follow from other fields of the file; mostly none."""
        return frozenset()


def problem(field: str, message: str) -> PydanticCustomError:
    """Return a cross-check failure that names its field."""
    return PydanticCustomError("machine", "{message}", {"message": message, "field": field})


def field_names(table: type[Table], path: Sequence[str]) -> set[str]:
    """Return the names of the fields that may be in the table at `path` inside `table`.

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
            tables = [inner for field in fields for inner in tables_in(field.annotation)]
        else:
            tables = [inner for inner in tables if part in _tags(inner)]
    return tables


def _tags(table: type[Table]) -> set[str]:
    fields = table.model_fields
    return {fields[name].default for name in ("kind", "layout") if name in fields}


def tables_in(annotation: Any) -> Iterator[type[Table]]:
    """Yield the classes of the tables that a field's annotation names."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        yield annotation
    for inner in get_args(annotation):
        yield from tables_in(inner)


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
