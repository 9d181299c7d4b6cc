"""What the page of an identification writes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from twin.charts.panels import number
from twin.identification.result.identification import Identification
from twin.identification.result.report import _digits

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (97.00041, 0.0013, "97.0004"),
        (-9.11574e-6, 8.9e-6, "-9.1e-06"),
        (2.01261, 0.37, "2"),
        (0.00133695, 4.8e-8, "0.00133695"),
        (0.000250804, 0.062, "0.00025"),
        (1.0, np.inf, "1"),
    ],
)
def test_two_digits_are_uncertain(value: float, error: float, text: str) -> None:
    assert number(value, _digits(value, error)) == text


@pytest.mark.parametrize(("before", "after", "way"), [(3.0, 1.0, "fall"), (1.0, 3.0, "rise")])
def test_the_summary_says_whether_errors_fall(before: float, after: float, way: str) -> None:
    found: Any = SimpleNamespace(
        fits=[SimpleNamespace(before=before, after=after)],
        unit=(1.0, "m"),
        errors=True,
        sources=(),
        values=(),
        platform=SimpleNamespace(name="stewart"),
    )
    assert f"kept apart {way} from" in Identification.summary.fget(found)  # type: ignore[attr-defined]
