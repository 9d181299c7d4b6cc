"""Rays, volumes and what ends them, against shells, pillars, symmetry and random points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import assert_all_refused, refused
from tolerance import assert_within

import twin
from twin.analysis.workspace.region import region
from twin.analysis.workspace.search import (
    Admissible,
    Cause,
    Chart,
    bounding_box,
    circle,
    dof_axes,
    extent,
    search,
    shell_centers,
    shell_exits,
    sphere,
    third_turn,
    within_shells,
)


def own_chart(platform):
    """Return the chart of a machine's first three degrees of freedom."""
    return Chart.about(platform, dof_axes(platform)[:3])


def test_directions_integrate_polynomials(subtests):
    for count in [2, 5, 16]:
        with subtests.test(f"{count}"):
            vectors, weights = sphere(count)
            assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-14)
            assert weights.sum() == pytest.approx(4.0 * np.pi, rel=1e-13)
            moment = np.einsum("k,ki,kj->ij", weights, vectors, vectors)
            assert_within(moment, np.eye(3) * 4.0 * np.pi / 3.0, 1e-12)
            assert_allclose(np.linalg.norm(circle(7), axis=1), 1.0, rtol=1e-14)


@pytest.mark.every_kind
def test_exits_are_the_edge(platform):
    chart = own_chart(platform)
    rays = search(chart, sphere(5)[0])
    admissible = Admissible(platform, chart.center)
    assert (rays.exits > 0.0).all()
    assert set(rays.causes) <= {Cause.MINIMUM, Cause.MAXIMUM}
    # Just inside, up to the edge; just outside, beyond the slack of the limits.
    assert admissible.inside(chart.along(rays.directions, rays.exits)).all()
    outside = chart.along(rays.directions, rays.exits * (1.0 + 1e-8))
    assert not admissible.inside(outside).any()
    coordinates = platform.inverse_kinematics(chart.along(rays.directions, rays.exits))
    ends = coordinates[np.arange(len(coordinates)), rays.legs - 1]
    limits = np.where(
        rays.causes == Cause.MAXIMUM,
        platform.maximum_coordinates[rays.legs - 1],
        platform.minimum_coordinates[rays.legs - 1],
    )
    assert_within(ends, limits, 1e-10)


def test_segments_are_ordered_and_inside(platform):
    chart = own_chart(platform)
    rays = search(chart, sphere(6)[0])
    assert (rays.start < rays.stop).all()
    admissible = Admissible(platform, chart.center)
    for share in (0.01, 0.5, 0.99):
        radii = rays.start + share * (rays.stop - rays.start)
        assert admissible.inside(chart.along(rays.directions[rays.ray], radii)).all()
    assert extent(chart, sphere(6)[0]) > rays.stop.max() * 0.8
    assert rays.stop.max() < chart.bound


def test_rays_meet_shells(platform):
    if not platform.leg.is_straight or platform.dof < 6:
        with refused("straight legs"):
            shell_exits(platform, platform.home, np.eye(3))
        return
    chart = own_chart(platform)
    directions, _ = sphere(8)
    exits = search(chart, directions).exits * chart.scale[0]
    expected = shell_exits(platform, platform.home, directions)
    assert_within(exits, expected, 1e-9)
    assert shell_centers(platform, platform.home).shape == (6, 3)


def test_volume_is_that_of_the_shells(platform):
    if not platform.leg.is_straight or platform.dof < 6:
        return
    found = region(own_chart(platform), (8, 16))
    low, high = bounding_box(platform, platform.home)
    places = np.random.default_rng(4).uniform(low, high, (60000, 3))
    inside = within_shells(platform, platform.home, places)
    poses = np.tile(platform.home, (len(places), 1))
    poses[:, :3] = places
    inside[inside] = Admissible(platform, platform.home).inside(poses[inside])
    share, box = inside.mean(), float(np.prod(high - low))
    spread = box * np.sqrt(share * (1.0 - share) / len(places))
    assert abs(found.volume - share * box) < 4.0 * spread + found.uncertainty * found.volume
    assert found.visible <= found.volume * (1.0 + 1e-12)
    assert sum(found.shares.values()) == pytest.approx(1.0, rel=1e-12)


def test_third_turn(platform):
    symmetric = third_turn(platform)
    assert symmetric == (
        platform.name not in ("general", "upu_without_symmetry", "driving_simulator")
    )
    if symmetric and platform.dof == 6:
        radii = search(Chart.about(platform, ("x", "y", "z")), sphere(6)[0]).exits.reshape(6, 12)
        assert_within(radii, np.roll(radii, 4, axis=1), 1e-10)


def test_a_ball_of_two_spheres_by_hand():
    """Straight up and down from a level home all legs of a symmetric machine are alike."""
    machine = twin.load("srspm")
    aside = np.linalg.norm(machine.base_joints[:, :2] - machine.platform_joints[:, :2], axis=1)
    chart = Chart.about(machine, ("z",))
    down, up = search(chart, np.array([[-1.0], [1.0]])).exits * chart.scale[0]
    assert machine.home[2] + up == pytest.approx(np.sqrt(1.30**2 - aside[0] ** 2), rel=1e-11)
    assert machine.home[2] - down == pytest.approx(np.sqrt(1.12**2 - aside[0] ** 2), rel=1e-11)


def test_bad_arguments(stewart):
    chart = Chart.about(stewart, ("x", "y", "z"))
    high = np.add(stewart.home, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    assert_all_refused(
        region,
        [
            (chart, (4,), "levels"),
            (chart, (8, 4), "levels"),
            (Chart.about(stewart, ("x", "y")), (4, 8), "three axes"),
            (Chart.about(stewart, ("x", "y", "z"), high), (4, 8), "outside the actuators' limits"),
        ],
    )
    simulator = twin.load("driving_simulator")
    assert_all_refused(
        lambda machine, axes, options: Chart.about(machine, axes, **options),
        [
            (stewart, ("x", "x"), {}, "twice"),
            (stewart, (), {}, "one axis"),
            (stewart, ("w",), {}, "no axis 'w'"),
            (simulator, ("x",), {}, "moves along z only"),
            (simulator, ("yaw",), {"convention": "yaw_pitch_roll"}, "roll_pitch"),
            (stewart, ("beta",), {"convention": "ZYZ"}, "ZYZ is singular at the centre"),
        ],
    )
