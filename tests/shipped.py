"""Files of the shipped machines, and their content for tests that change it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from twin.catalogue import assets_folder
from twin.parameters.legs import LEG_KINDS
from twin.parameters.machine import MachineParameters
from twin.parameters.read import parameters_from

SHIPPED: dict[str, Path] = {
    path.parent.name: path for path in sorted(assets_folder().glob("*/platform.toml*"))
}
"""The platform.toml of every machine by name."""

assert len(SHIPPED) >= 6, "machines are missing"


def shipped_content(machine: str) -> dict[str, Any]:
    """Return the content of a machine's file."""
    return tomllib.loads(SHIPPED[machine].read_text())


def machine_of_kind(kind: str, **changes: Any) -> MachineParameters:
    """Return the first shipped machine on legs of a kind, with entries of its file replaced."""
    content = next(c for c in map(shipped_content, SHIPPED) if c["leg"]["kind"] == kind)
    return parameters_from(content | changes, "platform.toml")


assert {shipped_content(name)["leg"]["kind"] for name in SHIPPED} == set(LEG_KINDS)
