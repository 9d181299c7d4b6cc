"""Agreement of arrays to an absolute tolerance."""

from __future__ import annotations

from typing import Any

from numpy.testing import assert_allclose


def assert_within(found: Any, expected: Any, tolerance: Any, **options: Any) -> None:
    """Check that every number differs from the expected one by at most the tolerance.

    `options` are those of `numpy.testing.assert_allclose`.
    """
    assert_allclose(found, expected, rtol=0.0, atol=tolerance, **options)
