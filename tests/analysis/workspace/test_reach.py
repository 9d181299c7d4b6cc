"""Motion ranges and the reachable set: closed forms, limits kept, a random walk kept inside."""

from __future__ import annotations

import numpy as np
import pytest

import twin
from twin.analysis.machine_summary import axis_ranges
from twin.analysis.platform import Platform
from twin.analysis.workspace import region as ranges
from twin.analysis.workspace import search as free_rays
from twin.analysis.workspace.admissible import Admissible
from twin.analysis.workspace.chart import Chart, dof_axes
from twin.analysis.workspace.region import AXES, motion_ranges, reachable_set, segments_along
from twin.analysis.workspace.search import farthest, search, sphere, wander
from twin.errors import InputError
from twin.papers.driving_simulator.kinematics import PlateModel
from twin.papers.driving_simulator.studies import (
    exact_ranges,
    exact_ranges_at_best_heave,
)


@pytest.fixture
def short_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what does not depend on how long the walk is fast."""
    for name, value in (("CHAIN_COUNT", 64), ("CHAIN_STEPS", 50), ("KEPT_STEPS", 20)):
        monkeypatch.setattr(free_rays, name, value)
    monkeypatch.setattr(ranges, "RANDOM_STARTS", 1)


@pytest.mark.usefixtures("short_walk")
def test_ranges_alone_are_the_known_ones(platform: Platform) -> None:
    found = motion_ranges(platform)
    known = {one.axis: one.span for one in axis_ranges(platform)}
    assert {one.axis for one in found} == set(known)
    for one in found:
        scale = 1.0 if one.unit == "m" else 180.0 / np.pi
        # The known ones add to the angles of home; these turn on top of it.
        if one.unit == "m" or np.abs(platform.home[4:]).max() == 0.0:
            ends = scale * np.array(one.alone)
            np.testing.assert_allclose(ends, known[one.axis], rtol=0, atol=1e-6 * scale)
        assert one.free[0] <= one.alone[0] < 0.0 < one.alone[1] <= one.free[1]
        assert all(text.startswith("leg ") for text in one.ends)


def test_pillars_have_closed_forms() -> None:
    simulator = twin.load("driving_simulator")
    plate = PlateModel.from_parameters(simulator.parameters)
    alone, free = exact_ranges(plate), exact_ranges_at_best_heave(plate)
    for one in motion_ranges(simulator):
        name = "heave" if one.axis == "z" else one.axis
        for ends, expected in ((one.alone, alone), (one.free, free)):
            value = getattr(expected, name)
            np.testing.assert_allclose(ends, [-value, value], rtol=0, atol=1e-8)
    # Printed: 50 mm, 6.987 and 3.581 degrees, of small angles.
    degrees = np.degrees(free[1:])
    np.testing.assert_allclose(degrees, [6.953, 3.576], rtol=0, atol=5e-4)


@pytest.mark.usefixtures("short_walk")
def test_the_walk_stays_inside(platform: Platform) -> None:
    chart = Chart.about(platform, dof_axes(platform))
    places = wander(chart)
    assert Admissible(platform, chart.center).inside(chart.poses(places * chart.scale)).all()
    assert np.abs(places.std(axis=0)).min() > 1e-3
    np.testing.assert_array_equal(places, wander(chart))


def test_free_search_with_nothing_free_is_the_ray(platform: Platform) -> None:
    chart = Chart.about(platform, dof_axes(platform)[:3])
    directions, _ = sphere(3)
    found = farthest(chart, directions[:, :, None])
    expected = search(chart, directions).exits
    np.testing.assert_allclose(found.radii, expected, rtol=0, atol=1e-6)
    assert platform.within_limits(found.poses).all()


@pytest.mark.parametrize("name", ["srspm", "rss"])
def test_reachable_set_contains_what_is_reached(name: str) -> None:
    machine = twin.load(name)
    chart = Chart.about(machine, AXES, convention="rotation_vector")
    places = wander(chart, 11)[:, :3] * chart.scale[0]
    radii = np.linalg.norm(places, axis=1)
    far = np.argsort(-radii)[:30]
    directions = places[far] / radii[far, None]
    found = segments_along(machine, directions)
    assert (found.far > radii[far]).all()
    assert (found.near <= found.behind).all() and (found.behind <= found.far).all()
    assert machine.within_limits(found.poses).all()
    np.testing.assert_allclose(
        found.poses[:, :3], machine.home[:3] + directions * found.far[:, None], rtol=0, atol=1e-9
    )
    held = search(Chart.about(machine, ("x", "y", "z")), directions).exits * chart.scale[0]
    assert (found.far >= held * (1.0 - 1e-6)).all()


@pytest.mark.usefixtures("short_walk")
def test_reachable_set_and_its_volume(srspm: Platform) -> None:
    found = reachable_set(srspm, levels=(3, 4))
    assert found.counts == (18, 32) and len(found.directions) == 32
    assert found.volume > 0.0 and 0.0 <= found.hidden < found.volume
    assert (found.turns >= 0.0).all()


@pytest.mark.usefixtures("short_walk")
def test_bad_arguments(srspm: Platform) -> None:
    with pytest.raises(InputError, match="levels"):
        reachable_set(srspm, levels=(8,))
    with pytest.raises(InputError, match="independently"):
        reachable_set(twin.load("driving_simulator"))
    chart = Chart.about(srspm, ("z",))
    up = float(search(chart, np.array([[1.0]])).exits[0] * chart.scale[0])
    top = np.add(srspm.home, [0.0, 0.0, up, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(InputError, match="strictly inside"):
        reachable_set(srspm, top, levels=(2, 3))
