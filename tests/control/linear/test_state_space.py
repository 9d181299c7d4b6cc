"""State spaces: sampling, series, feedback and conversion against scipy and python-control."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from refusals import refused

from twin.control.linear.machine import StateSpace, discretise, feedback_poles, series


def draw(states, inputs, outputs, seed):
    random = np.random.default_rng(seed)
    shapes = ((states, states), (states, inputs), (outputs, states), (outputs, inputs))
    return StateSpace(*(random.normal(size=shape) for shape in shapes))


def test_response_is_python_controls():
    system = draw(4, 2, 3, 0)
    grid = np.array([0.01, 0.3, 2.0])
    wanted = np.moveaxis(system.to_control()(2j * np.pi * grid), -1, 0)
    assert_allclose(system.response(grid), wanted, rtol=1e-9, atol=1e-12)
    late = discretise(system, 0.05)
    wanted = np.moveaxis(late.to_control()(np.exp(2j * np.pi * grid * 0.05)), -1, 0)
    assert_allclose(late.response(grid), wanted, rtol=1e-9, atol=1e-12)


@settings(max_examples=15)
@given(st.floats(0.0, 0.35), st.integers(0, 20))
def test_delayed_sampling_is_the_undelayed_one_shifted(delay, seed):
    """At a tenth of the period all times are whole: hold, delay and sample there."""
    period, parts = 0.1, 100
    late = round(delay / (period / parts)) * period / parts
    system = draw(3, 2, 2, seed)._replace(D=np.zeros((2, 2)))
    fine = discretise(system, period / parts)
    slow = discretise(system, period, late)
    inputs = np.random.default_rng(seed).normal(size=(6, 2))
    x, z = np.zeros(3), np.zeros(len(slow.A))
    shift = round(late / (period / parts))
    for step in range(6 * parts):
        if step % parts == 0:
            assert_allclose(slow.C @ z, fine.C @ x, rtol=1e-8, atol=1e-10)
            z = slow.A @ z + slow.B @ inputs[step // parts]
        told = (step - shift) // parts
        x = fine.A @ x + fine.B @ (inputs[told] if told >= 0 else np.zeros(2))


def test_sizes_must_fit():
    with refused():
        series(draw(2, 1, 2, 0), draw(2, 1, 1, 0))
    with refused():
        feedback_poles(draw(2, 1, 2, 0), draw(2, 1, 1, 0))
    one = StateSpace(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.eye(1))
    with refused("singular"):
        feedback_poles(one, one)
