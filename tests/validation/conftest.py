"""Results of cases that several tests look at, each computed once."""

import pytest

from twin.validation.cases import load_case


@pytest.fixture(scope="session")
def outcome():
    """Return a function that runs a case on a machine, and only once."""
    known = {}

    def run(platform, name):
        key = platform.hash, name
        if key not in known:
            known[key] = load_case(name).run(platform)
        return known[key]

    return run
