"""Options of controllers: each that cannot be used is an InputError that names it."""

import pytest
from refusals import refused

import twin
from twin.control import make_controller

pytestmark = [pytest.mark.quick, pytest.mark.filterwarnings("error")]


def test_faults_name_the_option(subtests):
    for name, option, value in [
        ("lqr", "design", 3),
        ("lqr", "weights", "x"),
        ("loop_shaping", "design", 3),
        ("loop_shaping", "weights", "x"),
        ("observer", "design", 3),
        ("observer", "period", [1e-3]),
        ("feedforward", "period", "x"),
        ("cascade", "period", 1e308),
        ("computed_torque", "bandwidth", 1e308),
        ("hac_lac", "colour", 3),
        ("cascade", "colour", 3),
    ]:
        with subtests.test(f"{name}"), refused(field=option):
            make_controller(name, twin.load("stewart"), **{option: value})
