"""The part of `report.json` on one machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from twin.errors import InputError


def read_report(path: Path) -> dict[str, Any]:
    """Return the content of a validation report.

    Raises:
        InputError: there is none.
    """
    if not path.is_file():
        raise InputError("report", f"{path} is missing: run make report")
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def machine_report(report: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the part of a report that is about one machine, its cases under `cases`.

    Raises:
        InputError: the report has no such machine.
    """
    for machine in report["machines"]:
        if machine["name"] == name:
            own = [case for case in report["cases"] if case["machine"] == name]
            return {**machine, "cases": own}
    raise InputError("report", f"nothing about {name}: run make report")
