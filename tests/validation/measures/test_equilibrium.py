"""Rest at home, forces that move a machine, and how fast it answers, for every kind of legs."""

import numpy as np
import pytest
from tolerance import max_abs

import twin
from twin.model.machine_base import ZERO_VECTOR
from twin.validation.measures.equilibrium import (
    COMPARED_TIMESTEP,
    MAX_STEP_RATE,
    STIFF_STEP_RATE,
    compared_step,
    fastest_rate,
    rest,
    typical_force,
)


def test_what_holds_a_machine_at_rest_keeps_it_there(platform):
    held = rest(platform)
    acceleration = platform.forward_dynamics(
        platform.home, ZERO_VECTOR, held.forces, deflection=held.deflection
    )
    assert max_abs(acceleration) < 1e-8
    assert held.deflection.shape == (2 * platform.n_deflections,)
    if platform.n_deflections:
        # Springs are pressed by the weight above them, and still.
        assert (held.deflection[: platform.n_deflections] < 0.0).all()
        assert not held.deflection[platform.n_deflections :].any()


def test_fastest_rate_is_that_of_the_stiffest_mode():
    from twin.analysis.stiffness import natural_modes

    stiff = twin.load("micro_hexapod")
    expected = 2.0 * np.pi * natural_modes(stiff).frequencies.max()
    # Damping does not change the size of an oscillation's eigenvalue; gravity does, by 1e-6.
    assert fastest_rate(stiff) == pytest.approx(expected, rel=1e-4)


def test_steps_follow_the_fastest_motion(platform):
    step, rate = compared_step(platform), fastest_rate(platform)
    if rate * COMPARED_TIMESTEP <= MAX_STEP_RATE:
        assert step == COMPARED_TIMESTEP
    else:
        # No longer than allowed, and no shorter than needed.
        assert STIFF_STEP_RATE / 2.0 < step * rate <= STIFF_STEP_RATE


def test_stiff_legs_are_moved_by_more_than_their_weight(stewart):
    assert typical_force(twin.load("micro_hexapod")) > 100.0 * 28.7
    assert typical_force(stewart) == pytest.approx(np.abs(rest(stewart).forces).mean())
