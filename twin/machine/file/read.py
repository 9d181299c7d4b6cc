"""Machine files: reading, extending, describing and templates.

A file without the configuration `hardware` gets one with generic drives of the actuator's size. The
drives are sized by force, speed and stroke of the actuators. A missing force follows from what
holds the machine at home, a missing speed from the stroke. All else is an adopted fraction
of these.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from twin.basics.arrays import one_of, without
from twin.basics.files import as_path, write_text
from twin.basics.toml import read_limited, toml_content
from twin.errors import InputError, MachineNotFoundError, ParameterError, brief
from twin.machine.description import NAME_PATTERN
from twin.machine.file.configuration import (
    IDEAL_CONFIGURATION,
    split_configurations,
    with_configuration,
)
from twin.machine.file.drawing import content_with_drawing
from twin.machine.legs import LEG_KINDS
from twin.machine.machine import MachineParameters, gallery_names, machine_names, parameters_path
from twin.machine.quantity import KIND_FIELDS, Table, field_names, field_unit, merged, tag_names

HARDWARE_CONFIGURATION = "hardware"
"""Name of the configuration with the real drives and sensors."""

GENERIC_SOURCE = "Generic drives"
"""Beginning of the source of a generic hardware configuration."""

FILE_DRIVES_SOURCE = "The drives of the file itself"
"""Source of this configuration where the file states drives outside a configuration."""

HOLDING_FORCE_FACTOR = 4.0
"""Force of an actuator where none is given, over the largest force that holds platform and legs at
home.
"""

STROKE_TIME = 1.0
"""[s] Time that the whole stroke takes where no speed is given."""

MOTOR_SPEED = 2.0 * math.pi * 50.0
"""[rad/s] Speed of the motor at the actuator's speed: 3000 rpm."""

START_TIME = 0.03
"""[s] Time in which the full force accelerates the unloaded motor to its speed."""

MAX_STIFFNESS = 5e8
"""[N/m] or [N m/rad] Largest stiffness of a transmission."""

BRAKE_FORCE_FACTOR = 2.0
"""Holding force of the brake, relative to the force of the actuator."""

ELECTRONICS_LAGS = {"current_lag": 5e-4, "delay": 1e-3}
"""[s] Current lag and delay of the electronics."""

ENCODER_COUNTS = 4096
"""Counts of an encoder over one turn of the motor, or over one `scale_period`."""

CONFIGURATION_FIELD = "configuration"
"""Field that names the configuration of the base to build on, or holds tables with changes of
configurations.
"""

LEG_NUMBER = r"[1-9][0-9]{0,3}"
"""Pattern of the name of a table in `[leg]` that changes one leg alone, such as "3"."""

MAX_EXTENDS_DEPTH = 10
"""Maximum number of files in a chain of files of which each extends the next."""

SPELLING_ADVICE = "check its spelling or remove it"

UNION_TAGS = {"rigid", "cylinder", "paired_circle", "polar", "points", *LEG_KINDS}
"""Names of the members of unions, which are between field names in the path of a problem."""

COMMENT_COLUMN = 32
"""Column of the comments in a template."""


FRICTION_FRACTION = 0.03
"""Friction while sliding, as a fraction of the force."""

VISCOUS_FRACTION = 0.02
"""Viscous friction at full speed, as a fraction of the force."""

WIND_UP_FRACTION = 5e-4
"""Deflection of the transmission under the force, as a fraction of the stroke."""

BACKLASH_FRACTION = 1e-4
"""Backlash of the transmission, as a fraction of the stroke."""

OVERTRAVEL_FRACTION = 0.02
"""Overtravel, as a fraction of the stroke."""


ENGINE_STEP = 2.5e-4
"""[s] Largest step of an engine that the transmission must be soft enough for."""

STABILITY_NUMBER = 0.5
"""Value of h^2 k / m at the step h of `ENGINE_STEP`, for stiffness k and moved mass m."""

DAMPING_RATIO = 0.3
"""Damping ratio of the transmission."""


class Size(NamedTuple):
    """Numbers that a generic drive is sized from, in the unit of the actuator's coordinate."""

    force: float
    speed: float
    stroke: float
    mobility: float
    """largest acceleration per force of the platform at home [1/kg, 1/(kg m2)]"""
    source: str


def generic_hardware(machine: MachineParameters) -> dict[str, Any]:
    """Return the table of a configuration with generic drives and encoders."""
    size = _size(machine)
    if machine.leg.drive is not None:
        return {"source": FILE_DRIVES_SOURCE, "leg": {}}
    source = {"source": size.source}
    leg = {"drive": _drive(machine, size) | source, "encoder": {"counts": ENCODER_COUNTS} | source}
    return source | {"leg": leg}


def is_generic(table: dict[str, Any]) -> bool:
    """Return whether a configuration is one that `generic_hardware` returned."""
    return str(table.get("source", "")).startswith((GENERIC_SOURCE, FILE_DRIVES_SOURCE))


def _size(machine: MachineParameters) -> Size:
    """Return force, speed and stroke from which generic drives are laid out."""
    actuator = machine.leg.actuator
    unit, effort = actuator.coordinate_unit, actuator.effort_unit
    stroke = min(leg.actuator.stroke for leg in machine.legs)
    body, rows, rotation = machine.platform.body, machine.home_jacobian, machine.home_rotation
    center = rotation @ body.center_of_mass
    moment = np.cross(center, [0.0, 0.0, 1.0])
    mass = body.mass + sum(leg.mass for leg in machine.legs)
    weight = mass * max(machine.gravity, 1.0) * np.array([0.0, 0.0, 1.0, *moment])
    holding_force = float(np.abs(np.linalg.pinv(rows.T) @ weight).max())
    adopted_values = []
    force, speed = actuator.effort, actuator.speed
    name = "torque" if unit == "rad" else "force"
    if force is None:
        force = HOLDING_FORCE_FACTOR * holding_force
        adopted_values.append(
            f"{HOLDING_FORCE_FACTOR:g} times the {name} that holds the machine at home"
        )
    if speed is None:
        speed = stroke / STROKE_TIME
        adopted_values.append("one stroke a second")
    ratings = f"{name} {force:.4g} {effort}, speed {speed:.4g} {unit}/s, stroke {stroke:.4g} {unit}"
    adopted_note = (
        f"; not in the file, adopted: {', '.join(adopted_values)}" if adopted_values else ""
    )
    inverse = np.zeros((6, 6))
    with np.errstate(over="ignore"):
        inverse[:3, :3] = np.eye(3) / body.mass
        inverse[3:, 3:] = rotation @ np.linalg.inv(body.inertia) @ rotation.T
    if not np.isfinite(inverse).all():
        raise InputError("platform.body", "its mass or inertia is too small for drives of its size")
    # About the centre of mass, where translation and rotation do not depend on each other.
    rows_about_center = np.hstack([rows[:, :3], rows[:, 3:] - np.cross(center, rows[:, :3])])
    mobility = float(np.linalg.eigvalsh(rows_about_center @ inverse @ rows_about_center.T)[-1])
    return Size(
        force, speed, stroke, mobility, f"{GENERIC_SOURCE}, sized from {ratings}{adopted_note}"
    )


def _drive(machine: MachineParameters, size: Size) -> dict[str, Any]:
    """Return the table `[leg.drive]`: a screw, or a gear for cranks; no motor for struts."""
    if machine.leg.has_axial_spring:
        return {"kind": "direct", "scale_period": 1e-3 * size.stroke, **ELECTRONICS_LAGS}
    ratio = MOTOR_SPEED / size.speed
    stable_stiffness = STABILITY_NUMBER / (ENGINE_STEP**2 * size.mobility)
    stiffness = min(size.force / (WIND_UP_FRACTION * size.stroke), stable_stiffness, MAX_STIFFNESS)
    rotary_transmission = {"kind": "gear", "ratio": ratio}
    if machine.leg.actuator.coordinate_unit == "m":
        rotary_transmission = {"kind": "screw", "lead": 2.0 * math.pi / ratio}
    return {
        **rotary_transmission,
        "armature_inertia": START_TIME * size.force / size.speed / ratio**2,
        "friction_torque": FRICTION_FRACTION * size.force / ratio,
        "viscous_torque": VISCOUS_FRACTION * size.force / size.speed / ratio**2,
        "breakaway": 1.3,
        "stribeck_speed": 0.01 * size.speed,
        "stiffness": stiffness,
        "damping": 2.0 * DAMPING_RATIO * math.sqrt(stiffness / size.mobility),
        "backlash": BACKLASH_FRACTION * size.stroke,
        "peak": size.force,
        "brake_torque": BRAKE_FORCE_FACTOR * size.force / ratio,
        "brake_engage_time": 0.05,
        "brake_release_time": 0.02,
        "overtravel": OVERTRAVEL_FRACTION * size.stroke,
        **ELECTRONICS_LAGS,
    }


EXTENDS_FIELD = "extends"
"""Field of a file that names the file which it extends."""

RECORD_FIELD = "identified"
"""Field of such a file with a record for people; it is not read."""


Files = tuple[tuple[bytes, Path], ...]
"""Content and path of a file and of those that it extends; the one without `extends` is last."""


def files_of(path: str | Path) -> Files:
    """Return a file and all those that it extends.

    Raises:
        ParameterError: unreadable, not TOML, files that extend each other in a circle or in too
            long a chain, or a base that is no machine.
    """
    files: list[tuple[bytes, Path]] = []
    file = Path(path)
    while True:
        content = read_limited(file)
        chain = " -> ".join(extended_file.name for _, extended_file in (*files, (content, file)))
        if any(file.resolve() == extended_file.resolve() for _, extended_file in files):
            problem = f"leads in a circle: {chain}; extend a whole machine"
            raise ParameterError(path, [(EXTENDS_FIELD, problem)])
        if len(files) == MAX_EXTENDS_DEPTH:
            problem = (
                f"is a chain of more than {MAX_EXTENDS_DEPTH} files: {chain}; "
                "extend one nearer its end"
            )
            raise ParameterError(path, [(EXTENDS_FIELD, problem)])
        files.append((content, file))
        base = (
            toml_content(content, file).get(EXTENDS_FIELD)
            if EXTENDS_FIELD.encode() in content
            else None
        )
        if base is None:
            return tuple(files)
        file = _base(base, file)


def _base(base: Any, file: Path) -> Path:
    """Return the file that `extends` names: a machine of the catalogue, or a path from `file`."""
    if not isinstance(base, str) or not base or "\0" in base:
        problem = f"must be the name of a machine or the path of a file, not {brief(base)}"
        raise ParameterError(file, [(EXTENDS_FIELD, problem)])
    is_machine_name = base in machine_names() or base in gallery_names()
    try:
        return parameters_path(base if is_machine_name else file.parent / base)
    except MachineNotFoundError:
        names = ", ".join(machine_names())
        problem = f"no machine {base!r} and no such file beside this one; machines: {names}"
        raise ParameterError(file, [(EXTENDS_FIELD, problem)]) from None


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
    source, name = change.get("source"), change.get(CONFIGURATION_FIELD)
    if not isinstance(source, str) or not source.strip():
        raise ParameterError(file, [("source", "missing; say where the new numbers are from")])
    # Generic drives follow from the new machine's actuators, unless the file builds on the base's.
    kept_configurations = {
        key: table for key, table in configurations.items() if not is_generic(table)
    }
    if isinstance(name, dict):
        for key, table in name.items():
            kept_configurations[key] = _with_changes(configurations.get(key, {}), table, source)
    elif name is not None and name != IDEAL_CONFIGURATION:
        if not isinstance(name, str) or name not in configurations:
            known_names = ", ".join(configurations) or "none"
            tables = f"tables such as [{CONFIGURATION_FIELD}.{HARDWARE_CONFIGURATION}]"
            problem = f"must be a configuration of the base or {tables}, not {brief(name)}"
            problem += f"; known: {known_names}"
            raise ParameterError(file, [(CONFIGURATION_FIELD, problem)])
        base = without(configurations[name], "source")
        plain = merged(plain, base, configurations[name]["source"])
        kept_configurations = {name: {"source": source}}
    table_changes = without(change, EXTENDS_FIELD, CONFIGURATION_FIELD, RECORD_FIELD)
    leg = table_changes.get("leg")
    single_leg_changes: dict[str, Any] = {}
    if isinstance(leg, dict):
        single_leg_changes = {
            key: value for key, value in leg.items() if re.fullmatch(LEG_NUMBER, key)
        }
        table_changes["leg"] = without(leg, *single_leg_changes)
    merged_content = merged(plain, table_changes, source)
    if single_leg_changes:
        merged_content["variant"] = _with_single_legs(
            merged_content.get("variant", []), single_leg_changes, source, file
        )
    return merged_content | {CONFIGURATION_FIELD: kept_configurations}


def _with_changes(base: dict[str, Any], change: Any, source: str) -> Any:
    """Return a base's configuration with the changes of a file; a value that is no table stays."""
    if not isinstance(change, dict):
        return change
    base_fields = without(base, "source")
    change_source = change.get("source", source)
    return merged(
        merged({}, base_fields, base.get("source", change_source)), change, change_source
    ) | {"source": change_source}


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
    remaining_variants = [dict(entry) for entry in variants]
    new_variants = []
    for key, change in single.items():
        if not isinstance(change, dict):
            problem = f"must be a table such as [leg.{key}.drive]"
            raise ParameterError(file, [(f"leg.{key}", problem)])
        number, leg_table = int(key), {}
        for entry in remaining_variants:
            if number in entry["legs"]:
                leg_table = {name: entry[name] for name in entry if name not in ("legs", "source")}
                entry["legs"] = [leg_number for leg_number in entry["legs"] if leg_number != number]
        new_variants.append(
            {**merged(leg_table, change, source), "legs": [number], "source": source}
        )
    return [*(entry for entry in remaining_variants if entry["legs"]), *new_variants]


Machines = dict[str | None, MachineParameters]
"""Parameters by configuration."""


def read_parameters(path: str | Path, configuration: str | None = None) -> MachineParameters:
    """Return the checked parameters of a platform.toml, with one of its configurations applied.

    The configuration "ideal" is the file without configuration; so is None.

    Raises:
        InputError: the file has no configuration of that name.
        ParameterError: unreadable, not UTF-8, not TOML, unknown or missing fields, or values that
            no machine can have; lists every problem with its field.
    """
    return _chosen(_machines_of(files_of(path)), configuration)


@lru_cache(maxsize=32)
def _machines_of(files: Files) -> Machines:
    """Return the machines of a file by configuration; equal texts give the same frozen objects."""
    *changes, (file_bytes, file) = files
    content = content_with_drawing(file_bytes, file)
    for change, path in reversed(changes):
        content = extended(content_with_drawing(change, path), *_parts(content, file), path)
        file = path
    return _machines(content, file)


def parameters_from(
    content: dict[str, Any], file: str | Path, configuration: str | None = None
) -> MachineParameters:
    """Return the checked parameters of the content of a platform.toml; `file` names it in errors.

    All configurations are checked, not only the one that is applied.

    Raises:
        InputError: there is no configuration of that name.
        ParameterError: unknown or missing fields, or values that no machine can have.
    """
    return _chosen(_machines(content, file), configuration)


def _machines(content: dict[str, Any], file: str | Path) -> Machines:
    """Return the checked parameters of every configuration; that of None is ideal."""
    base_content, configurations = _parts(content, file)
    machines: Machines = {}
    for name in (None, *configurations):
        machine_content = with_configuration(base_content, configurations, name)
        prefix = "" if name is None else f"configuration.{name}."
        machines[name] = _validated(machine_content, file, prefix)
    return machines


def _validated(content: dict[str, Any], file: str | Path, prefix: str = "") -> MachineParameters:
    """Return the parameters in a file's content; `prefix` goes before the fields of problems."""
    try:
        return MachineParameters.model_validate(content)
    except ValidationError as error:
        problems = [(prefix + field, message) for field, message in _problems(error)]
        raise ParameterError(file, problems) from None


def _parts(
    content: dict[str, Any], file: str | Path
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the content of a file without its configurations, and these.

    A file without the configuration `hardware` gets a generic one.
    """
    base_content, configurations, problems = split_configurations(content)
    if problems:
        raise ParameterError(file, problems)
    if HARDWARE_CONFIGURATION not in configurations:
        hardware = generic_hardware(_validated(base_content, file))
        configurations = configurations | {HARDWARE_CONFIGURATION: hardware}
    return base_content, configurations


def _chosen(machines: Machines, configuration: str | None) -> MachineParameters:
    """Return the machine of a configuration; raises InputError for an unknown one."""
    by_name = {name or IDEAL_CONFIGURATION: machine for name, machine in machines.items()}
    if configuration is None:
        return machines[None]
    return by_name[one_of(configuration, "configuration", by_name)]


def _problems(error: ValidationError) -> list[tuple[str, str]]:
    """Return field and message of every fault that pydantic has found."""
    problems: list[tuple[str, str]] = []
    for entry in error.errors(include_url=False):
        is_unknown_field = entry["type"] == "extra_forbidden"
        # The names of union members are between field names; a user's own field comes last.
        inner_keys, last_key = (
            (entry["loc"][:-1], entry["loc"][-1:]) if is_unknown_field else (entry["loc"], ())
        )
        names = [str(part) for part in inner_keys if "[" not in str(part)]
        path = [*(part for part in names if part not in UNION_TAGS), *map(str, last_key)]
        if path[:1] == ["variant"] and path[2:3] == ["leg"]:
            # In the file a variant's own entries are those of its leg.
            del path[2]
        if entry["type"] == "union_tag_invalid":
            path.append(_discriminator(entry))
        field = entry.get("ctx", {}).get("field") or ".".join(path) or "file"
        message = _message(entry, [part for part in names if not part.isdigit()])
        # What is wrong with [leg] is wrong with every variant of it, and a list whose entries are
        # wrong counts as empty.
        repeated = ("leg." + ".".join(path[2:]), message) in problems
        is_consequence = entry["type"] == "too_short" and entry["input"]
        if not repeated and not is_consequence:
            problems.append((field, message))
    return problems


def _message(entry: ErrorDetails, tables: list[str]) -> str:
    """Return what is wrong and what to do; `tables` is the way to the field through the models."""
    fault, context = entry["type"], entry.get("ctx", {})
    if fault == "extra_forbidden":
        close_names = get_close_matches(
            str(entry["loc"][-1]), field_names(MachineParameters, tables), 1
        )
        return "unknown field; " + (
            f"did you mean '{close_names[0]}'?" if close_names else SPELLING_ADVICE
        )
    if fault == "missing":
        in_list = isinstance(entry["loc"][-1], int)
        return "missing; " + ("the list is too short" if in_list else "add it")
    if fault == "too_short":
        return f"the list is too short; it needs {context['min_length']} or more entries"
    if fault in ("model_type", "model_attributes_type"):
        return "must be a table"
    if fault.startswith("union_tag"):
        known_tags = ", ".join(f"'{tag}'" for tag in tag_names(MachineParameters, tables))
        name = _discriminator(entry)
        if fault == "union_tag_invalid":
            return f"unknown {name} {brief(entry['input'][name])}; known: {known_tags}"
        return f"must be a table with a '{name}': {known_tags}"
    return entry["msg"].removeprefix("Value error, ").replace("Input should be", "must be")


def _discriminator(entry: ErrorDetails) -> str:
    """Return the name of the field that says which table of a union is meant."""
    return next(name for name in KIND_FIELDS if name in entry["ctx"]["discriminator"])


def parameters_hash(parameters: MachineParameters) -> str:
    """Return a hexadecimal digest of all parameter values, the same on every machine.

    A drawing is no parameter.
    """
    text = parameters.model_dump_json(exclude_none=True, exclude={"appearance"})
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Parameter(NamedTuple):
    """One field of a platform.toml."""

    table: str
    """dotted path of its table, empty at the top"""
    name: str
    value: Any
    """a number, a text, a list of either, or a list of lists"""
    unit: str
    """SI, empty for none"""
    description: str
    source: str
    """source of the numbers of its table"""


def describe(parameters: MachineParameters) -> list[Parameter]:
    """Return every field of a machine in the order of the models; fields left out are missing.

    Of a variant these are its legs and what differs from `[leg]`; of configurations their names and
    the one that is applied, whose values are in their own tables.
    """
    rows = list(_rows(parameters, ""))
    leg_values = {(row.table, row.name): row.value for row in _rows(parameters.leg, "leg")}
    for i, variant in enumerate(parameters.variant):
        path = f"variant.{i}"
        rows += [row for row in _rows(variant, path) if row.table == path]
        rows += [
            row._replace(table=path + row.table.removeprefix("leg"))
            for row in _rows(variant.leg, "leg")
            if leg_values.get((row.table, row.name)) != row.value
        ]
    return rows


def _rows(table: Table, path: str) -> Iterator[Parameter]:
    """Yield the fields of a table, then those of the tables inside it."""
    inner_tables = []
    for name, field in type(table).model_fields.items():
        value = getattr(table, name)
        if isinstance(value, Table):
            inner_tables.append((value, f"{path}.{name}".lstrip(".")))
        elif name not in ("source", "variant") and value not in (None, (), ""):
            unit = field_unit(field)
            text = field.description or ""
            yield Parameter(path, name, _plain(value), unit, text, table.source)
    for value, inner_path in inner_tables:
        yield from _rows(value, inner_path)


def _plain(value: Any) -> Any:
    return [_plain(entry) for entry in value] if isinstance(value, tuple) else value


def template(name: str, legs: str = "ups") -> str:
    """Return the text of a commented platform.toml that loads as it is.

    Args:
        name: name of the new machine.
        legs: kind of its legs.

    Raises:
        InputError: unknown kind of legs, or a name that is not plain.
    """
    one_of(legs, "legs", LEG_KINDS)
    check_name(name)
    text = (files("twin.machine.legs") / f"{legs}.toml").read_text(encoding="utf-8")
    name_line = f'name = "{name}"'
    return text.replace(
        'name = "NAME"'.ljust(COMMENT_COLUMN), name_line.ljust(COMMENT_COLUMN)
    ).replace("twin info FILE", f"twin info {name}.toml")


def write_template(path: str | Path, legs: str = "ups", *, replace: bool = False) -> Path:
    """Write a commented platform.toml named after its file; `replace` overwrites an old one.

    Raises:
        InputError: the file exists, its name is no plain machine name, or it cannot be written.
    """
    target = check_new(path, replace=replace)
    return write_text(target, template(target.stem, legs))


def check_new(path: str | Path, *, replace: bool = False) -> Path:
    """Return the path of a file to write; raises InputError if it is no machine's or exists."""
    target = as_path(path)
    check_name(target.stem)
    if target.exists() and not replace:
        raise InputError("path", f"{target} exists; choose another name or replace it")
    return target


def check_name(name: str) -> None:
    """Raise InputError unless a name is that of a machine."""
    if not isinstance(name, str) or not re.fullmatch(NAME_PATTERN, name):
        raise InputError(
            "name",
            f"{brief(name)} must be at most 64 lower-case letters, digits and underscores, a "
            "letter first",
        )
