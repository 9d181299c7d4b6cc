"""Agreement of arrays to an absolute tolerance, and their largest entry."""

import numpy as np
from numpy.testing import assert_allclose


def assert_within(found, expected, tolerance, **options):
    """Check that every number differs from the expected one by at most the tolerance.

    `options` are those of `numpy.testing.assert_allclose`.
    """
    assert_allclose(found, expected, rtol=0.0, atol=tolerance, **options)


def max_abs(values):
    """Return the largest absolute value; NaN where one is none."""
    return float(np.abs(values).max())
