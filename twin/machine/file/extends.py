"""Files that extend another one: `extends = "stewart"`, then only what differs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from twin.basics.toml import read_limited, toml_content
from twin.errors import MachineNotFoundError, ParameterError, brief
from twin.machine.catalogue import gallery_names, machine_names, parameters_path
from twin.machine.file.configuration import IDEAL
from twin.machine.file.generic import HARDWARE, is_generic
from twin.machine.table import merged

EXTENDS, RECORD = "extends", "identified"
"""Fields of such files alone: what they extend, and a record for people that is not read."""

CONFIGURATION = "configuration"
"""Field of a configuration of the base to build on, or of tables with changes of configurations."""

LEG_NUMBER = r"[1-9][0-9]{0,3}"
"""Name of a table in [leg] that is for one leg."""

DEEPEST = 10
"""Most files in a chain of files of which each extends the next."""

Files = tuple[tuple[bytes, Path], ...]
"""Texts of a file and of those that it extends, the one without `extends` last."""


def files_of(path: str | Path) -> Files:
    """Return a file and all those that it extends.

    Raises:
        ParameterError: unreadable, not TOML, files that extend each other in a circle or in too
            long a chain, or a base that is no machine.
    """
    found: list[tuple[bytes, Path]] = []
    at = Path(path)
    while True:
        raw = read_limited(at)
        chain = " -> ".join(other.name for _, other in (*found, (raw, at)))
        if any(at.resolve() == other.resolve() for _, other in found):
            problem = f"leads in a circle: {chain}; extend a whole machine"
            raise ParameterError(path, [(EXTENDS, problem)])
        if len(found) == DEEPEST:
            problem = f"is a chain of more than {DEEPEST} files: {chain}; extend one nearer its end"
            raise ParameterError(path, [(EXTENDS, problem)])
        found.append((raw, at))
        base = toml_content(raw, at).get(EXTENDS) if EXTENDS.encode() in raw else None
        if base is None:
            return tuple(found)
        at = _base(base, at)


def _base(base: Any, file: Path) -> Path:
    """Return the file that `extends` names: a machine of the catalogue, or a path beside `file`."""
    if not isinstance(base, str) or not base or "\0" in base:
        problem = f"must be the name of a machine or the path of a file, not {brief(base)}"
        raise ParameterError(file, [(EXTENDS, problem)])
    known = base in machine_names() or base in gallery_names()
    try:
        return parameters_path(base if known else file.parent / base)
    except MachineNotFoundError:
        names = ", ".join(machine_names())
        problem = f"no machine {base!r} and no such file beside this one; machines: {names}"
        raise ParameterError(file, [(EXTENDS, problem)]) from None


def extended(
    change: dict[str, Any], plain: dict[str, Any], configurations: dict[str, Any], file: Path
) -> dict[str, Any]:
    """Return the content of the file that `change` makes of a base.

    Tables of the change replace single entries of the base; `[leg.3.drive]` holds for leg 3 alone.
    If the change names a `configuration` of the base, it builds on that one, and the result keeps
    its name. If it has tables `[configuration.x]`, each changes the base's x or is a new one.

    Args:
        change: content of the file that extends.
        plain: content of the base without configurations.
        configurations: of the base, with a generic `hardware` where the base states none.
        file: for errors.

    Raises:
        ParameterError: no `source`, or no such configuration.
    """
    source, name = change.get("source"), change.get(CONFIGURATION)
    if not isinstance(source, str) or not source.strip():
        raise ParameterError(file, [("source", "missing; say where the new numbers are from")])
    # Generic drives follow from the new machine's actuators, unless the file builds on the base's.
    own = {key: table for key, table in configurations.items() if not is_generic(table)}
    kept: dict[str, Any] = own
    if isinstance(name, dict):
        for key, table in name.items():
            kept[key] = _with_changes(configurations.get(key, {}), table, source)
    elif name is not None and name != IDEAL:
        if not isinstance(name, str) or name not in configurations:
            known = ", ".join(configurations) or "none"
            tables = f"tables such as [{CONFIGURATION}.{HARDWARE}]"
            problem = f"must be a configuration of the base or {tables}, not {brief(name)}"
            problem += f"; known: {known}"
            raise ParameterError(file, [(CONFIGURATION, problem)])
        base = {key: value for key, value in configurations[name].items() if key != "source"}
        plain = merged(plain, base, configurations[name]["source"])
        kept = {name: {"source": source}}
    special = (EXTENDS, CONFIGURATION, RECORD)
    rest = {key: value for key, value in change.items() if key not in special}
    leg = rest.get("leg")
    single: dict[str, Any] = {}
    if isinstance(leg, dict):
        single = {key: value for key, value in leg.items() if re.fullmatch(LEG_NUMBER, key)}
        rest["leg"] = {key: value for key, value in leg.items() if key not in single}
    whole = merged(plain, rest, source)
    if single:
        whole["variant"] = _with_single_legs(whole.get("variant", []), single, source, file)
    return whole | {CONFIGURATION: kept}


def _with_changes(base: dict[str, Any], change: Any, source: str) -> Any:
    """Return a configuration with the changes of another file; what is no table stays as it is."""
    if not isinstance(change, dict):
        return change
    before = {key: value for key, value in base.items() if key != "source"}
    own = change.get("source", source)
    return merged(merged({}, before, base.get("source", own)), change, own) | {"source": own}


def _with_single_legs(
    variants: Any, single: dict[str, Any], source: str, file: Path
) -> list[dict[str, Any]]:
    """Return variants of which each leg in `single` has one of its own, with its changes.

    Raises:
        ParameterError: variants that are no list of tables with their legs, or a change that is no
            table.
    """
    if not isinstance(variants, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("legs"), list) for entry in variants
    ):
        problem = "must be a list of tables, each headed [[variant]], with a list 'legs'"
        raise ParameterError(file, [("variant", problem)])
    left = [dict(entry) for entry in variants]
    added = []
    for key, change in single.items():
        if not isinstance(change, dict):
            problem = f"must be a table such as [leg.{key}.drive]"
            raise ParameterError(file, [(f"leg.{key}", problem)])
        number, old = int(key), {}
        for entry in left:
            if number in entry["legs"]:
                old = {name: entry[name] for name in entry if name not in ("legs", "source")}
                entry["legs"] = [other for other in entry["legs"] if other != number]
        added.append({**merged(old, change, source), "legs": [number], "source": source})
    return [*(entry for entry in left if entry["legs"]), *added]
