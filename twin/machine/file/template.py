"""Commented platform.toml files to begin with, one per kind of leg."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from twin.basics.arrays import one_of
from twin.basics.files import as_path, write_text
from twin.errors import InputError, brief
from twin.machine.description import NAME
from twin.machine.legs import LEG_KINDS

__all__ = ["LEG_KINDS", "template", "write_template"]

COMMENTS = 32
"""Column of the comments in a template."""


def template(name: str, legs: str = "ups") -> str:
    """Return the text of a commented platform.toml that loads as it is.

    Args:
        name: name of the new machine.
        legs: kind of its legs.

    Raises:
        InputError: unknown kind of legs, or a name that is not plain.
    """
    one_of(legs, "legs", LEG_KINDS)
    check_name(name)
    text = (files("twin.machine.legs") / legs / "template.toml").read_text(encoding="utf-8")
    line = f'name = "{name}"'
    return text.replace('name = "NAME"'.ljust(COMMENTS), line.ljust(COMMENTS)).replace(
        "twin info FILE", f"twin info {name}.toml"
    )


def write_template(path: str | Path, legs: str = "ups", *, replace: bool = False) -> Path:
    """Write a commented platform.toml named after its file; `replace`: in place of one there.

    Raises:
        InputError: the file exists, its name is no plain machine name, or it cannot be written.
    """
    target = as_path(path)
    text = template(target.stem, legs)
    return write_text(check_new(target, replace=replace), text)


def check_new(path: str | Path, *, replace: bool = False) -> Path:
    """Return the path of a file; raises InputError if it names no machine, or must be new."""
    target = as_path(path)
    check_name(target.stem)
    if target.exists() and not replace:
        raise InputError("path", f"{target} exists; choose another name or replace it")
    return target


def check_name(name: str) -> None:
    """Raise InputError unless a name is that of a machine."""
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise InputError(
            "name",
            f"{brief(name)} must be lower-case letters, digits and underscores, a letter first",
        )
