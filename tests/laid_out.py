"""Machines with other joints or another home, made from the templates."""

from __future__ import annotations

import tomllib
from typing import Any

from twin.machine import MachineParameters
from twin.machine.file.read import parameters_from
from twin.machine.file.template import template

MID_STROKE = {"home": "mid_stroke"}

HEXAGON = {"radius": 0.6, "spacing": "20 deg", "center_angle": 0.0}
TOP = {"radius": 0.4, "spacing": "20 deg", "center_angle": "60 deg"}


def laid_out(
    base: dict[str, Any] | None = None,
    top: dict[str, Any] | None = None,
    legs: str = "ups",
    **changes: Any,
) -> MachineParameters:
    """Return a template's machine with other joints, and tables of the file replaced."""
    content = tomllib.loads(template("laid_out", legs))
    for side, joints in (("base", base), ("platform", top)):
        if joints is not None:
            content[side]["joints"] = {"source": "Test"} | joints
    for name, value in changes.items():
        old = content.get(name)
        merge = isinstance(value, dict) and name != "home"
        content[name] = old | value if merge and isinstance(old, dict) else value
    return parameters_from(content, "platform.toml")
