"""The models as a whole: every number has a unit and says what it is, every table its source."""

import math
import typing

import pytest
from pydantic import BaseModel
from shipped import SHIPPED, shipped_content

import twin
from twin.machine import MachineParameters, read_parameters
from twin.machine.file.read import parameters_from, parameters_hash
from twin.machine.hardware.drive import LinearActuator, RotaryActuator
from twin.machine.quantity import UNITS, Table, to_si

pytestmark = pytest.mark.quick

PLAIN = {
    *("orientation", "first_axis", "platform_axis", "axis", "zero", "neutral"),
    *("shift", "order", "mirrored", "legs", "fixed_foot"),
    *(
        "gear",
        "microsteps",
        "analogue_bits",
        "counts",
        "breakaway",
        "ratio",
        "scale_factor",
        "damping_ratio",
    ),
}
"""Numbers without a unit: a unit quaternion, directions, counts and ratios."""


def tables(model):
    """Return all models that a model is made of, itself included."""
    found = {model}
    for field in model.model_fields.values():
        for part in parts(field.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel):
                found |= tables(part)
    return found


def parts(annotation):
    """Return an annotation and everything inside it."""
    return [annotation] + [part for inner in typing.get_args(annotation) for part in parts(inner)]


def has_numbers(field):
    return any(part in (int, float) for part in parts(field.annotation))


PLAIN_FIELDS = {"Encoder.noise"}
"""Fields in counts, whose names have units elsewhere."""


def units(field):
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


def test_tables_state_their_source(subtests):
    for model in MODELS:
        with subtests.test(f"{model}"):
            assert issubclass(model, Table)
            assert model.model_fields["source"].is_required()


def test_fields_say_what_they_are(subtests):
    for model, name in FIELDS:
        with subtests.test(f"{model}"):
            field = model.model_fields[name]
            assert field.description
            assert len(field.description) >= len("Mass")
            plain = name in PLAIN or f"{model.__name__}.{name}" in PLAIN_FIELDS
            if not has_numbers(field) or plain:
                assert not units(field)
            else:
                assert len(units(field)) == 1, f"{model.__name__}.{name} has no unit"
                assert units(field) <= UNITS.keys()


def test_the_walk_above_sees_numbers():
    numbers = [name for model, name in FIELDS if has_numbers(model.model_fields[name])]
    assert set(numbers) >= {"mass", "inertia", "radius", "position", "gravity", "speed"} | PLAIN


def test_parameters_cannot_be_changed(subtests):
    for name in twin.machine_names():
        with subtests.test(f"{name}"):
            parameters = twin.load(name).parameters
            with pytest.raises(ValueError, match="frozen"):
                parameters.gravity = 1.0
            with pytest.raises(ValueError, match="frozen"):
                parameters.platform.body.mass = 1.0


def test_efforts_are_forces_or_torques():
    linear = LinearActuator(source="Test", minimum=1.0, maximum=2.0, force="3 kN")
    rotary = RotaryActuator(
        source="Test", minimum=-1.0, maximum=1.0, torque="5 N m", speed="60 rpm"
    )
    assert (linear.effort, rotary.effort) == (3000.0, 5.0)
    assert rotary.speed == pytest.approx(2 * math.pi)


def test_numbers_with_units(subtests):
    for value, unit, expected in [
        (1, "m", 1.0),
        ("5.275 deg", "rad", math.radians(5.275)),
        ("  9.81   m/s2 ", "m/s2", 9.81),
        ("1.05 kg  m2", "kg m2", 1.05),
        ("400 kg mm2", "kg m2", 4e-4),
        ("400 kg·mm²", "kg m2", 4e-4),
        ("-45mm", "m", -0.045),
        ("500 N*s/m", "N s/m", 500.0),
        ("8 N m", "N m", 8.0),
        ("8 Nm", "N m", 8.0),
        ("180 deg/s", "rad/s", math.pi),
    ]:
        with subtests.test(f"{value}"):
            assert to_si(value, unit) == pytest.approx(expected, rel=1e-15)  # one rounding


def test_other_values_are_refused(subtests):
    for value, unit in [
        ("5 kg", "m"),
        ("nan m", "m"),
        ("1e10 m", "m"),
        ("5 5 m", "m"),
        (True, "m"),
        (10**400, "m"),
    ]:
        with subtests.test(f"{value}"), pytest.raises(ValueError, match=r"\S{3}"):
            to_si(value, unit)


def leaves(table):
    """Return where the decimal numbers inside a table are: pairs of their owner and key."""
    pairs = table.items() if isinstance(table, dict) else enumerate(table)
    found = []
    for key, value in pairs:
        if isinstance(value, (dict, list)):
            found += leaves(value)
        elif isinstance(value, float):
            found.append((table, key))
    return found


@pytest.mark.parametrize("name", SHIPPED)
def test_every_number_of_a_leg_counts_in_the_hash(name):
    content = shipped_content(name)
    usual = parameters_hash(read_parameters(SHIPPED[name]))
    numbers = leaves(content["leg"])
    assert len(numbers) >= 4
    for owner, key in numbers:
        value = owner[key]
        # A first axis of full length stays one; the tensors stay symmetric to rounding.
        owner[key] = math.nextafter(value, math.inf)
        assert parameters_hash(parameters_from(content, name)) != usual, key
        owner[key] = value
    assert parameters_hash(parameters_from(content, name)) == usual
