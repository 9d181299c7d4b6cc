"""Linearised machines that the tests share."""

import pytest

from twin.control.linear import linearise


@pytest.fixture(scope="session")
def linear(platform):
    """Every machine at home."""
    return linearise(platform)
