"""The object a user holds: what it says of itself, and that it travels between processes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import twin
from twin.errors import InputError
from twin.platform import Platform

pytestmark = pytest.mark.quick

KINDS = {
    "driving_simulator": ("pillar", 4, 3, 0, "m"),
    "stewart": ("ups", 6, 6, 0, "m"),
    "compliant_stewart": ("viscoelastic", 6, 6, 6, "m"),
    "srspm": ("ups", 6, 6, 0, "m"),
    "rss": ("rss", 6, 6, 0, "rad"),
    "micro_hexapod": ("strut", 6, 6, 0, "m"),
}
"""Kind of leg, actuators, dof, coordinates inside the legs, unit of the actuators."""


def test_tells_what_it_is(platform: Platform) -> None:
    assert platform.name in repr(platform)
    n = platform.n_actuators
    expected = KINDS.get(platform.name, KINDS["stewart"])
    assert (platform.kind, n, platform.dof, platform.n_deflections) == expected[:4]
    assert platform.coordinate_unit == expected[4]
    assert platform.force_unit == {"m": "N", "rad": "N m"}[expected[4]]
    assert platform.home.shape == (7,)
    for numbers in (
        platform.home_coordinates,
        platform.minimum_coordinates,
        platform.maximum_coordinates,
        platform.home_reaches,
    ):
        assert numbers.shape == (n,)
        assert not numbers.flags.writeable
    assert (platform.minimum_coordinates < platform.home_coordinates).all()
    assert (platform.home_coordinates < platform.maximum_coordinates).all()
    assert platform.within_limits(platform.home)
    assert np.linalg.norm(platform.home[3:]) == pytest.approx(1.0, abs=1e-15)  # rounding


def test_all_machines_are_here() -> None:
    assert set(twin.machine_names()) == set(KINDS)
    assert {kind for kind, *_ in KINDS.values()} == {
        "ups",
        "strut",
        "rss",
        "viscoelastic",
        "pillar",
    }


def test_pickles(platform: Platform, states: Any) -> None:
    again = pickle.loads(pickle.dumps(platform))
    assert again.hash == platform.hash
    arguments = (states.pose, states.twist, states.forces)
    np.testing.assert_array_equal(
        again.forward_dynamics(*arguments), platform.forward_dynamics(*arguments)
    )


def test_springs_are_relaxed_and_at_rest_unless_told(platform: Platform, states: Any) -> None:
    k = platform.n_deflections
    inside = platform.as_deflection(None)
    np.testing.assert_array_equal(inside, np.zeros(2 * k))
    arguments = (states.pose, states.twist, states.forces)
    np.testing.assert_array_equal(
        platform.forward_dynamics(*arguments),
        platform.forward_dynamics(*arguments, deflection=inside),
    )
    for wrong in (np.zeros(2 * k + 1), np.full(2 * k + 2, np.nan), "relaxed"):
        with pytest.raises(InputError, match="deflection"):
            platform.forward_dynamics(*arguments, deflection=wrong)


def test_loads_by_name_and_by_path(tmp_path: Any) -> None:
    from twin.machine.catalogue import parameters_path

    for name in twin.machine_names():
        file = tmp_path / f"{name}.toml"
        file.write_bytes(parameters_path(name).read_bytes())
        assert twin.load(file).hash == twin.load(str(file)).hash == twin.load(name).hash
        assert twin.load(name).name == name


def test_needs_checked_parameters(stewart: Platform) -> None:
    for thing in (None, "stewart", stewart.parameters.model_dump()):
        with pytest.raises(InputError, match="parameters"):
            Platform(thing)  # type: ignore[arg-type]


def test_limits_are_those_of_the_design(stewart: Platform) -> None:
    """Retracted at 0.740 m, stroke 0.230 m, home at mid-stroke (0.8716 m)."""
    stroke = stewart.maximum_coordinates - stewart.minimum_coordinates
    np.testing.assert_allclose(stroke, 0.230, rtol=0, atol=1e-15)
    middle = (stewart.maximum_coordinates + stewart.minimum_coordinates) / 2
    # The height is given with four decimals.
    np.testing.assert_allclose(stewart.home_coordinates, middle, rtol=0, atol=5e-5)


def test_motion_range_of_the_driving_simulator() -> None:
    """Paper: +-50 mm; the small angles it gives are 50 mm over half of length and width."""
    platform = twin.load("driving_simulator")
    span = np.array([0.05, np.radians(3.581), np.radians(6.987)])
    np.testing.assert_allclose(
        platform.maximum_coordinates - platform.home_coordinates, span[0], rtol=0, atol=1e-15
    )
    np.testing.assert_allclose(
        platform.home_coordinates - platform.minimum_coordinates, span[0], rtol=0, atol=1e-15
    )
    arms = np.abs(platform.platform_joints).max(axis=0)
    # Printed with four digits, of the angle 0.05 / arm.
    np.testing.assert_allclose(span[1:], 0.05 / arms[:2], rtol=2e-4)
