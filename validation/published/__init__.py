"""Numbers of papers, data sheets and people, typed a second time."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

MACHINE_FOLDER = Path(__file__).parent / "machines"

MACHINE_NAMES = tuple(sorted(file.stem for file in MACHINE_FOLDER.glob("*.toml")))
"""Machines that have a table."""

BODY_SEGMENTS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parent / "people" / "de_leva.toml").read_text(encoding="utf-8")
)
"""Mass properties of people: tables `shares`, `male` and `female`, in the printed units."""


def typed_numbers(machine: str) -> dict[str, Any]:
    """Return the tables of a machine: SI units, angles in degrees, a `place` in each table."""
    return tomllib.loads((MACHINE_FOLDER / f"{machine}.toml").read_text(encoding="utf-8"))
