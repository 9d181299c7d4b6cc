"""Sag under gravity: the stiffness matrix predicts it to second order in the load."""

import numpy as np
import pytest
from tolerance import assert_within

import twin
from twin.analysis.stiffness import (
    characteristic_scale,
    sag,
    springs_of,
)


def sizes(sprung, values):
    """Return displacements as one number each, in parts of the platform's radius."""
    return np.linalg.norm(np.array(values) / characteristic_scale(sprung.platform), axis=-1)


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
