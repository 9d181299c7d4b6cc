"""Four actuators for three dof: internal force and wrong commands."""

import numpy as np
from numpy.testing import assert_array_equal
from paper_plate import PLATE
from refusals import refused
from tolerance import assert_within

from twin.papers.driving_simulator.exact import ExactModel
from twin.papers.driving_simulator.studies import (
    INTERNAL_FORCE_DIRECTION,
    internal_forces,
)

MODEL = ExactModel(PLATE)


def coordinates(count=50):
    """Return heave, roll and pitch far from home."""
    random = np.random.default_rng(31)
    return random.uniform(-1.0, 1.0, (count, 3)) * [0.1, 0.6, 0.5] + [0.4, 0.0, 0.0]


def test_internal_pattern_is_the_null_vector_at_every_pose():
    assert_array_equal(2.0 * INTERNAL_FORCE_DIRECTION, [1.0, -1.0, 1.0, -1.0])
    jacobian = MODEL.length_jacobian(coordinates())
    assert_within(np.einsum("n,kni->ki", INTERNAL_FORCE_DIRECTION, jacobian), 0.0, 1e-14)
    singular = np.linalg.svd(jacobian, compute_uv=False)
    assert singular.min() > 0.5, "no other pattern of forces is without effect"


def test_split_is_orthogonal_and_complete():
    forces = np.random.default_rng(5).normal(size=(7, 3, 4))
    internal = internal_forces(forces)
    assert_within(((forces - internal) * internal).sum(axis=-1), 0.0, 1e-15)
    assert_within(internal_forces(internal), internal, 1e-15)


def test_refused_arguments():
    with refused("forces"):
        internal_forces([1.0, 2.0, 3.0])
