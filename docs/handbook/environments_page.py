"""The page of the Gymnasium environments, from their registry and docstrings."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

from handbook.markdown import plain, table
from twin.envs import ENVIRONMENTS

OPTIONS = re.compile(r"(?<=Options:\n\n)\| name \| default \|\n.*?(?=\n\n)", re.DOTALL)

HEAD = """# Table of environments

The [guide](../environments.md) describes their use. The tables below are the docstrings of the
classes; tests compare them with the real spaces. Numbers are those of the usual machine.
"""

COLUMNS = ("Name", "Task", "Usual machine", "Steps of an episode")


def environments_page() -> str:
    """Return the page: the registered environments, then the tables of each class."""
    rows = []
    sections = []
    for name, place in ENVIRONMENTS.items():
        kind = getattr(import_module(place.module), f"{place.name}Env")
        text = inspect.getdoc(kind) or ""
        link = f"[`{name}`](#{name.lower().replace('/', '')})"
        machine = f"`{kind.task_type.default_machine}`"
        rows.append((link, plain(text.split("\n")[0]), machine, place.max_episode_steps))
        text = _options(kind).join(OPTIONS.split(text))
        sections.append(f"## {name}\n\n`{place.module}.{place.name}Env`\n\n{text}\n")
    return "\n".join([HEAD, table(COLUMNS, rows), *sections])


def _options(kind: Any) -> str:
    """Return the table of an environment's options, with their meanings."""
    fields = kind.task_type.settings_type.model_fields
    rows = [
        (name, plain(field.get_default(call_default_factory=True)), plain(field.description))
        for name, field in fields.items()
    ]
    return table(("name", "default", "meaning"), rows).rstrip()
