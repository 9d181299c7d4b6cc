"""The machine that most links have at their end."""

import pytest

import twin


@pytest.fixture(scope="session")
def hardware():
    """The machine with its drives and sensors."""
    return twin.load("stewart", configuration="hardware")
