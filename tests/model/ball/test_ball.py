"""The ball's numbers, and what is refused."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import assert_all_refused, refused
from tolerance import assert_within

import twin
from twin.engines.mechanism import machine_drawing
from twin.model.ball import (
    HOLLOW_INERTIA_FACTOR,
    Ball,
    as_ball,
    as_start,
    ball_for,
    is_lost,
    on_plate,
    place_on_plate,
)

GOOD = Ball(radius=0.03, mass=0.4, plate_radius=0.3, plate_height=0.1)


@pytest.mark.parametrize("name", twin.machine_names())
def test_a_ball_for_every_machine(name):
    parameters = twin.load(name).parameters
    ball = ball_for(parameters)
    look = machine_drawing(parameters)
    top = look.platform_bottom + look.platform_thickness
    assert ball.plate_height - ball.plate_thickness > top, "the plate would be inside the platform"
    assert 8.0 * ball.radius < ball.plate_radius


def test_impossible_balls_are_refused():
    assert_all_refused(
        lambda field, value: dataclasses.replace(GOOD, **{field: value}),
        [
            ("radius", 0.4, "radius"),
            ("mass", -1.0, "mass"),
            ("plate_height", [0.1, 0.2], "plate_height"),
            ("inertia_factor", 0.7, "inertia_factor"),
            ("rolling_resistance", -1e-3, "rolling_resistance"),
        ],
    )


def test_options():
    parameters = twin.load("stewart").parameters
    assert as_ball(None, parameters) is None
    assert as_ball(GOOD, parameters) is GOOD
    assert as_ball(True, parameters) == ball_for(parameters)
    assert as_ball(dataclasses.asdict(GOOD), parameters) == GOOD
    for wrong in ({"radius": 0.03}, {**dataclasses.asdict(GOOD), "colour": 1}, 3.0, False):
        with refused("ball"):
            as_ball(wrong, parameters)


def test_moment_of_inertia():
    shell = dataclasses.replace(GOOD, inertia_factor=HOLLOW_INERTIA_FACTOR)
    assert_allclose(shell.inertia, 2.0 / 3.0 * 0.4 * 0.03**2, rtol=1e-15)


def test_batches_of_places():
    home = twin.load("stewart").home
    poses = np.broadcast_to(home, (3, 2, 7))
    starts = np.random.default_rng(1).uniform(-0.1, 0.1, (3, 2, 4))
    places = place_on_plate(GOOD, poses, np.zeros((3, 2, 6)), starts)
    assert places.shape == (3, 2, 13)
    seen = on_plate(poses, np.zeros((3, 2, 6)), places)
    assert_within(seen[..., [0, 1, 3, 4]], starts, 1e-15)
    assert not is_lost(GOOD, seen).any()
    with refused("on the plate"):
        as_start([0.3, 0.1, 0.0, 0.0], GOOD)


def test_lost_balls():
    beside, above, below = [-0.2, 0.25, 0.13], [0.0, 0.0, 0.17], [0.0, 0.0, 0.09]
    for place in (beside, above, below, [0.0, 0.0, np.nan]):
        assert is_lost(GOOD, np.array(place)), place
    assert not is_lost(GOOD, np.array([0.2, 0.2, 0.131]))
