"""Figures derived from a machine's numbers, and the flat list of its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from twin.facts import LARGEST_ANGLE, SAMPLES, axis_ranges, closest_legs, machine_facts
from twin.parameters.describe import describe
from twin.parameters.quantity import UNITS
from twin.platform import Platform
from twin.rotations import angles_from_quaternion, quaternion_from_angles

AXES = ("x", "y", "z", "yaw", "pitch", "roll")


def moved(platform: Platform, axis: int, shift: float) -> Any:
    """Return the home pose moved along one axis, angles in degrees."""
    pose = platform.home.copy()
    if axis < 3:
        pose[axis] += shift
        return pose
    angles = angles_from_quaternion(pose[3:])
    angles[axis - 3] += np.radians(shift)
    pose[3:] = quaternion_from_angles(angles)
    return pose


def test_ranges_end_at_the_leg_limits(platform: Platform) -> None:
    span = 2.0 * float(platform.maximum_lengths.max())
    resolution = {"m": 2 * span / SAMPLES, "deg": np.degrees(2 * LARGEST_ANGLE) / SAMPLES}
    ranges = axis_ranges(platform)
    assert tuple(name for name, _, _ in ranges) == AXES
    for axis, (name, unit, (low, high)) in enumerate(ranges):
        assert low < 0.0 < high, name
        for shift in np.linspace(low, high, 101):
            # Rounding of degrees must not decide at the very end.
            assert platform.within_limits(moved(platform, axis, shift * (1.0 - 1e-9)))
        for end in (low, high):
            outside = end + 1.5 * np.sign(end) * resolution[unit]
            assert not platform.within_limits(moved(platform, axis, outside)), name


def test_closest_legs_against_minimised_distance(platform: Platform) -> None:
    base, vectors = platform.base_joints, platform.parameters.home_leg_vectors
    found, first, second = closest_legs(platform)
    assert 1 <= first < second <= platform.n_actuators
    wanted = min(
        minimize(
            lambda s, i=i, j=j: np.linalg.norm(
                base[i] + s[0] * vectors[i] - base[j] - s[1] * vectors[j]
            ),
            [0.5, 0.5],
            bounds=[(0.0, 1.0), (0.0, 1.0)],
        ).fun
        for j in range(len(base))
        for i in range(j)
    )
    # Sampled at thousandths of one leg; at a minimum the distance depends on their squares.
    assert found == pytest.approx(wanted, abs=1e-5)


def test_facts_agree_with_the_platform(platform: Platform) -> None:
    facts = {fact.name: fact for fact in machine_facts(platform)}
    lengths = platform.inverse_kinematics(platform.home)
    # The same lengths by another formula: rounding only.
    assert facts["legs at home"].value == pytest.approx(lengths, rel=1e-14)
    forces = np.array(facts["leg forces at rest"].value)
    still = platform.forward_dynamics(platform.home, np.zeros(6), forces)
    assert np.abs(still).max() < 1e-10 * platform.parameters.gravity
    assert facts["condition number at home"].value >= 1.0
    # Turned into vertical force, what the legs carry is less than all there is.
    carried = platform.jacobian(platform.home)[:, 2] @ forces / platform.parameters.gravity
    all_mass = facts["mass above the actuators"].value + facts["mass of the housings"].value
    assert facts["mass above the actuators"].value * 0.5 < carried < all_mass


def numbers_of(content: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and value of every field of a description."""
    for name, value in content.items():
        inner = f"{path}.{name}".lstrip(".")
        if isinstance(value, dict):
            yield from numbers_of(value, inner)
        else:
            yield inner, value


def test_every_field_of_the_file_is_described(
    platform: Platform, description: dict[str, Any]
) -> None:
    rows = {f"{row.table}.{row.name}".lstrip("."): row for row in describe(platform.parameters)}
    written = dict(numbers_of(description))
    fields = {name for name in written if not name.endswith("source")}
    assert len(fields) > 20
    assert fields <= set(rows)
    si_units = {unit for unit, _ in UNITS.values()} | {""}
    for name, row in rows.items():
        assert row.description, name
        assert row.unit in si_units
        assert row.source == written[f"{row.table}.source".lstrip(".")], name
    given = [name for name in fields if isinstance(written[name], (int, float))]
    for name in given:
        assert rows[name].value == written[name]


def test_dimensions_carry_their_units(platform: Platform) -> None:
    rows = {
        f"{row.table}.{row.name}".lstrip("."): row.unit for row in describe(platform.parameters)
    }
    expected = {
        "gravity": "m/s2",
        "home.position": "m",
        "platform.body.mass": "kg",
        "platform.body.inertia": "kg m2",
        "leg.frame_angle": "rad",
        "leg.actuator.minimum": "m",
        "home.orientation": "",
    }
    assert {name: rows[name] for name in expected} == expected
    optional = {"leg.actuator.speed": "m/s", "leg.actuator.force": "N"}
    for name, unit in optional.items():
        assert rows.get(name, unit) == unit
