"""The console command in this process, which has imported all libraries."""

from __future__ import annotations

from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from twin.cli import app


def console(*arguments: object, code: int | None = 0, **options: Any) -> Result:
    """Run `twin ARGUMENTS` and return what it says and how it ends.

    It must end with the exit code `code`, where that is not None; options are the runner's.
    """
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], **options)
    told = f"{arguments}: {result.output}\n{result.exception!r}"
    assert code is None or result.exit_code == code, told
    return result
