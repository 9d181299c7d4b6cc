"""The shaken base: the linear model's resonance in all engines, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twin
from twin.analysis.frequency.linear import measure_transmissibility
from twin.errors import InputError

SWEEP: dict[str, Any] = {
    "low": 100.0,
    "high": 300.0,
    "length": 0.2,
    "acceleration": 1.0,
    "decay": 0.15,
    "timestep": 1e-4,
}


@pytest.mark.parametrize(
    "engine", ["analytic", "mujoco", pytest.param("bullet", marks=pytest.mark.slow)]
)
def test_resonance_is_where_the_linear_model_has_it(engine: str) -> None:
    pytest.importorskip({"bullet": "pybullet"}.get(engine, "mujoco"))
    found = measure_transmissibility(twin.load("micro_hexapod"), "y", engine=engine, **SWEEP)
    largest = int(np.abs(found.linear).argmax())
    assert np.abs(found.linear[largest]) > 5.0
    np.testing.assert_allclose(
        found.measured, found.linear, rtol=0, atol=0.02 * np.abs(found.linear[largest])
    )


def test_bad_input_is_refused(subtests: pytest.Subtests) -> None:
    for axis, wrong in [
        ("roll", {}),
        ("x", {"acceleration": 0.0}),
        ("x", {"low": -1.0}),
        ("x", {"decay": np.nan}),
    ]:
        with subtests.test(f"{axis}"), pytest.raises(InputError):
            measure_transmissibility(twin.load("micro_hexapod"), axis, **SWEEP | wrong)
