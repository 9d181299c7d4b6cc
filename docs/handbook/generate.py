"""Writes all generated pages; one whose text is as before is not touched."""

from __future__ import annotations

from pathlib import Path

import twin
from handbook.commands_page import commands_page
from handbook.convergence import convergence_table
from handbook.environments_page import environments_page
from handbook.errata_page import errata_page, mutations_page
from handbook.errors_page import errors_page
from handbook.examples_page import examples_page
from handbook.gallery import gallery
from handbook.interface import pages as interface_pages
from handbook.machine_page import machine_page
from handbook.machine_pictures import draw
from handbook.policies_page import policies_page
from handbook.report import machine_report, read_report

SINGLE = {
    "commands.md": commands_page,
    "environments.md": environments_page,
    "errors.md": errors_page,
    "errata.md": errata_page,
    "mutations.md": mutations_page,
    "policies.md": policies_page,
    "examples.md": examples_page,
}
"""Pages of which there is one."""


def generate(folder: Path, report: Path) -> list[Path]:
    """Write the pages below `folder`, with the numbers of `report`; returns their files.

    Raises:
        InputError: the report is missing, or says nothing about a machine.
        MissingDependencyError: no OpenGL library draws on this computer.
    """
    pages = {
        **{name: make() for name, make in SINGLE.items()},
        **interface_pages(),
        **_machines(folder, report),
    }
    for name, text in pages.items():
        _write(folder / name, text)
    _remove_others(folder, set(pages))
    return [folder / name for name in pages]


def _machines(folder: Path, report: Path) -> dict[str, str]:
    content = read_report(report)
    pages, shown, machines = {}, {}, []
    for name in twin.machine_names():
        platform, machine = twin.load(name), machine_report(content, name)
        pictures = draw(platform, folder / "pictures")
        pages[f"machines/{name}.md"] = machine_page(platform, machine, pictures)
        shown[name] = pictures["overview"]
        machines.append(machine)
    pages["machine_gallery.md"] = gallery(machines, shown)
    pages["convergence.md"] = convergence_table(content)
    return pages


def _write(file: Path, text: str) -> None:
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _remove_others(folder: Path, names: set[str]) -> None:
    """Remove pages of what no longer exists."""
    for file in folder.rglob("*.md"):
        if file.relative_to(folder).as_posix() not in names:
            file.unlink()
