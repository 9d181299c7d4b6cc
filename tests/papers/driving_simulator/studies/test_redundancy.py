"""Four actuators for three dof: internal force."""

import numpy as np
from tolerance import assert_within

from twin.papers.driving_simulator.studies import (
    internal_forces,
)


def test_split_is_orthogonal_and_complete():
    forces = np.random.default_rng(5).normal(size=(7, 3, 4))
    internal = internal_forces(forces)
    assert_within(((forces - internal) * internal).sum(axis=-1), 0.0, 1e-15)
    assert_within(internal_forces(internal), internal, 1e-15)
