"""Linearised machines that the tests share."""

from __future__ import annotations

import pytest

from twin.analysis.platform import Platform
from twin.control.linear import LinearMachine, linearise


@pytest.fixture(scope="session")
def linear(platform: Platform) -> LinearMachine:
    """Every machine at home."""
    return linearise(platform)
