"""Free coordinates of bodies: each is possible, and leads back to the same numbers."""

import numpy as np
import pytest
from tolerance import assert_within

import twin
from twin.identification.parameters import nominal_array, prior_std_array, select, with_parameters
from twin.identification.prediction.bodies import BodyCoordinates

pytestmark = pytest.mark.quick


def test_every_point_is_a_possible_body_and_leads_back(stewart):
    """The machine's own check refuses bodies that break the triangle inequality."""
    parameters = select(stewart, "payload")
    bodies = BodyCoordinates(parameters)
    rng = np.random.default_rng(0)
    start = bodies.free(np.zeros(len(parameters)))
    assert_within(bodies.scaled(start), np.zeros(len(parameters)), 1e-9)
    for _ in range(20):
        y = start + rng.normal(size=len(start)) * np.where(
            ["inertia" in each.path for each in parameters], 0.4, 0.1
        )
        x = bodies.scaled(y)
        values = nominal_array(parameters) + prior_std_array(parameters) * x
        with_parameters(stewart, parameters, values)
        assert_within(bodies.free(x), y, 1e-3)


def test_derivatives_are_those_of_the_map():
    parameters = select(twin.load("stewart"), "payload")
    bodies = BodyCoordinates(parameters)
    y = bodies.free(np.full(len(parameters), 0.1))
    step = 1e-4 * np.random.default_rng(1).normal(size=len(y))
    change = bodies.scaled(y + step) - bodies.scaled(y - step)
    assert change == pytest.approx(2.0 * bodies.slopes(y) @ step, rel=1e-4, abs=1e-9)


def test_moments_that_are_not_all_free_stay_as_they_are():
    parameters = select(twin.load("stewart"), "platform.body.mass, platform.body.inertia.2.2")
    bodies, x = BodyCoordinates(parameters), np.array([0.5, -0.3])
    assert (bodies.free(x) == x).all()
    assert (bodies.slopes(x) == np.eye(2)).all()


def test_a_plane_body_has_finite_coordinates(stewart):
    moments = {"0.0": 1.0, "0.1": 0.0, "0.2": 0.0, "1.1": 1.0, "1.2": 0.0, "2.2": 2.0}
    entries = {f"platform.body.inertia.{key}": value for key, value in moments.items()}
    flat = stewart.with_(parameters=entries)
    parameters = select(flat, "platform.body.inertia.*")
    assert np.isfinite(BodyCoordinates(parameters).free(np.zeros(6))).all()
