"""Results of cases that several tests look at, each computed once."""

from __future__ import annotations

import pytest
from case_outcomes import Outcome

from twin.analysis.platform import Platform
from twin.validation.case import CaseResult
from twin.validation.cases import load_case


@pytest.fixture(scope="session")
def outcome() -> Outcome:
    """Return a function that runs a case on a machine, and only once."""
    known: dict[tuple[str, str], CaseResult] = {}

    def run(platform: Platform, name: str) -> CaseResult:
        key = platform.hash, name
        if key not in known:
            known[key] = load_case(name).run(platform)
        return known[key]

    return run
