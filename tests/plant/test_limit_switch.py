"""Limit switches block what leads out and let pass what leads back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.kernels.plant.limit_switch import gate

pytestmark = pytest.mark.quick


def gated(command: float, lower: float, upper: float) -> float:
    """Return one command behind its switches."""
    out = np.empty(1)
    gate(np.array([command]), np.array([lower]), np.array([upper]), out)
    return float(out[0])


@given(st.floats(-1e6, 1e6))
def test_only_the_outward_direction_is_blocked(command: float) -> None:
    assert gated(command, 0.0, 0.0) == command
    assert gated(command, 1.0, 0.0) == max(command, 0.0)
    assert gated(command, 0.0, 1.0) == min(command, 0.0)
    assert gated(command, 1.0, 1.0) == 0.0


@pytest.mark.parametrize("pressed", [0.0, 1.0])
def test_a_command_that_is_no_number_stays_visible(pressed: float) -> None:
    assert np.isnan(gated(np.nan, pressed, pressed))


def test_every_actuator_has_its_own_switches() -> None:
    out = np.empty(4)
    gate(np.array([1.0, -1.0, 1.0, -1.0]), np.array([0.0, 1.0, 1.0, 0.0]),
         np.array([1.0, 0.0, 0.0, 1.0]), out)  # fmt: skip
    assert out.tolist() == [0.0, 0.0, 1.0, -1.0]
