"""Loop shaping: the promised robustness, held against perturbations, and the running controller."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.control.linear import discretise, linearise
from twin.control.linear.loop_shaping import (
    ShapingWeights,
    channel_masses,
    loop_shaping,
    margins,
    shaping_filter,
    trapezoidal,
)
from twin.control.linear.machine import StateSpace, feedback_poles


@pytest.fixture(scope="module", params=["stewart", "srspm"])
def design(request):
    """Designs of two machines at home."""
    return loop_shaping(linearise(twin.load(request.param)))


def test_loop_is_stable_and_has_its_crossover(design):
    assert feedback_poles(design.shaped, design.robust).real.max() < 0.0
    sizes = np.linalg.svd(design.shaped.response([10.0])[0], compute_uv=False)
    assert_within(sizes, 1.0, 0.01)  # gravity is left


def test_sampled_controller_is_stable(design):
    law = trapezoidal(design.controller, 1e-3)
    assert max_abs(feedback_poles(discretise(design.plant, 1e-3), law)) < 1.0
    low = np.array([0.5, 5.0])
    assert_allclose(law.response(low), design.controller.response(low), rtol=1e-2)
    with refused("pole at 2 / period"):
        trapezoidal(StateSpace(np.array([[2e3]]), *np.ones((3, 1, 1)), 0.0), 1e-3)


def test_bad_input():
    linear = linearise(twin.load("stewart"))
    masses = channel_masses(linear)
    for weights in (ShapingWeights(crossover=0.0), ShapingWeights(lead=0.5)):
        with refused():
            shaping_filter(masses, weights)
    with refused():
        loop_shaping(linear, margin=1.0)
    with refused():
        channel_masses(linearise(twin.load("driving_simulator")))
    with refused():
        margins(loop_shaping(linear).plant, loop_shaping(linear).controller, np.array([0.0]))
