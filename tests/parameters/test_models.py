"""The models as a whole: every number has a unit and says what it is, every table its source."""

from __future__ import annotations

import math
import typing
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

import twin
from twin.parameters import MachineParameters
from twin.parameters.quantity import UNITS, to_si
from twin.parameters.table import Table

PLAIN = {
    *("orientation", "first_axis", "axis", "zero"),
    *("shift", "mirrored", "legs", "fixed_foot"),
}
"""Numbers without a unit: a unit quaternion, directions, and counts."""


def tables(model: type[BaseModel]) -> set[type[BaseModel]]:
    """Return all models that a model is made of, itself included."""
    found = {model}
    for field in model.model_fields.values():
        for part in parts(field.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel):
                found |= tables(part)
    return found


def parts(annotation: Any) -> list[Any]:
    """Return an annotation and everything inside it."""
    return [annotation] + [part for inner in typing.get_args(annotation) for part in parts(inner)]


def has_numbers(field: FieldInfo) -> bool:
    return any(part in (int, float) for part in parts(field.annotation))


def units(field: FieldInfo) -> set[str]:
    """Return the units in the metadata of a field and of the entries of its tuples."""
    found = set()
    for entry in [field, *parts(field.annotation)]:
        for data in [entry, *getattr(entry, "metadata", []), *getattr(entry, "__metadata__", [])]:
            extra = getattr(data, "json_schema_extra", None)
            if isinstance(extra, dict) and "unit" in extra:
                found.add(extra["unit"])
    return found


MODELS = sorted(tables(MachineParameters), key=lambda model: model.__name__)
FIELDS = [(model, name) for model in MODELS for name in model.model_fields]
assert len(MODELS) >= 10
assert len(FIELDS) >= 30


@pytest.mark.parametrize("model", MODELS)
def test_tables_state_their_source(model: type[BaseModel]) -> None:
    assert issubclass(model, Table)
    assert model.model_fields["source"].is_required()


@pytest.mark.parametrize(("model", "name"), FIELDS)
def test_fields_say_what_they_are(model: type[BaseModel], name: str) -> None:
    field = model.model_fields[name]
    assert field.description
    assert len(field.description) >= len("Mass")
    if not has_numbers(field) or name in PLAIN:
        assert not units(field)
    else:
        assert len(units(field)) == 1, f"{model.__name__}.{name} has no unit"
        assert units(field) <= {si for si, _ in UNITS.values()}


def test_the_walk_above_sees_numbers() -> None:
    numbers = [name for model, name in FIELDS if has_numbers(model.model_fields[name])]
    assert set(numbers) >= {"mass", "inertia", "radius", "position", "gravity", "speed"} | PLAIN


@pytest.mark.parametrize("name", twin.machine_names())
def test_parameters_cannot_be_changed(name: str) -> None:
    parameters = twin.load(name).parameters
    with pytest.raises(ValueError, match="frozen"):
        parameters.gravity = 1.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="frozen"):
        parameters.platform.body.mass = 1.0  # type: ignore[misc]


@pytest.mark.parametrize("name", twin.machine_names())
def test_parameters_survive_json(name: str) -> None:
    """State dumps carry the parameters as JSON."""
    parameters = twin.load(name).parameters
    again = MachineParameters.model_validate_json(parameters.model_dump_json())
    assert again == parameters
    assert twin.Platform(again).hash == twin.load(name).hash


def test_machines_have_different_hashes() -> None:
    hashes = {twin.load(name).hash for name in twin.machine_names()}
    assert len(hashes) == len(twin.machine_names())


def test_any_change_of_a_number_changes_the_hash(stewart: Any) -> None:
    content = stewart.parameters.model_dump()
    content["platform"]["body"]["mass"] = math.nextafter(97.0, 98.0)
    changed = MachineParameters.model_validate(content)
    assert twin.Platform(changed).hash != stewart.hash


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (1, "m", 1.0),
        (0.25, "m", 0.25),
        ("5.275 deg", "rad", math.radians(5.275)),
        ("-20 deg", "rad", math.radians(-20.0)),
        ("0.5 rad", "rad", 0.5),
        ("630.4 mm", "m", 0.6304),
        ("63.04 cm", "m", 0.6304),
        ("10 in", "m", 0.254),
        ("1 lb", "kg", 0.45359237),
        ("1500 g", "kg", 1.5),
        ("3.073 kN", "N", 3073.0),
        ("254 mm/s", "m/s", 0.254),
        ("  9.81   m/s2 ", "m/s2", 9.81),
        ("1.05 kg  m2", "kg m2", 1.05),
        ("7858 kg/m3", "kg/m3", 7858.0),
        ("7.858 g/cm3", "kg/m3", 7858.0),
        ("400 kg mm2", "kg m2", 4e-4),
        ("400 kg*mm^2", "kg m2", 4e-4),
        ("400 kg·mm²", "kg m2", 4e-4),
        ("4000 g cm2", "kg m2", 4e-4),
        ("-45mm", "m", -0.045),
    ],
)
def test_numbers_with_units(value: Any, unit: str, expected: float) -> None:
    assert to_si(value, unit) == pytest.approx(expected, rel=1e-15)  # one rounding


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        ("5", "m"),
        ("5 kg", "m"),
        ("five m", "m"),
        ("150,5 mm", "m"),
        ("5e m", "m"),
        ("", "m"),
        (" ", "m"),
        ("nan m", "m"),
        ("inf m", "m"),
        ("1e400 m", "m"),
        ("1e10 m", "m"),
        ("5 5 m", "m"),
        (None, "m"),
        (True, "m"),
        ([1.0], "m"),
        (1j, "m"),
        (10**400, "m"),
    ],
)
def test_other_values_are_refused(value: Any, unit: str) -> None:
    with pytest.raises(ValueError, match=r"\S{3}"):
        to_si(value, unit)
