"""The page of one machine: drawing, numbers, conventions, validation, use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from handbook.conventions import conventions
from handbook.machine_pictures import SKETCH, VIEWS
from handbook.markdown import fenced, plain
from handbook.parameters import configurations, parameters, summary
from handbook.validated import published, validated
from twin.analysis.platform import Platform
from twin.engines.base import suitable_timestep

USE = """import twin

platform = twin.load("{name}")
lengths = platform.inverse_kinematics(platform.home)  # [{unit}]
forces = platform.inverse_dynamics(platform.home, [0] * 6, [0] * 6)  # [{force}]
run = platform.simulate(0.05, engine="mujoco"{step})
print(lengths, forces, run.pose[-1])"""

COMMANDS = """twin info {name}
twin simulate {name} --duration 0.05 --engine mujoco
twin validate {name} --report {name}.html"""


def machine_page(
    platform: Platform, machine: Mapping[str, Any], pictures: Mapping[str, Path]
) -> str:
    """Return the page in MyST Markdown.

    Args:
        platform: the machine.
        machine: its part of the report, see `handbook.report.machine_report`.
        pictures: files by view.
    """
    known = configurations(platform)
    sections = [
        f"# {platform.name}\n\n{plain(platform.parameters.title)}.\n",
        _pictures(platform, pictures),
        _picture(platform, pictures[SKETCH], "with its dimensions in mm") + "\n",
        "## Use\n",
        fenced("python", use(platform)),
        fenced("console", COMMANDS.format(name=platform.name)),
        (f"Configurations: {', '.join(f'`{name}`' for name in known)}.\n" if known else ""),
        "## Derived quantities\n\n" + summary(platform),
        "## Conventions\n\n" + conventions(platform),
        f"## Validation: {machine['verdict']}\n\n" + validated(dict(machine)),
        "## Published values\n\n" + published(dict(machine)),
        "## Parameters\n\n"
        f"All fields of `assets/{platform.name}/platform.toml` in SI units, with the source of "
        "each table.\n",
        parameters(platform),
        "## Sources of the numbers\n\n" + _origins(platform.name),
    ]
    return "\n".join(sections)


def use(platform: Platform) -> str:
    """Return Python code that works with a machine."""
    longest = suitable_timestep(platform)
    step = f", timestep={longest:g}" if longest < 1e-3 else ""
    return USE.format(
        name=platform.name, unit=platform.coordinate_unit, force=platform.force_unit, step=step
    )


def _pictures(platform: Platform, pictures: Mapping[str, Path]) -> str:
    images = [
        f"![{platform.name} at home, {view}](../pictures/{pictures[view].name})" for view in VIEWS
    ]
    return "\n".join([":::{container} pair", *images, ":::", ""])


def _picture(platform: Platform, file: Path, view: str) -> str:
    return f"![{platform.name} at home, {view}](../pictures/{file.name})"


def _origins(name: str) -> str:
    """Return the machine's README below its title and file list, headings one step lower."""
    text = (files("twin.assets") / name / "README.md").read_text(encoding="utf-8")
    return re.sub(r"^(#+) ", r"#\1 ", text.partition("\n")[2].strip(), flags=re.MULTILINE) + "\n"
