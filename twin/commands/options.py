"""Options of commands: files that can be written, and errors that name the option."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from twin.basics.files import check_place
from twin.errors import InputError

PAGE = ".html"
"""What the names of pages end in."""


@contextmanager
def told_as(**names: str) -> Iterator[None]:
    """Let an InputError raised inside name the option it is about.

    Args:
        names: field of an error -> name of the option.

    Raises:
        InputError: as inside, with the option's name.
    """
    try:
        yield
    except InputError as error:
        if error.field not in names:
            raise
        raise InputError(names[error.field], error.message) from None


def check_files(**files: tuple[Path | None, str]) -> None:
    """Check before the work that the files of some options can probably be written.

    Args:
        files: option -> file, None for none, and what its name must end in, empty for anything.

    Raises:
        InputError: wrong ending, a folder, or a file in a folder that does not exist.
    """
    for option, (path, ending) in files.items():
        if path is not None:
            with told_as(path=option):
                check_place(path, ending)
