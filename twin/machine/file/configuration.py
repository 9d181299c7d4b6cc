"""Configurations: named sets of changes of a whole file, such as a machine with its friction."""

from __future__ import annotations

import re
from typing import Any

from pydantic import Field

from twin.basics.arrays import without
from twin.machine.quantity import Table, merged

CONFIGURATION_NAME = r"[a-z][a-z0-9_]{0,63}"

IDEAL_CONFIGURATION = "ideal"
"""Name by which users choose a file without any of its configurations; inside, it is None."""


class Configurations(Table):
    """Configurations of a file, and the one that is applied to these parameters."""

    known: tuple[str, ...] = Field(description="Configurations of the file")
    applied: str = Field("", description="Configuration that is applied, empty for none")


def split_configurations(
    content: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, dict[str, Any]], list[tuple[str, str]]]:
    """Return a file's content without configurations, its configurations, and their problems."""
    base_content = without(content, "configuration")
    tables = content.get("configuration", {})
    if not isinstance(tables, dict):
        return (
            base_content,
            {},
            [("configuration", "must be tables such as [configuration.hardware]")],
        )
    problems = []
    for name, table in tables.items():
        field = f"configuration.{name}"
        if not re.fullmatch(CONFIGURATION_NAME, name):
            problems.append((field, "must be lower-case letters, digits and underscores"))
        elif name == IDEAL_CONFIGURATION:
            problems.append((field, "is the name of the file without configuration; take another"))
        elif not isinstance(table, dict):
            problems.append((field, f"must be a table such as [configuration.{name}.leg]"))
        elif not isinstance(table.get("source"), str) or not table["source"].strip():
            problems.append((f"{field}.source", "missing; say where its numbers are from"))
        elif "configuration" in table:
            problems.append(
                (
                    f"{field}.configuration",
                    "a configuration has no configurations of its own; remove it",
                )
            )
    return base_content, {} if problems else tables, problems


def with_configuration(
    content: dict[str, Any], configurations: dict[str, dict[str, Any]], name: str | None
) -> dict[str, Any]:
    """Return a file's content with one configuration merged over it; None merges nothing.

    A table `configuration` is added that says which are known and which is applied. The content of
    a file without configurations is returned as it is.
    """
    configuration_table = {
        "known": list(configurations),
        "applied": name or "",
        "source": content.get("source"),
    }
    if not configurations:
        return content
    if name is None:
        return content | {"configuration": configuration_table}
    configuration = configurations[name]
    change = without(configuration, "source")
    merged_content = merged(content, change, configuration["source"])
    return merged_content | {
        "configuration": configuration_table | {"source": configuration["source"]}
    }
