"""Velocity steps of machines with drives, as their motors see them."""

import pytest
from numpy.testing import assert_allclose
from refusals import refused
from tolerance import assert_within

import twin
from twin.analysis.tuning.steps import VelocityStudy
from twin.analysis.tuning.tuning import step_figures
from twin.papers.stewart_thesis import motor_response, with_armature


def test_legs_move_as_in_the_step_that_is_seen_at_the_legs():
    hardware = twin.load("stewart", "hardware")
    time, legs = VelocityStudy(carried=True).response(hardware, 20e3, 3e-3)
    found = motor_response(hardware, 20e3, 3e-3)
    assert_within(found.time, time, 1e-12)
    assert_allclose(found.leg, legs, rtol=1e-9, atol=1e-9)


def test_motors_rest_through_the_delay_and_end_at_the_setpoint():
    hardware = twin.load("stewart", "hardware")
    found = motor_response(hardware, 947e3, 3e-3)
    late = found.time < 2e-3
    assert_within(found.motor[late], 0.0, 1e-9)
    # The analogue setpoint has steps of 0.62 percent of this one.
    assert found.motor[-1] == pytest.approx(1.0, abs=0.0062)


def test_gains_for_a_machine_without_armature_overshoot_with_it():
    hardware = twin.load("stewart", "hardware")
    thesis, proportion = (
        step_figures(found.time, found.motor)
        for found in (motor_response(hardware, gain, 3e-3) for gain in (20e3, 947e3))
    )
    assert thesis.overshoot > 0.5
    assert proportion.overshoot < 0.062


def test_the_armature_is_scaled():
    hardware = twin.load("stewart", "hardware")
    drives = [one.parameters.legs[2].drive for one in (hardware, with_armature(hardware, 0.25))]
    assert drives[1].reflected().inertia == pytest.approx(0.25 * drives[0].reflected().inertia)
    with refused("fraction"):
        with_armature(hardware, 0.0)


@pytest.mark.parametrize("name", ["stewart", "rss"])
def test_machines_without_motors_are_refused(name):
    with refused("platform"):
        motor_response(twin.load(name), 20e3, 3e-3)
    with refused("screws"):
        with_armature(twin.load(name), 0.5)
