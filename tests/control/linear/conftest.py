"""Linearised machines that the tests share."""

from __future__ import annotations

import pytest

from twin.control.linear import LinearMachine, linearise
from twin.platform import Platform


@pytest.fixture(scope="session")
def linear(platform: Platform) -> LinearMachine:
    """Every machine at home."""
    return linearise(platform)
