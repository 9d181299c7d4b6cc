"""Laws of quaternions, rotation matrices and cross products as arrays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from tolerance import assert_within

from twin.basics.arrays import (
    quaternion_from_vector,
    rotated,
    rotation_matrix,
    turned,
)

pytestmark = pytest.mark.quick

SHAPES = pytest.mark.parametrize("shape", [(), (5,), (2, 3)])


def drawn(shape):
    """Return rotation vectors and vectors `(*shape, 3)`."""
    return tuple(np.random.default_rng(4).normal(size=(2, *shape, 3)))


@SHAPES
def test_quaternions_are_those_of_scipy(shape):
    turns, vectors = drawn(shape)
    theirs = Rotation.from_rotvec(turns.reshape(-1, 3))
    quaternion = quaternion_from_vector(turns)
    matrix = rotation_matrix(quaternion)
    assert_within(matrix.reshape(-1, 3, 3), theirs.as_matrix(), 1e-15)
    expected = theirs.apply(vectors.reshape(-1, 3)).reshape(vectors.shape)
    assert_allclose(rotated(quaternion, vectors), expected, atol=1e-15, rtol=1e-14)


def test_poses_turn_in_base_axes():
    pose = np.array([0.1, 0.2, 0.3, *quaternion_from_vector(np.array([0.0, 0.0, np.pi / 2]))])
    moved = turned(pose, np.array([0.0, 1.0, 0.0, 0.3, 0.0, 0.0]))
    assert_allclose(moved[:3], [0.1, 1.2, 0.3])
    # Turned about the base's x axis: the platform's x axis, along y before, tilts up.
    tilted = [0.0, np.cos(0.3), np.sin(0.3)]
    assert_within(rotation_matrix(moved[3:])[:, 0], tilted, 1e-15)
