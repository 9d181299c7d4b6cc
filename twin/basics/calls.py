"""Functions of a user: what they are called in messages, and whether they take the arguments."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from twin.errors import InputError


def call_name(function: Any) -> str:
    """Return the name of a function in messages; of an object that is called, its class."""
    name = getattr(function, "__qualname__", None) or type(function).__name__
    return str(name).rpartition("<locals>.")[2]


def check_arguments(function: Callable[..., Any], field: str, *names: str) -> None:
    """Check that a function can be called with so many positional arguments.

    Args:
        function: of the user.
        field: the argument as which it was given.
        names: of its arguments, for the message.

    Raises:
        InputError: it takes others.
    """
    try:
        given = signature(function)
    except (TypeError, ValueError):  # some callables written in C have no signature
        return
    try:
        given.bind(*names)
    except TypeError as error:
        call = f"{field}({', '.join(names)})"
        raise InputError(field, f"is called with {' and '.join(names)}: {call} ({error})") from None
