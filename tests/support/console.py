"""The console command in this process, which has imported all libraries."""

from __future__ import annotations

from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from twin.cli import app


def console(*arguments: object, **options: Any) -> Result:
    """Run `twin ARGUMENTS` and return what it says and how it ends; options are the runner's."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)
