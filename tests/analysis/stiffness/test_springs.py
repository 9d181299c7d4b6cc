"""Springs at the actuators: where their numbers are from, and what a rest length commands."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within

import twin
from twin.analysis.stiffness import rest_length_forces, springs_of, strut_springs
from twin.machine.legs.strut import StrutLeg


@pytest.fixture(scope="module")
def hexapod():
    return twin.load("micro_hexapod")


def test_struts_have_the_numbers_of_the_file(hexapod):
    leg = hexapod.parameters.leg
    assert isinstance(leg, StrutLeg)
    springs = springs_of(hexapod)
    assert springs.own
    assert_array_equal(springs.stiffness, [leg.axial.stiffness] * 6)
    assert_array_equal(springs.damping, [leg.axial.damping] * 6)
    assert_within(springs.rest, hexapod.home_coordinates, 1e-15)


def test_given_stiffness_is_of_a_machine_without_struts(hexapod, stewart):
    assert strut_springs(stewart) is None
    assert_array_equal(springs_of(stewart, 5.0).stiffness, np.full(6, 5.0))
    assert_array_equal(springs_of(stewart, range(1, 7)).stiffness, range(1, 7))
    for machine, stiffness in ((hexapod, 5.0), (stewart, None), (stewart, -1.0), (stewart, [1, 2])):
        with refused("stiffness"):
            springs_of(machine, stiffness)
    with refused("Platform"):
        springs_of("stewart")


def test_a_rest_length_is_the_force_of_the_moved_spring(hexapod, stewart):
    lengths = hexapod.home_coordinates + np.arange(12.0).reshape(2, 6) * 1e-5
    forces = rest_length_forces(hexapod, lengths)
    stiffness = springs_of(hexapod).stiffness
    assert_allclose(forces, stiffness * (lengths - hexapod.home_coordinates), rtol=1e-12)
    with refused("no struts"):
        rest_length_forces(stewart, stewart.home_coordinates)
    with refused("lengths"):
        rest_length_forces(hexapod, [0.3])
