"""The application on which commands register; it reports errors of the package in one line."""

from __future__ import annotations

import atexit
import errno
import gc
import re
import sys
import warnings
from difflib import get_close_matches
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from twin import __version__
from twin.basics.toml import visible
from twin.errors import TwinError, TwinWarning

WRONG_USAGE = 2

DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of the system: a full disk, an exhausted quota, a file that is too large."""

LONGEST_NAME = 300
"""Maximum number of characters of a file name in a message."""


class BadQuantity(typer.BadParameter):
    """A value of an option that is no quantity of a fitting unit."""


class Group(TyperGroup):
    """Commands whose TwinErrors and wrong options end in one line instead of a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a TwinError, a wrong option or a fault of a file ends with exit code 2.

        A fault of a file is a full disk, or an OSError that names its file; other OSErrors pass.
        """
        try:
            return super().invoke(ctx)
        except TwinError as error:
            text = one_line(error)
        except OSError as error:
            if error.errno not in DISK_FULL_ERRORS and error.filename is None:
                raise
            text = f"{error.strerror}: {str(error.filename or 'while writing')[:LONGEST_NAME]}"
        except typer.BadParameter as error:
            text = error.format_message()
            if isinstance(error, BadQuantity) and error.param:
                text = f"{error.param.name}: {error.message}"
            text = _with_suggestion(" ".join(text.replace("Value error, ", "").split()))
        _say(text)
        raise typer.Exit(WRONG_USAGE)


def one_line(error: TwinError) -> str:
    """Return the message of an error on one line, its parts separated by semicolons."""
    first_part, *parts = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    return f"{first_part} {'; '.join(parts)}".strip()


def _say(text: str) -> None:
    """Print a message of the program on the error stream."""
    typer.echo(f"twin: {visible(text)}", err=True)


def _with_suggestion(text: str) -> str:
    """Return a message on a wrong choice with the choice that is meant, if one is near."""
    option_text, found, choices = text.partition(" is not one of ")
    value = option_text.rpartition(": ")[2].strip("'")
    close = get_close_matches(value, re.findall(r"'([^']*)'", choices), 1)
    return f"{text.rstrip('.')}; did you mean {close[0]!r}?" if found and close else text


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
    message: Warning | str, category: type[Warning], *location: Any, **options: Any
) -> None:
    """Print a warning of the package as one line; other warnings are printed as usual."""
    if issubclass(category, TwinWarning):
        _say(str(message))
    else:
        _show_others(message, category, *location, **options)


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
