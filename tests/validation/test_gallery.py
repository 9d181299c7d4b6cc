"""Machines of the gallery pass the report."""

import pytest

import twin
from twin.validation.runner import run

pytestmark = pytest.mark.gallery


@pytest.mark.parametrize("name", twin.gallery_names())
def test_every_case_passes(name):
    results = run(name, progress=False)
    assert len(results) >= 10
    outcomes = {result.case: result.error or result.verdict for result in results}
    assert set(outcomes.values()) == {"pass"}, outcomes
