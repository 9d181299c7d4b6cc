"""Layouts by angles, chords and coordinates, in any order."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laid_out import HEXAGON, MID_STROKE, TOP, laid_out
from numpy.testing import assert_allclose, assert_array_equal
from tolerance import assert_within

from twin.errors import ParameterError
from twin.machine.layout.joints import PairedCircle, PointList, Polar, nearest_order, nearest_shift

pytestmark = pytest.mark.quick

RADII = st.floats(1e-3, 10.0)
HALVES = st.floats(1e-3, math.pi / 3 - 1e-3)


def circle(**fields):
    return PairedCircle(**{"source": "Test", "center_angle": 0.2, **fields})


@given(radius=RADII, half=HALVES)
@settings(max_examples=50, deadline=None)
def test_all_ways_to_give_a_hexagon_are_the_same(radius, half):
    plain = circle(radius=radius, half_spacing=half).points
    chord = float(np.linalg.norm(plain[1] - plain[0]))
    between = float(np.linalg.norm(plain[2] - plain[1]))
    for given_ in (
        {"radius": radius, "spacing": 2 * half},
        {"radius": radius, "chord": chord},
        {"radius": radius, "between_pairs": between},
        {"chord": chord, "between_pairs": between},
    ):
        # The arcsine of nearly the largest chord loses half of the digits.
        assert_within(circle(**given_).points, plain, 1e-7 * radius)


def test_no_spacing_is_a_triangle():
    points = circle(radius=1.0, spacing=0.0).points
    assert_array_equal(points[::2], points[1::2])


@given(angles=st.lists(st.floats(-6.0, 6.0), min_size=3, max_size=8), data=st.data())
@settings(max_examples=50, deadline=None)
def test_polar_points_are_listed_points(angles, data):
    count = len(angles)
    radius = data.draw(st.lists(RADII, min_size=count, max_size=count))
    height = data.draw(st.lists(st.floats(-1.0, 1.0), min_size=count, max_size=count))
    order = data.draw(st.permutations(range(1, count + 1)))
    found = Polar(source="Test", angles=angles, radius=radius, height=height, order=order)
    listed = [
        [r * math.cos(a), r * math.sin(a), z]
        for a, r, z in zip(angles, radius, height, strict=True)
    ]
    assert_within(
        found.points,
        PointList(source="Test", coordinates=listed, order=order).points,
        1e-14 * max(radius),
    )


def test_three_points_carry_six_legs_by_their_order():
    pairs = Polar(source="Test", angles=["0 deg", "120 deg", "240 deg"], radius=1.0,
                  order=[1, 1, 2, 2, 3, 3])  # fmt: skip
    triangle = circle(radius=1.0, spacing=0.0, center_angle=0.0).points
    assert_within(pairs.points, triangle, 1e-15)


def test_a_shift_that_is_left_out_is_the_usual_one(subtests):
    """Every leg leans as far as its neighbours, to the other side."""
    for spacings in [(20, 20), (0, 20), (20, 0), (0, 0)]:
        with subtests.test(f"{spacings}"):
            base, top = (f"{value} deg" for value in spacings)
            machine = laid_out(HEXAGON | {"spacing": base}, TOP | {"spacing": top}, **MID_STROKE)
            assert machine.base.joints.model_dump()["shift"] == 0
            assert machine.platform.joints.model_dump()["shift"] == 1
            sideways = np.cross(machine.base.joints.points, machine.home_leg_vectors)[:, 2]
            assert_allclose(sideways[::2], -sideways[1::2], rtol=1e-9)


@pytest.mark.parametrize("given_", [{"shift": 0}, {"shift": 2}])
def test_a_given_shift_stays(given_):
    machine = laid_out(HEXAGON, TOP | {"spacing": "50 deg"} | given_, **MID_STROKE)
    assert machine.platform.joints.model_dump()["shift"] == given_["shift"]


@pytest.mark.parametrize("shift", [0, 2])
def test_a_singular_layout_names_the_better_shift(shift):
    """Pairs of the same width above and below: all legs lean the same way."""
    with pytest.raises(ParameterError) as caught:
        laid_out(HEXAGON, TOP | {"shift": shift}, **MID_STROKE)
    ((_, message),) = caught.value.problems
    assert "singular" in message
    assert f"platform.joints.shift = 1 gives the shortest legs, in place of {shift}" in message


def test_lists_are_joined_as_they_are_unless_asked():
    top = circle(radius=0.4, spacing=0.3, center_angle=math.pi / 3).points
    table = {"coordinates": np.roll(top, 2, axis=0).tolist()}
    plain = laid_out(HEXAGON, table, home={"source": "Test", "at": "mid_stroke"})
    assert_array_equal(plain.platform.joints.points, np.roll(top, 2, axis=0))
    asked = laid_out(HEXAGON, table | {"order": "nearest"}, **MID_STROKE)
    assert_array_equal(asked.platform.joints.points, np.roll(top, 1, axis=0))


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_nearest_order_does_not_depend_on_the_lists(seed):
    random = np.random.default_rng(seed)
    base = circle(radius=1.0, spacing=0.4).points + random.uniform(-0.05, 0.05, (6, 3))
    top = circle(radius=0.6, spacing=0.3, center_angle=1.2).points
    top = top + random.uniform(-0.05, 0.05, (6, 3))
    mixed_base, mixed_top = random.permutation(6), random.permutation(6)
    plain = nearest_order(base, top, 1e-6)
    mixed = nearest_order(base[mixed_base], top[mixed_top], 1e-6)
    assert plain is not None
    assert mixed is not None
    joined = {int(b): int(t) for b, t in zip(mixed_base, mixed_top[mixed], strict=True)}
    assert joined == dict(enumerate(plain.tolist()))


def test_equally_good_shifts_are_none():
    base = circle(radius=1.0, spacing=0.4, center_angle=0.0).points
    axis = np.array([[0.0, 0.0, 0.1 * i] for i in range(6)])
    assert nearest_shift(base, axis, 1e-6) is None
    assert nearest_order(base, axis, 1e-6) is None


REFUSED = {
    "nothing": ({"center_angle": 0.0}, "sides of the hexagon"),
    "two widths": ({**HEXAGON, "chord": 0.1}, "got spacing, chord"),
    "one side": ({"chord": 0.1, "center_angle": 0.0}, "sides of the hexagon"),
    "long chord": ({"radius": 1.0, "chord": 1.8, "center_angle": 0.0}, "shorter than 1.73205 m"),
    "two radii": ({"angles": [0.0, 1.0, 2.0], "radius": [1.0, 2.0]}, "radius has 2 entries"),
    "unknown joint": ({"angles": [0.0, 1.0], "radius": 1.0, "order": [1, 3]}, "names joint 3"),
    "word": ({"angles": [0.0, 1.0], "radius": 1.0, "order": "any"}, "must be 'nearest'"),
    "base": ({"angles": [0.0, 1.0], "radius": 1.0, "order": "nearest"}, "for the platform"),
}


def test_refused_layouts_name_what_to_change(subtests):
    for joints, words in REFUSED.values():
        with subtests.test(f"{joints}"):
            with pytest.raises(ParameterError) as caught:
                laid_out(joints, TOP)
            (field, message), *more = caught.value.problems
            assert not more
            assert field.startswith("base.joints")
            assert words in message
