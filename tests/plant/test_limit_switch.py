"""Limit switches block what leads out and let pass what leads back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.kernels.plant.actuation import gated as compiled_gated

pytestmark = pytest.mark.quick

gated = getattr(compiled_gated, "py_func", compiled_gated)


@given(st.floats(-1e6, 1e6))
def test_only_the_outward_direction_is_blocked(command):
    assert gated(command, False, False) == command
    assert gated(command, True, False) == max(command, 0.0)
    assert gated(command, False, True) == min(command, 0.0)
    assert gated(command, True, True) == 0.0


@pytest.mark.parametrize("pressed", [False, True])
def test_a_command_that_is_no_number_stays_visible(pressed):
    assert np.isnan(gated(np.nan, pressed, pressed))
