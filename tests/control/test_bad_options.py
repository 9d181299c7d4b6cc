"""Options of controllers: each that cannot be used is an InputError that names it."""

import pytest
from refusals import assert_all_refused

from twin.control import make_controller

pytestmark = [pytest.mark.quick, pytest.mark.filterwarnings("error")]


def test_faults_name_the_option(stewart):
    cases = [
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
    ]
    assert_all_refused(
        lambda name, option, value: make_controller(name, stewart, **{option: value}),
        [(*case, f"^{case[1]}") for case in cases],
    )
