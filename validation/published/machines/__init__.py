"""Numbers of the catalogue's machines, typed a second time from the papers."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

TABLE_FOLDER = Path(__file__).parent

MACHINE_NAMES = tuple(sorted(file.stem for file in TABLE_FOLDER.glob("*.toml")))
"""Machines that have a table."""


def typed_numbers(machine: str) -> dict[str, Any]:
    """Return the tables of a machine: SI units, angles in degrees, a `place` in each table."""
    return tomllib.loads((TABLE_FOLDER / f"{machine}.toml").read_text(encoding="utf-8"))
