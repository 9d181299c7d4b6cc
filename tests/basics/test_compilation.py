"""Compiler options of numba are compared as numba compares them."""

from __future__ import annotations

import pytest
from numba.core.compiler import Flags

from twin.basics.compilation import watch_compilation

pytestmark = pytest.mark.quick

assert watch_compilation  # importing any kernel calls it


def flags(**values: object) -> Flags:
    found = Flags()
    for name, value in values.items():
        setattr(found, name, value)
    return found


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({}, {}, True),
        ({"nrt": True}, {"nrt": True}, True),
        ({"nrt": True}, {}, False),
        ({"nrt": False}, {}, True),  # the default, set
        ({"fastmath": {"contract"}}, {"fastmath": True}, False),
        ({"nrt": True, "release_gil": True}, {"release_gil": True, "nrt": True}, True),
    ],
)
def test_options_are_equal_where_all_values_are(
    first: dict[str, object], second: dict[str, object], same: bool
) -> None:
    import twin.kernels  # noqa: F401

    assert Flags.__eq__.__module__ == "twin.basics.compilation"
    one, other = flags(**first), flags(**second)
    assert (one == other) is same
    assert one.values() == other.values() or not same
    assert not same or hash(one) == hash(other)
    assert one != "options"
