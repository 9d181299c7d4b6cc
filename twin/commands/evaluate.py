"""Compare policies and baselines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from twin.basics.files import write_text
from twin.commands.console import Column, line, table
from twin.commands.options import check_files
from twin.commands.settings import environment_options
from twin.training.evaluation import Show, count_parts
from twin.training.evaluation import evaluate as run
from twin.training.evaluation_report import as_json, as_markdown, report_columns, report_rows


def evaluate(
    environment: str,
    contestants: Sequence[str],
    *,
    engines: Sequence[str],
    episodes: int,
    seed: int,
    given: Mapping[str, Any],
    options: Sequence[str],
    jobs: int | None,
    json: Path | None,
    markdown: Path | None,
    command: str,
) -> None:
    """Run all contestants, print means with intervals, write what was asked for.

    Raises:
        InputError: an argument that cannot be used.
        MissingDependencyError: a library is missing.
    """
    check_files(json=(json, ".json"), markdown=(markdown, ".md"))
    chosen = environment_options(given, options)
    with _bar(count_parts(len(contestants), len(engines), episodes)) as show:
        found = run(
            environment,
            contestants,
            engines=engines,
            episodes=episodes,
            seed=seed,
            options=chosen or None,
            jobs=jobs or _usual_jobs(),
            show=show,
        )
    columns = [Column(title, k > 1) for k, title in enumerate(report_columns(found))]
    table(columns, report_rows(found))
    first = found.titles[0].partition(" [")[0]
    line(
        f"{episodes} episode{'s' * (episodes != 1)}, the same for all; means with 95 % intervals; "
        f"differences of the {first} from {found.contestants[0]}, by episode"
    )
    if json is not None:
        line(f"wrote {write_text(json, as_json(found, command))}")
    if markdown is not None:
        line(f"wrote {write_text(markdown, as_markdown(found, command))}")


@contextmanager
def _bar(count: int) -> Iterator[Show]:
    """Show a bar on a terminal; yields what tells it that a part is done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        bar: Any = progress.add_task("evaluating", total=count)

        def show(words: str) -> None:
            progress.update(bar, advance=1, description=words)

        yield show


def _usual_jobs() -> int:
    """Return one process per core, or one where joblib is not installed."""
    return (os.cpu_count() or 1) if find_spec("joblib") else 1
