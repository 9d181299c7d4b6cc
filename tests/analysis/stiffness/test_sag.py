"""Sag under gravity: the stiffness matrix predicts it to second order in the load."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from tolerance import assert_within

import twin
from twin.analysis.stiffness import (
    characteristic_scale,
    sag,
    sag_over_gravity,
    springs_of,
)


def sizes(sprung, values):
    """Return displacements as one number each, in parts of the platform's radius."""
    return np.linalg.norm(np.array(values) / characteristic_scale(sprung.platform), axis=-1)


def test_remainder_is_of_second_order_in_the_load(sprung):
    # Factors that make the sag some thousandths of the platform's size, whatever the stiffness.
    first = sizes(sprung, sag(sprung.platform, sprung.pose[0], **sprung.given).predicted)
    factors = 2e-3 / first * np.array([0.25, 0.5, 1.0])
    sags = sag_over_gravity(sprung.platform, factors, sprung.pose[0], **sprung.given)
    missed = sizes(sprung, [one.remainder for one in sags])
    whole = sizes(sprung, [one.exact for one in sags])
    assert_allclose(missed[1:] / missed[:-1], 4.0, rtol=0.1)
    assert_allclose(whole[1:] / whole[:-1], 2.0, rtol=0.05)
    assert (missed < 0.1 * whole).all()


def test_straight_down_in_closed_form():
    """At home the hexapod goes down by its load over 6 k cos^2 a."""
    machine = twin.load("micro_hexapod")
    result = sag(machine)
    vectors = machine.parameters.home_leg_vectors
    cosine = vectors[:, 2] / np.linalg.norm(vectors, axis=1)
    down = result.load[2] / (springs_of(machine).stiffness @ cosine**2)
    assert result.predicted[2] == pytest.approx(down, rel=1e-9)
    assert result.exact[2] == pytest.approx(down, rel=1e-3)
    assert down < 0.0


def test_wrench_adds_to_the_weight(sprung):
    plain = sag(sprung.platform, sprung.pose[0], **sprung.given)
    push = np.array([4.0, -3.0, 2.0, 0.1, 0.2, 0.3])
    pushed = sag(sprung.platform, sprung.pose[0], wrench=push, **sprung.given)
    assert_within(pushed.load - plain.load, push, 1e-9)
    assert sizes(sprung, pushed.exact - plain.exact) > 1e-8


def test_bad_arguments(stewart):
    with refused("one pose"):
        sag(stewart, np.tile(stewart.home, (2, 1)), stiffness=1e5)
    for factors in ([0.0], [-1.0], [np.nan]):
        with refused("factors"):
            sag_over_gravity(stewart, factors, stiffness=1e5)
