"""The exact model: laws of mechanics, moving masses by plain geometry."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from paper_plate import PLATE
from refusals import refused
from tolerance import assert_within

from twin.errors import SingularPoseError
from twin.papers.driving_simulator.exact import ExactModel, SlidingFriction
from twin.papers.driving_simulator.kinematics import FIXED_CORNER

Array = NDArray[np.float64]

FRICTION = SlidingFriction(300.0, 40.0, 0.01)

MODELS = {"smooth": ExactModel(PLATE), "rubbing": ExactModel(PLATE, FRICTION)}


class States(NamedTuple):
    """Random states, one per row, fast enough for all velocity terms to matter."""

    q: Array
    v: Array
    a: Array


def states(count=50):
    """Return heave, roll and pitch with derivatives."""
    random = np.random.default_rng(17)
    q = random.uniform(-1.0, 1.0, (count, 3)) * [0.1, 0.5, 0.4] + [0.4, 0.0, 0.0]
    return States(q, *random.normal(size=(2, count, 3)))


def test_forces_are_the_smallest_of_those_that_push():
    model, s = MODELS["smooth"], states()
    for idle, forces in (
        (None, model.forces(s.q, s.v, s.a)),
        (3, model.forces(s.q, s.v, s.a, pushing=[0, 1, 2])),
    ):
        given = np.einsum("kni,kn->ki", model.length_jacobian(s.q), forces)
        assert_within(given, model.required(s.q, s.v, s.a), 1e-10)
        if idle is None:
            assert_within(forces @ [1, -1, 1, -1], 0.0, 1e-9)
        else:
            assert_array_equal(forces[:, idle], 0.0)


def test_actuators_that_do_not_hold_the_plate_are_refused():
    with pytest.raises(SingularPoseError):
        MODELS["smooth"].forces([0.35, 0, 0], np.zeros(3), np.zeros(3), pushing=[0, 1, 0])


def test_friction_only_takes_energy():
    s = states()
    velocity, drag = MODELS["rubbing"].feet(s.q, s.v)
    speed = np.linalg.norm(velocity, axis=-1)
    size = (FRICTION.viscous + FRICTION.coulomb / np.hypot(speed, 0.01)) * speed
    assert_allclose(np.linalg.norm(drag, axis=-1), size, rtol=1e-13, atol=1e-15)
    assert_allclose((velocity * drag).sum(axis=-1), -size * speed, rtol=1e-13)
    assert_within(drag[:, FIXED_CORNER], 0.0, 1e-10)
    assert not MODELS["smooth"].feet(s.q, s.v)[1].any()


@pytest.mark.parametrize("field", ["coordinates", "rates", "forces"])
def test_refused_arguments(field):
    good = {"coordinates": [0.35, 0.0, 0.0], "rates": np.zeros(3), "forces": np.zeros(4)}
    with refused(field):
        MODELS["smooth"].accelerations(**good | {field: [[1.0, 2.0]]})
