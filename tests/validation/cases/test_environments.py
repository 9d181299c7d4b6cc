"""The equations that the environments are compared with, against numbers by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from tolerance import assert_within

import twin
from twin.model.ball import Ball
from twin.motion.cueing import Car
from twin.validation.cases.environments import ball, case, cueing, shaking

pytestmark = pytest.mark.quick


def test_ball_on_an_incline_rolls_with_five_sevenths():
    own = Ball(0.03, 0.4, 1.0, 0.1, rolling_resistance=0.0)
    turn = Rotation.from_rotvec([0.0, 0.2, 0.0]).as_matrix()
    arm = turn @ [0.0, 0.0, 0.13]
    found = ball.laws(own, ball.at_rest(turn), arm, np.zeros(6))
    downhill = 5.0 / 7.0 * 9.81 * np.sin(0.2)
    assert_allclose(found.acceleration @ turn[:, 0], downhill, rtol=1e-12)
    assert_allclose(found.angular_acceleration @ turn[:, 1], downhill / 0.03, rtol=1e-12)
    assert_allclose(found.force @ turn[:, 2], 0.4 * 9.81 * np.cos(0.2), rtol=1e-12)


def test_braking_loads_the_front_axle():
    front, rear = cueing.axle_loads(Car(), -4.0)
    weight, moved = 1500.0 * 9.81, 1500.0 * 4.0 * 0.55 / 2.6
    assert_allclose(front, weight * 1.4 / 2.6 + moved, rtol=1e-12)
    assert_allclose(rear, weight * 1.2 / 2.6 - moved, rtol=1e-12)


def test_base_swings_as_its_line_in_the_middle_and_rests_at_both_ends():
    line = np.array([[[5.0, 2.0, 0.3]]] * 3)
    end = shaking.CONTROL_PERIOD * shaking.PERIOD_COUNT
    time = np.array([0.0, 0.5 * end, end])
    omega = 10.0 * np.pi
    middle = -2.0 / omega**2 * np.sin(omega * 0.5 * end + 0.3)
    expected = np.repeat([[0.0], [middle], [0.0]], 3, axis=1)
    assert_within(shaking.displacement(line, time), expected, 1e-15)
    assert_within(shaking.velocity(line, time[[0, 2]]), 0.0, 1e-15)


def test_platform_stays_in_a_room_whose_base_rests():
    light = shaking.with_light_legs(twin.load("stewart"))
    assert light.parameters.leg.mass < 0.05
    still = np.array([[[5.0, 0.0, 0.0]]] * 3)
    assert_within(shaking.in_the_room(light, still), 0.0, 1e-9)


def test_formulae_of_rewards():
    assert cueing.closeness(0.0, 1e-3, 0.1) == 1.0
    assert cueing.closeness(0.1, 1e-3, 0.1) == 0.0
    half = (np.sqrt(101.0) - 1.0) * 1e-3
    assert cueing.closeness(half, 1e-3, 0.1) == pytest.approx(0.5)
    assert cueing.smoothness(np.array([1.0, 0.0]), np.zeros(2)) == -0.5
    assert_allclose(case.smooth_step(np.array([-1.0, 0.5, 2.0])), [0.0, 0.5, 1.0])
