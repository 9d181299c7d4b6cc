"""What an identification says of itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from twin.identification.result.identification import Identification

pytestmark = pytest.mark.quick


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
