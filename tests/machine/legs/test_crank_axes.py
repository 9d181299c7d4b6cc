"""Axes of cranks: radial, by angle or by direction for each leg, and mirrored pairs."""

import math

import numpy as np
import pytest
from laid_out import CRANK, SERVO_BASE, SERVO_TOP, SERVOS, laid_out, servos
from tolerance import assert_within

from twin.errors import ParameterError
from twin.machine.legs.rss import RssLeg

pytestmark = pytest.mark.quick


def placed(machine):
    """Return every leg with its place at home."""
    pairs = zip(machine.legs, machine.home_leg_geometry, strict=True)
    return [(leg, place) for leg, place in pairs if isinstance(leg, RssLeg)]


def test_mirrored_pairs_have_equal_angles_and_horns_apart():
    machine = servos()
    assert_within(machine.home_coordinates, 0.0, 1e-9)
    cranks = np.array([leg.home_crank(place) for leg, place in placed(machine)])
    assert_within(cranks[:, 2], 0.0, 1e-12)
    feet = machine.base.joints.points
    gaps = np.linalg.norm(feet[::2] - feet[1::2], axis=1)
    ends = feet + cranks
    assert (np.linalg.norm(ends[::2] - ends[1::2], axis=1) > gaps).all()


def test_a_growing_angle_lifts_the_platform():
    """All six equal rates are a motion along z alone."""
    machine = servos()
    rates = np.linalg.solve(machine.home_jacobian, np.ones(6))
    assert rates[2] > 0.0
    assert_within(np.delete(rates, 2), 0.0, 1e-9)


def test_without_mirrors_equal_rates_turn_it():
    home = {"source": "Test", "position": [0.0, 0.0, "137 mm"]}
    leg = SERVOS | {"mirrored": [], "actuator": {"source": "Test", "minimum": -3.2, "maximum": 3.2}}
    machine = laid_out(SERVO_BASE, SERVO_TOP, "rss", home=home, leg=leg)
    rates = np.linalg.solve(machine.home_jacobian, np.ones(6))
    assert abs(rates[5]) > 1e-3


def test_axes_by_angle_and_by_direction_are_the_radial_ones():
    radial = servos(crank=CRANK)
    points = radial.base.joints.points
    angles = np.arctan2(points[:, 1], points[:, 0]).tolist()
    directions = [[math.cos(a), math.sin(a), 0.0] for a in angles]
    zeros = [leg.home_zero(place).tolist() for leg, place in placed(radial)]
    for changes in (
        {"axis": directions},
        {"axis": None, "axis_angles": angles},
        {"axis": directions, "zero": zeros},
    ):
        other = servos(crank=CRANK, **changes)
        assert_within(other.first_axes, radial.first_axes, 1e-15)
        assert_within(other.home_jacobian, radial.home_jacobian, 1e-9)


def test_vertical_axes_with_cranks_outward():
    leg = SERVOS | {"axis": [0.0, 0.0, 1.0], "zero": "outward", "branch": "outward"}
    leg["actuator"] = {"source": "Test", "minimum": -3.0, "maximum": 3.0}
    home = {"source": "Test", "position": [0.0, 0.0, "130 mm"]}
    machine = laid_out(SERVO_BASE, SERVO_TOP, "rss", home=home, leg=leg)
    zeros = np.array([leg.home_zero(place) for leg, place in placed(machine)])
    radii = machine.base.joints.points / np.linalg.norm(machine.base.joints.points, axis=1)[:, None]
    assert_within(zeros, radii, 1e-12)


def test_the_mirror_image_of_a_crank():
    """The reflection that swaps the legs of a pair swaps their cranks, all masses included."""
    machine = servos(crank=CRANK)
    mirror = np.diag([1.0, -1.0, 1.0])
    first, second = (
        (leg.crank_mass(place), leg.home_geometry(place).frame)
        for leg, place in placed(machine)[:2]
    )
    centers = [frame @ mass.center for mass, frame in (first, second)]
    tensors = [frame @ mass.tensor @ frame.T for mass, frame in (first, second)]
    assert_within(mirror @ centers[0], centers[1], 1e-12)
    assert_within(mirror @ tensors[0] @ mirror, tensors[1], 1e-15)


REFUSED = {
    "word": ({"axis": "sideways"}, "leg.axis", "'tangential', 'radial'"),
    "five": ({"axis": [[1.0, 0.0, 0.0]] * 5}, "leg.axis", "5 entries for 6 legs"),
    "both": ({"axis_angles": [0.0] * 6}, "leg", "not both"),
    "no direction": ({"axis": [[1.0, 0.0, 0.0]] * 5 + [[0.0] * 3]}, "leg.axis", "not zero"),
    "along": ({"zero": "outward"}, "leg.zero", "leg 1: the direction of angle 0 lies along"),
}


def test_refused_axes(subtests):
    for changes, field, words in REFUSED.values():
        with subtests.test(f"{changes}"):
            with pytest.raises(ParameterError) as caught:
                servos(**changes)
            found = dict(caught.value.problems)
            assert words in found[field]
