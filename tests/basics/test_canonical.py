"""Canonical choices: right, and the same when rounding errors change."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation
from tolerance import assert_within

from twin.basics import canonical

pytestmark = pytest.mark.quick


ROUNDING = 1e-14
NOISE = 1e-15
"""Relative change of the input that must not change a choice."""

seeds = st.integers(0, 10_000)
moments = st.tuples(*[st.floats(0.1, 10.0)] * 3)


def noisy(values, seed):
    """Return values with other rounding errors."""
    return values * (1.0 + NOISE * np.random.default_rng(seed).uniform(-1, 1, values.shape))


@given(seeds, moments)
def test_principal_axes_are_a_rotation_that_diagonalises(seed, sizes):
    turn = Rotation.random(rng=np.random.default_rng(seed)).as_matrix()
    tensor = turn @ np.diag(sizes) @ turn.T
    tensor = 0.5 * (tensor + tensor.T)
    axes = canonical.principal_axes(tensor)
    assert_within(axes.T @ axes, np.eye(3), ROUNDING)
    assert np.linalg.det(axes) > 0.0
    assert np.trace(axes) > 0.0
    diagonal = axes.T @ tensor @ axes
    assert_within(diagonal, np.diag(np.diag(diagonal)), ROUNDING * max(sizes))


@given(seeds)
def test_axes_of_equal_moments_do_not_follow_rounding_errors(seed):
    tensor = np.array([[40.2, 0.088, -0.448], [0.088, 40.2, -0.448], [-0.448, -0.448, 3.24]])
    changed = noisy(tensor, seed)
    changed = 0.5 * (changed + changed.T)
    assert_within(canonical.principal_axes(changed), canonical.principal_axes(tensor), 1e-11)


def test_axes_of_a_diagonal_tensor_are_the_bodys_own():
    assert_array_equal(canonical.principal_axes(np.diag([3.0, 1.0, 2.0])), np.eye(3))


@given(seeds, st.integers(1, 5))
def test_basis_depends_on_the_space_alone(seed, count):
    random = np.random.default_rng(seed)
    vectors = np.linalg.qr(random.normal(size=(6, count)))[0]
    mixed = vectors @ np.linalg.qr(random.normal(size=(count, count)))[0]
    found = canonical.basis(vectors)
    assert_within(found.T @ found, np.eye(count), 1e-12)
    assert_within(found @ found.T, vectors @ vectors.T, 1e-12)
    assert_within(canonical.basis(mixed), found, 1e-7)


@given(seeds)
def test_modes_of_equal_frequency_depend_on_their_space_alone(seed):
    random = np.random.default_rng(seed)
    vectors = np.linalg.qr(random.normal(size=(4, 4)))[0]
    values = np.array([1.0, 2.0, 2.0, 5.0])
    turned = vectors * np.array([-1.0, 1.0, 1.0, -1.0])
    turned[:, 1:3] = turned[:, 1:3] @ np.array([[0.6, -0.8], [0.8, 0.6]])
    found = canonical.modes(values, vectors)
    assert_within(canonical.modes(values, turned), found, 1e-7)
    matrix = vectors @ np.diag(values) @ vectors.T
    assert_within(matrix @ found, found * values, 1e-12)


@given(st.lists(st.floats(-10.0, 10.0), min_size=1, max_size=8), seeds)
def test_order_sorts_and_keeps_ties_in_place(values, seed):
    given_values = np.round(np.array(values), 1)
    assert_array_equal(
        canonical.order(noisy(given_values, seed)), np.argsort(given_values, kind="stable")
    )


@given(st.floats(-3.0, 3.0))
def test_angles_have_one_branch(angle):
    assume(abs(angle) > 1e-6)
    x, y = np.array([-1.0, -1.0, np.cos(angle)]), np.array([1e-17, -1e-17, np.sin(angle)])
    assert_allclose(canonical.angles(y, x), [np.pi, np.pi, angle], rtol=1e-12)
