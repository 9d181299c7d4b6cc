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
from twin.control.linear.machine import StateSpace, feedback_poles, series
from twin.rotations import displaced

GRID = np.geomspace(0.03, 2000.0, 800)


@pytest.fixture(scope="module", params=["stewart", "srspm"])
def design(request):
    """Designs of two machines at home."""
    return loop_shaping(linearise(twin.load(request.param)))


def test_loop_is_stable_and_has_its_crossover(design):
    assert feedback_poles(design.shaped, design.robust).real.max() < 0.0
    sizes = np.linalg.svd(design.shaped.response([10.0])[0], compute_uv=False)
    assert_within(sizes, 1.0, 0.01)  # gravity is left


def chordal_distance(first, second, frequencies):
    """Return the largest chordal distance of two plants over frequencies [Hz], from 0 to 1.

    The nu-gap where both have the same number of unstable poles and one can be turned into the
    other continuously. Plants nearer than epsilon are stabilised by the same controller.

    Reference:
        Vinnicombe, Frequency domain uncertainty and the graph topology, IEEE TAC 38 (1993).
    """
    first_response, second_response = first.response(frequencies), second.response(frequencies)
    left_factor = _root(
        np.eye(first_response.shape[1]) + second_response @ _adjoint(second_response)
    )
    right = _root(np.eye(first_response.shape[2]) + _adjoint(first_response) @ first_response)
    distance = left_factor @ (second_response - first_response) @ right
    return float(np.linalg.svd(distance, compute_uv=False).max())


def _adjoint(values):
    return np.asarray(np.conj(np.swapaxes(values, -1, -2)))


def _root(values):
    """Return the inverse square roots of Hermitian matrices `(k, m, m)`."""
    eigenvalues, vectors = np.linalg.eigh(values)
    return np.asarray((vectors / np.sqrt(eigenvalues)[:, None, :]) @ _adjoint(vectors))


@pytest.mark.parametrize("name", ["stewart", "srspm"])
def test_other_poses_are_within_the_promise(name):
    platform = twin.load(name)
    own = loop_shaping(linearise(platform))
    pose = displaced(platform.home, [0.02, -0.01, 0.03, 0.02, 0.03, -0.04])
    other = series(own.weight, linearise(platform, pose).system("forces", "coordinates"))
    assert chordal_distance(own.shaped, other, GRID) < own.epsilon
    assert feedback_poles(other, own.robust).real.max() < 0.0


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
