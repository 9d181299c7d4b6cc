"""The identified machine as a file on top of the old one: `extends`, then the new values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twin.analysis.platform import Platform
from twin.basics.files import as_path, check_replaced, write_text
from twin.charts.text import number
from twin.identification.parameters import Parameter
from twin.identification.result.identification import Identification
from twin.machine.catalogue import gallery_names, machine_names


def identified_toml(found: Identification, machine: str, target: Path) -> str:
    """Return the text of a file that makes the identified machine of the old one.

    Args:
        found: the result.
        machine: name or path of the old machine, as the user gave it.
        target: where the text will be written; a base beside it is named by its relative path.
    """
    configuration = found.before.parameters.configuration
    applied = configuration.applied if configuration else ""
    names = ", ".join(source.name for source in found.sources if source.name) or "logs"
    lines = [
        f"# {found.platform.name} as identified on {found.date}. Values are SI.",
        f"extends = {_text(_base(machine, target))}",
        *([f"configuration = {_text(applied)}"] if applied else []),
        f"source = {_text(f'Identified on {found.date[:10]} from {names}')}",
        "",
        "[identified]",
        f"date = {found.date}",
        f"logs = [{', '.join(_text(source.name) for source in found.sources)}]",
        f"sha256 = [{', '.join(_text(source.sha256) for source in found.sources)}]",
        *_outside(found),
    ]
    table = ""
    for path, comment in _entries(found):
        head, _, field = path.rpartition(".")
        if head != table:
            lines += ["", f"[{head}]"] if head else [""]
            table = head
        value = _value(found.platform, path)
        lines += [f"# {part}" for part in comment] + [f"{field} = {value}"]
    return "\n".join(lines) + "\n"


def _outside(found: Identification) -> list[str]:
    """Return lines on tilts and errors of signals, which no machine has; for people alone."""
    every = zip(found.parameters, found.values, found.standard_errors, strict=True)
    return [
        line
        for parameter, value, error in every
        if not parameter.is_of_machine
        for line in (
            f"# {_comment(parameter, value, error)}",
            f'"{parameter.path}" = {_toml(value)}',
        )
    ]


def write_identified(
    found: Identification, machine: str, path: str | Path, *, replace: bool = False
) -> Path:
    """Write the file of the identified machine; returns its path.

    Raises:
        InputError: the file exists and is not to be replaced, or cannot be written.
    """
    target = as_path(path)
    check_replaced(target, "out", replace=replace)
    return write_text(target, identified_toml(found, machine, target))


def _base(machine: str, target: Path) -> str:
    """Return what `extends` names: a machine of the catalogue, or a file, relative if beside."""
    if machine in machine_names() or machine in gallery_names():
        return machine
    base, folder = Path(machine).expanduser().resolve(), target.resolve().parent
    return base.relative_to(folder).as_posix() if folder in base.parents else base.as_posix()


def _entries(found: Identification) -> list[tuple[str, list[str]]]:
    """Return the paths of fields that change, lists as a whole, with comments on each estimate."""
    entries: dict[str, list[str]] = {}
    for parameter, value, error in zip(
        found.parameters, found.values, found.standard_errors, strict=True
    ):
        if not parameter.is_of_machine:
            continue
        keys = parameter.path.split(".")
        while keys[-1].isdecimal():
            keys.pop()
        entries.setdefault(".".join(keys), []).append(_comment(parameter, value, error))
    return sorted(entries.items(), key=lambda entry: entry[0].rpartition(".")[0])


def _comment(parameter: Parameter, value: float, error: float) -> str:
    return (
        f"{parameter.words}: {number(value)} +- {number(error, 2)} {parameter.unit}, "
        f"was {number(parameter.nominal)}"
    ).replace(" ,", ",")


def _value(platform: Platform, path: str) -> str:
    """Return the value of a field as TOML; of all legs that of the first that has the field."""
    owners: list[Any]
    keys, owners = path.split("."), [platform.parameters]
    if keys[0] == "leg":
        legs = platform.parameters.legs
        owners = [legs[int(keys[1]) - 1]] if keys[1].isdecimal() else list(legs)
        keys = keys[2:] if keys[1].isdecimal() else keys[1:]
    for key in keys:
        owners = [inner for owner in owners if (inner := getattr(owner, key, None)) is not None]
    return _toml(owners[0])


def _toml(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    return repr(float(value))


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
