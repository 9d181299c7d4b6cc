"""Step specifications: bounds, violations, figures of a response."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused, refused
from tolerance import assert_within

from twin.analysis.tuning.tuning import (
    POSITION_STEP,
    VELOCITY_STEP,
    StepSpecification,
    step_figures,
)
from twin.papers.stewart_thesis import velocity_step_response

TIME = np.linspace(0.0, 0.05, 501)


def test_bounds_are_those_of_the_thesis():
    time = np.array([0.0, 5.9e-3, 6e-3, 19.9e-3, 20e-3, 50e-3])
    assert_array_equal(VELOCITY_STEP.lower(time), [-0.01, -0.01, 0.995, 0.995, 0.995, 0.995])
    assert_allclose(
        VELOCITY_STEP.upper(time), [1.1, 1.1, 1.1, 1.1, 1.005, 1.005], rtol=1e-15, atol=0.0
    )


def test_numbers_that_make_no_specification_are_refused():
    bad = (0.0, math.nan, math.inf, "a")
    names = ("rise_time", "rise", "settling", "overshoot")
    assert_all_refused(
        lambda name, value: StepSpecification(**{name: value}),
        [
            *((name, value, name) for name in names for value in bad),
            ("rise_time", 0.03, "settling_time"),
            ("rise", 1.2, "rise"),
        ],
    )


def test_an_ideal_response_keeps_the_bounds_and_a_still_one_does_not():
    assert VELOCITY_STEP.violation(TIME, np.ones_like(TIME)) < 0.0
    still = VELOCITY_STEP.violation(TIME, np.zeros_like(TIME))
    assert still == pytest.approx(0.995)
    with refused("time, response"):
        VELOCITY_STEP.violation(TIME, np.ones(3))


@given(st.floats(1e-3, 4e-3), st.floats(0.0, 0.3))
def test_figures_of_a_ramp_with_overshoot(rise, overshoot):
    response = np.interp(TIME, [0.0, rise, 0.01, 0.02], [0.0, 1.0, 1.0 + overshoot, 1.0])
    figures = step_figures(TIME, response)
    # The ramp's corner may lie between two samples.
    assert abs(figures.rise_time - 0.995 * rise) < 1e-4
    assert figures.overshoot == pytest.approx(response.max() - 1.0)
    if overshoot > 0.02:
        assert abs(figures.settling_time - (0.02 - 0.01 * 0.005 / overshoot)) < 1e-4


def test_what_is_never_reached_is_no_number():
    figures = step_figures(TIME, 0.5 * np.ones_like(TIME))
    assert math.isnan(figures.rise_time)
    assert math.isinf(figures.settling_time)
    assert step_figures(TIME, np.ones_like(TIME)).settling_time == 0.0


def test_position_step_only_has_to_settle():
    rule = POSITION_STEP
    time = np.linspace(0.0, 2.5, 251)
    assert rule.violation(time, 1.0 - np.exp(-3.0 * time)) < 0.0
    assert rule.violation(time, 1.0 - np.exp(-1.0 * time)) > 0.0


def test_closed_form_against_its_differential_equation():
    mass, gain, integral_time, weight, size = 33.5, 21.6e3, 3e-3, 308.0, 0.02
    step = 1e-7
    time = np.array([1e-3, 4e-3, 9e-3])
    at = lambda shift: velocity_step_response(  # noqa: E731
        time + shift, mass, gain, integral_time, weight=weight, size=size
    )
    v, rate = at(0.0), (at(step) - at(-step)) / (2.0 * step)
    fine = np.linspace(0.0, 9e-3, 90001)
    error = 1.0 - velocity_step_response(fine, mass, gain, integral_time, weight=weight, size=size)
    gathered = np.interp(
        time, fine, np.concatenate([[0.0], np.cumsum(0.5 * (error[1:] + error[:-1])) * fine[1]])
    )
    force = gain * (1.0 - v) + gain / integral_time * gathered - weight / size
    assert_allclose(mass * rate, force, rtol=1e-5, atol=1e-2)


def test_a_double_pole_is_no_exception():
    mass, integral_time = 30.0, 3e-3
    gain = 4.0 * mass / integral_time
    near = velocity_step_response(TIME, mass, gain * (1.0 + 1e-6), integral_time)
    ours = velocity_step_response(TIME, mass, gain, integral_time)
    assert_within(ours, near, 1e-5)


def test_carried_weight_forces_an_overshoot_whose_area_is_that_of_the_rise():
    time = np.linspace(0.0, 0.5, 500001)
    response = velocity_step_response(time, 33.5, 20e3, 3e-3)
    assert abs(np.trapezoid(1.0 - response, time)) < 1e-9
    assert response.max() > 1.2
