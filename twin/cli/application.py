"""The application on which commands register; it reports errors of the package in one line."""

from __future__ import annotations

import atexit
import errno
import gc
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from twin import __version__
from twin.errors import TwinError, TwinWarning

WRONG_USAGE = 2

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""A full disk, a quota or a limit of the size of files."""


class Group(TyperGroup):
    """Commands whose TwinErrors and wrong options end in one line instead of a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a TwinError, a wrong option and a full disk end with exit code 2."""
        try:
            return super().invoke(ctx)
        except TwinError as error:
            typer.echo(f"twin: {one_line(error)}", err=True)
            raise typer.Exit(WRONG_USAGE) from None
        except OSError as error:
            if error.errno not in FULL:
                raise
            typer.echo(f"twin: {error.strerror}: {error.filename or 'while writing'}", err=True)
            raise typer.Exit(WRONG_USAGE) from None
        except typer.BadParameter as error:
            field, message = error.param_hint, error.format_message()
            told = f"{field}: {error.message}" if isinstance(field, str) else message
            typer.echo(f"twin: {' '.join(told.split())}", err=True)
            raise typer.Exit(WRONG_USAGE) from None


def one_line(error: TwinError) -> str:
    """Return the message of an error on one line, its parts separated by semicolons."""
    head, *parts = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    return f"{head} {'; '.join(parts)}".strip()


def command_line() -> str:
    """Return the command as it was typed, for reports."""
    return " ".join(["twin", *sys.argv[1:]])


app = typer.Typer(
    cls=Group,
    name="twin",
    help="Digital twins of parallel motion platforms: analytic reference, engines, validation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


_show_others = warnings.showwarning


def _show_warning(
    message: Warning | str, category: type[Warning], *place: Any, **more: Any
) -> None:
    """Print a warning of the package as one line; others as Python does."""
    if issubclass(category, TwinWarning):
        typer.echo(f"twin: {message}", err=True)
    else:
        _show_others(message, category, *place, **more)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"platform-twin {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and stop.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Read the options before the command."""
    # Without this the interpreter searches a million objects for cycles before it ends: 0.2 s
    # after every command, half a second with an engine.
    atexit.register(gc.freeze)
    warnings.showwarning = _show_warning
