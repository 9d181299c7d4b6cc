"""The machine that most shadows follow."""

import pytest

from twin.analysis.platform import load


@pytest.fixture(scope="session")
def stewart():
    """The machine with its drives, as the file describes it."""
    return load("stewart", "hardware")
