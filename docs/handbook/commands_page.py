"""The page of the command line, from the parameters that Typer finds."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import typer

from handbook.markdown import fenced, plain, table

HEAD = """# Command line

`twin COMMAND --help` prints the same. The exit code is 0 without a fault, 1 for a
fault such as a failed case of the validation, and 2 for wrong usage.
"""

VALUES = {int: "INTEGER", float: "NUMBER", str: "TEXT", bool: ""}
"""Type -> what stands for a value where the command line does not name it."""


def commands() -> dict[str, Any]:
    """Return Typer's commands by their names, in alphabetic order."""
    from twin.cli import app

    return dict(sorted(typer.main.get_command(app).commands.items()))  # type: ignore[attr-defined]


def commands_page() -> str:
    """Return the page: every command with its arguments and options."""
    found = commands()
    rows = [
        (f"[`twin {name}`](#twin-{name})", _paragraphs(command)[0])
        for name, command in found.items()
    ]
    sections = [_section(name, command) for name, command in found.items()]
    return "\n".join([HEAD, table(("Command", "Purpose"), rows), *sections])


def _paragraphs(command: Any) -> list[str]:
    return [plain(part) for part in command.help.partition("\f")[0].strip().split("\n\n")]


def _section(name: str, command: Any) -> str:
    arguments = [each for each in command.params if not _is_option(each)]
    options = [each for each in command.params if _is_option(each)]
    line = " ".join(["twin", name, *map(usage, arguments)]) + (" [OPTIONS]" if options else "")
    text = f"## twin {name}\n\n{fenced('text', line)}\n"
    text += "\n\n".join(_paragraphs(command)) + "\n\n"
    if arguments:
        text += table(("Argument", "Meaning"), [(f"`{usage(a)}`", meaning(a)) for a in arguments])
    if options:
        rows = [(f"`{usage(each)}`", _default(each), meaning(each)) for each in options]
        text += "\n" + table(("Option", "Default", "Meaning"), rows)
    return text


def _is_option(parameter: Any) -> bool:
    return bool(parameter.opts[0].startswith("-"))


def usage(parameter: Any) -> str:
    """Return an argument or an option as it is typed, with its value."""
    if not _is_option(parameter):
        return str(parameter.metavar or parameter.name.upper())
    value = parameter.metavar or ("NAME" if _choices(parameter) else _value(parameter))
    flags = "/".join([", ".join(parameter.opts), *parameter.secondary_opts])
    return f"{flags} {value}".strip()


def meaning(parameter: Any) -> str:
    """Return what an argument or an option means, with the names to choose from, in Markdown."""
    choices = [f"`{choice}`" for choice in _choices(parameter)]
    return plain(parameter.help or "") + (f" One of {', '.join(choices)}." if choices else "")


def _default(option: Any) -> str:
    if option.required:
        return "required"
    return f"`{str(option.default).removesuffix('.0')}`" if option.default else ""


def _kind(parameter: Any) -> Any:
    """Return the type of a value inside optional and repeated ones."""
    kind = parameter.type_descriptor.annotation
    while get_origin(kind) is not Literal and get_args(kind):
        kind = next(part for part in get_args(kind) if part is not type(None))
    return kind


def _choices(parameter: Any) -> tuple[str, ...]:
    kind = _kind(parameter)
    return get_args(kind) if get_origin(kind) is Literal else ()


def _value(parameter: Any) -> str:
    return VALUES.get(_kind(parameter), "PATH")
