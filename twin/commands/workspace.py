"""Where a machine can be, how well it moves there, and how stiff it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from twin.basics.files import write_text
from twin.commands.console import Column, line, table
from twin.commands.numbers import numbers
from twin.commands.options import PAGE, check_files, told_as
from twin.simulation.platform import load

if TYPE_CHECKING:
    from twin.analysis.workspace.analysis import Advance


def workspace(
    machine: str,
    configuration: str | None,
    pose: str | None,
    stiffness: float | None,
    plot: Path | None,
    json_out: Path | None,
) -> None:
    """Analyse the workspace, print its figures, and write what was asked for.

    JSON holds what `twin.analysis.workspace.report.content.workspace_content` returns.
    """
    check_files(plot=(plot, PAGE), json=(json_out, ""))
    platform = load(machine, configuration)
    center = None if pose is None else numbers(pose, "pose")
    if plot is not None:
        from twin.basics.optional import optional

        optional("plotly")
    from twin.analysis.workspace.analysis import PARTS, workspace_analysis
    from twin.analysis.workspace.report.content import workspace_content
    from twin.analysis.workspace.report.summary import summary_rows

    with _bar(PARTS) as advance, told_as(center="pose"):
        found = workspace_analysis(platform, center, stiffness=stiffness, advance=advance)
    columns = [Column(name) for name in ("quantity", "value", "note")]
    table(columns, summary_rows(found), f"{platform.name}: {platform.parameters.title}")
    if json_out is not None:
        content = json.dumps(workspace_content(found), indent=2, allow_nan=False)
        line(f"wrote {write_text(json_out, content + chr(10))}")
    if plot is not None:
        from twin.analysis.workspace.report.page import write_page

        line(f"wrote {write_page(found, plot)}")


@contextmanager
def _bar(count: int) -> Iterator[Advance]:
    """Show a bar on a terminal; yields what tells it the next part."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        bar = progress.add_task("workspace", total=count)
        begun = 0

        def advance(part: str) -> None:
            nonlocal begun
            progress.update(bar, completed=begun, description=part)
            begun += 1

        yield advance
