"""The page of the command line, from the functions that its commands are made of."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, get_args, get_origin

import typer

from handbook.markdown import fenced, plain, table

HEAD = """# Command line

`twin COMMAND --help` prints the same. The exit code is 0 without a fault, 1 for a
fault such as a failed case of the validation, and 2 for wrong usage.
"""

WORDS = {"int": "INTEGER", "float": "NUMBER", "str": "TEXT", "Path": "PATH", "bool": ""}


class Given(NamedTuple):
    """An argument or an option of a command."""

    name: str
    """as it is typed, with its value"""
    default: str
    """Markdown; empty for none"""
    meaning: str
    """Markdown"""
    is_option: bool


def commands() -> dict[str, Callable[..., Any]]:
    """Return the functions of all commands by the commands' names, in alphabetic order."""
    from twin.cli import app

    found = {}
    for command in app.registered_commands:
        assert command.callback is not None
        found[command.name or command.callback.__name__.replace("_", "-")] = command.callback
    return dict(sorted(found.items()))


def commands_page() -> str:
    """Return the page: every command with its arguments and options."""
    found = commands()
    rows = [
        (f"[`twin {name}`](#twin-{name})", _paragraphs(command)[0])
        for name, command in found.items()
    ]
    sections = [_section(name, command) for name, command in found.items()]
    return "\n".join([HEAD, table(("Command", "Purpose"), rows), *sections])


def _paragraphs(command: Callable[..., Any]) -> list[str]:
    shown, _, _ = (inspect.getdoc(command) or "").partition("\n\n\f")
    return [plain(part) for part in shown.split("\n\n")]


def _section(name: str, command: Callable[..., Any]) -> str:
    arguments = [part for part in given(command) if not part.is_option]
    options = [part for part in given(command) if part.is_option]
    line = " ".join(["twin", name, *(part.name for part in arguments)])
    line += " [OPTIONS]" if options else ""
    text = (
        f"## twin {name}\n\n{fenced('text', line)}\n" + "\n\n".join(_paragraphs(command)) + "\n\n"
    )
    if arguments:
        known = [(f"`{part.name}`", part.meaning) for part in arguments]
        text += table(("Argument", "Meaning"), known) + "\n"
    if options:
        rows = [(f"`{part.name}`", part.default, part.meaning) for part in options]
        text += table(("Option", "Default", "Meaning"), rows)
    return text


def given(command: Callable[..., Any]) -> Iterator[Given]:
    """Yield what a command takes, in the order of its help."""
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        if parameter.annotation is typer.Context:
            continue
        kind, *rest = get_args(parameter.annotation)
        option = rest[0]
        is_option = type(option).__name__ == "OptionInfo"
        value = option.metavar or _value(kind)
        shown = value or name.upper()
        if is_option:
            flags = _flags(option) or [f"--{name.replace('_', '-')}"]
            shown = f"{', '.join(flags)} {value}".strip()
        default = "" if parameter.default is not inspect.Parameter.empty else "required"
        if parameter.default not in (inspect.Parameter.empty, None, "", False):
            default = f"`{str(parameter.default).removesuffix('.0')}`"
        choices = [f"`{choice}`" for choice in _choices(kind)]
        meaning = plain(option.help or "") + (f" One of {', '.join(choices)}." if choices else "")
        yield Given(shown, default, meaning, is_option)


def _flags(option: Any) -> list[str]:
    """Return the flags that are given; Typer takes the first one for a default at first."""
    return [flag for flag in (option.default, *(option.param_decls or ())) if isinstance(flag, str)]


def _inner(kind: Any) -> Any:
    """Return the type of a value inside optional and repeated ones."""
    inside = [part for part in get_args(kind) if part is not type(None)]
    return _inner(inside[0]) if inside and get_origin(kind) is not Literal else kind


def _choices(kind: Any) -> tuple[str, ...]:
    inner = _inner(kind)
    return get_args(inner) if get_origin(inner) is Literal else ()


def _value(kind: Any) -> str:
    return "NAME" if _choices(kind) else WORDS.get(_inner(kind).__name__, "VALUE")
