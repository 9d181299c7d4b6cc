"""Dexterity, distance to singular poses and stiffness against differences and closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from tolerance import assert_within

import twin
from twin.analysis.workspace import analysis
from twin.analysis.workspace.analysis import closest_singular
from twin.analysis.workspace.dexterity import (
    dexterity,
    leg_stiffness,
    plane_map,
    stiffness_range,
)
from twin.analysis.workspace.search import (
    Chart,
    determinants,
    dof_axes,
    singular_distance,
    sphere,
    square,
)


@pytest.mark.every_kind
def test_conditioning_is_the_platforms(platform, states):
    poses = states.pose[:40]
    found = dexterity(platform, poses)
    expected = 1.0 / platform.condition_number(poses)
    assert_allclose(found.conditioning, expected, rtol=1e-12)
    assert dexterity(platform, platform.home).manipulability == pytest.approx(1.0, rel=1e-13)
    assert (found.smallest > 0.0).all()
    assert dexterity(platform, poses.reshape(4, 10, 7)).smallest.shape == (4, 10)


def test_manipulability_is_the_determinant(platform, states):
    if not square(platform):
        return
    poses = states.pose[:40]
    home = determinants(platform, platform.home[None])[0]
    expected = np.abs(np.linalg.det(platform.jacobian(poses)) / home)
    found = dexterity(platform, poses).manipulability
    assert_allclose(found, expected, rtol=1e-11)


def test_yaw_of_a_quarter_turn_is_singular(srspm):
    """A semi-regular platform is singular at a yaw of 90 degrees (Fichter, 1986)."""
    chart = Chart.about(srspm, ("angle_z",), convention="rotation_vector")
    radii = singular_distance(chart, np.array([[1.0], [-1.0]]), 3.0)
    assert_within(radii, 0.5 * np.pi, 1e-9)


@pytest.mark.every_kind
def test_determinant_changes_sign_at_the_distance(platform, constants):
    constants(analysis, SINGULAR_LEVEL=8)
    if not square(platform):
        with refused("no square Jacobian"):
            singular_distance(Chart.about(platform, ("z",)), np.array([[1.0]]))
        assert closest_singular(platform) == (None, None, None, None)
        return
    chart = Chart.about(platform, ("x", "y", "z"))
    directions, _ = sphere(6)
    radii = singular_distance(chart, directions)
    known = np.isfinite(radii)
    assert known.any()
    side = determinants(platform, platform.home[None])[0]
    for factor, sign in ((1.0 - 1e-7, 1.0), (1.0 + 1e-7, -1.0)):
        values = determinants(platform, chart.along(directions[known], factor * radii[known]))
        assert (sign * side * values > 0.0).all()
    assert closest_singular(platform).translation <= radii.min() * chart.scale[0] * 1.05


def test_level_plate_on_pillars():
    """Four legs of stiffness one: heave 4, roll 4 half_width^2, pitch 4 half_length^2."""
    simulator = twin.load("driving_simulator")
    found = stiffness_range(simulator, simulator.home)
    assert found.softest_translation == pytest.approx(4.0, rel=1e-12)
    assert found.softest_rotation == pytest.approx(4.0 * 0.41**2, rel=1e-12)
    assert found.stiffest_rotation == pytest.approx(4.0 * 0.8**2, rel=1e-12)


def test_where_stiffness_is_from():
    words = {"micro_hexapod": "struts", "compliant_stewart": "springs in the legs"}
    for name in twin.machine_names():
        machine = twin.load(name)
        assert leg_stiffness(machine).source == words.get(name, "relative")
        if name in words:
            with refused("has its own springs"):
                leg_stiffness(machine, 1e6)
        else:
            assert leg_stiffness(machine, 1e6).source == "given"
            for wrong in (0.0, -1.0, [1.0, 2.0], np.inf):
                with refused("stiffness"):
                    leg_stiffness(machine, wrong)


@pytest.mark.slow
def test_maps_hold_what_is_inside(platform):
    axes = dof_axes(platform)
    for pair in (axes[:2], axes[-2:]):
        found = plane_map(platform, pair, points=15)
        fields = [*found.dexterity, *found.stiffness]
        known = np.isfinite(fields[0])
        assert known.any() and not known.all()
        assert all((np.isfinite(field) == known).all() for field in fields)
        low, high = found.boundary.min(axis=0), found.boundary.max(axis=0)
        assert (low < 0.0).all() and (high > 0.0).all()
        assert found.x[0] <= low[0] and found.y[-1] >= high[1]
    with refused("must be two"):
        plane_map(platform, axes[:1])
