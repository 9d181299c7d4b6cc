"""Environment of a validation run: time, libraries, system, processor, command."""

from __future__ import annotations

import os
import platform as system
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from twin.basics.optional import library_versions

PROCESSORS = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Environment:
    """The data needed to repeat a run."""

    generated: str
    """UTC, ISO 8601"""
    command: str
    system: str
    processor: str
    cores: int
    versions: dict[str, str]


def environment(command: str) -> Environment:
    """Return the present environment; `command` as the user typed it."""
    return Environment(
        generated=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command,
        system=f"{system.system()} {system.release()}, {system.machine()}",
        processor=_processor(),
        cores=os.cpu_count() or 1,
        versions=library_versions(),
    )


def _processor() -> str:
    try:
        lines = PROCESSORS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "model name" and value.strip():
            return value.strip()
    return system.processor() or system.machine()
