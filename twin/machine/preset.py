"""Presets: named sets of changes of a whole file, such as a machine with its friction."""

from __future__ import annotations

import re
from typing import Any

from pydantic import Field

from twin.machine.merge import merged
from twin.machine.table import Table

PRESET_NAME = r"[a-z][a-z0-9_]{0,63}"


class Presets(Table):
    """Which presets a file has, and which of them these parameters are."""

    known: tuple[str, ...] = Field(description="Presets of the file")
    applied: str = Field("", description="Preset that is applied, empty for none")


def split_presets(
    content: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, dict[str, Any]], list[tuple[str, str]]]:
    """Return the content of a file without its presets, the presets, and their problems."""
    plain = {key: value for key, value in content.items() if key != "preset"}
    tables = content.get("preset", {})
    if not isinstance(tables, dict):
        return plain, {}, [("preset", "must be tables such as [preset.hardware]")]
    problems = []
    for name, table in tables.items():
        field = f"preset.{name}"
        if not re.fullmatch(PRESET_NAME, name):
            problems.append((field, "must be lower-case letters, digits and underscores"))
        elif not isinstance(table, dict):
            problems.append((field, f"must be a table such as [preset.{name}.leg]"))
        elif not isinstance(table.get("source"), str) or not table["source"].strip():
            problems.append((f"{field}.source", "missing; say where its numbers are from"))
        elif "preset" in table:
            problems.append((f"{field}.preset", "a preset has no presets of its own; remove it"))
    return plain, {} if problems else tables, problems


def with_preset(
    content: dict[str, Any], presets: dict[str, dict[str, Any]], name: str | None
) -> dict[str, Any]:
    """Return the content of a file with one of its presets merged over it, None for the file."""
    note = {"known": list(presets), "applied": name or "", "source": content.get("source")}
    if not presets:
        return content
    if name is None:
        return content | {"preset": note}
    preset = presets[name]
    change = {key: value for key, value in preset.items() if key != "source"}
    whole = merged(content, change, preset["source"])
    return whole | {"preset": note | {"source": preset["source"]}}
