"""The page of the Gymnasium environments, from their registry and docstrings."""

from __future__ import annotations

import inspect
from importlib import import_module

from handbook.markdown import plain, table
from twin.envs import ENVIRONMENTS

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
        machine = f"`{kind.task_type.usual_machine}`"
        rows.append((link, plain(text.split("\n")[0]), machine, place.max_episode_steps))
        sections.append(f"## {name}\n\n`{place.module}.{place.name}Env`\n\n{text}\n")
    return "\n".join([HEAD, table(COLUMNS, rows), *sections])
