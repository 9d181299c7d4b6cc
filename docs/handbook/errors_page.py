"""The page of the errors that the package raises."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from handbook.markdown import table
from twin import errors
from twin.errors import TwinError


def errors_page() -> str:
    """Return the page: every error with its builtin parent and its meaning."""
    rows = [(f"`{kind.__name__}`", _parents(kind), _meaning(kind)) for kind in _kinds(TwinError)]
    return (
        "# Errors\n\n"
        "Every error of the package is a `twin.TwinError` and also the fitting builtin, so that "
        "`except ValueError` catches a wrong argument. Messages say what to change; errors of "
        "computations have the relevant state in `data`. All of them survive "
        "pickling. The classes are in {py:mod}`twin.errors`, except where a module is named.\n\n"
        + table(("Error", "Is also", "When"), rows)
    )


def _kinds(root: type[TwinError]) -> Iterator[type[TwinError]]:
    yield root
    for kind in sorted(root.__subclasses__(), key=lambda kind: kind.__name__):
        yield from _kinds(kind)


def _parents(kind: type[TwinError]) -> str:
    parents = [parent for parent in kind.__mro__[1:] if parent is not object]
    names = [
        parent.__name__
        for parent in parents
        if parent not in (TwinError, BaseException, Exception, OSError)
    ]
    return ", ".join(f"`{name}`" for name in names)


def _meaning(kind: type[TwinError]) -> str:
    text = (inspect.getdoc(kind) or "").split("\n\n")[0]
    place = "" if kind.__module__ == errors.__name__ else f" (`{kind.__module__}`)"
    return text + place
