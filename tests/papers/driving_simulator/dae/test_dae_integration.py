"""Integration of the index-1 system: consistent starts, drift, and the answer known beforehand."""

import numpy as np
import pytest
from paper_plate import PAPER, PLATE
from tolerance import assert_within, max_abs

from twin.errors import IntegrationError
from twin.papers.driving_simulator.dae.integration import (
    integrate_dae,
    numeric_dae,
)
from twin.papers.driving_simulator.exact import (
    DrivenLengths,
    ExactModel,
    InputSample,
    SineInput,
    sigmoid_inputs,
    sinusoidal_inputs,
)

INPUTS = {"sinusoidal": sinusoidal_inputs(PAPER), "sigmoid": sigmoid_inputs(PAPER)}


def printed_sine(k, t):
    """Return f_1, f_2, f_3 of the paper's sinusoidal inputs."""
    return (
        np.sin(t) / 40 + 3549 / 10000,
        np.sin(11 * t / 10) / 1000 + 3549 / 10000,
        3 * np.sin(t) / 100 + 3549 / 10000,
    )[k]


def printed_sigmoid(k, t):
    """Return f_1, f_2, f_3 of the paper's sigmoid inputs."""
    below = np.exp(5 - 5 * t) + 1
    return (17 / (200 * below), 1 / (20 * below), 1243 / (20000 * below))[k]


@pytest.mark.parametrize("k", range(3))
def test_inputs_as_printed(k):
    time = np.linspace(0.0, 10.0, 101)
    sine = INPUTS["sinusoidal"][k].sample(time).value
    assert_within(sine, printed_sine(k, time), 1e-16)
    sigmoid = INPUTS["sigmoid"][k].sample(time).value
    shifted = PAPER.minimum_length + printed_sigmoid(k, time)
    assert_within(sigmoid, shifted, 2e-16)


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("k", range(3))
def test_derivatives_of_inputs(name, k, derivative):
    pillar, time = INPUTS[name][k], np.linspace(0.0, 3.0, 31)
    sample = pillar.sample(time)
    for order in (0, 1):
        slope = derivative(lambda t, order=order: pillar.sample(time + t)[order], 1e-3)
        # Rounding 1e-17 over the step.
        assert_within(slope, sample[order + 1], 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("plate", [PAPER, PLATE])
@pytest.mark.parametrize(("complete", "order"), [(False, 1.0), (True, 2.0)])
def test_order_in_which_forces_approach_the_exact_ones(plate, complete, order):
    """Halving a motion about home halves the error of the printed model, quarters the complete's.

    The printed forces are thus wrong by a fixed part of all that the motion adds to the weight.
    """
    exact, dae = ExactModel(plate), numeric_dae(plate, complete)

    def difference(size):
        inputs = DrivenLengths(
            *(SineInput(plate.home_length, size * part, 5.0) for part in (0.04, -0.02, -0.03))
        )
        worst = 0.0
        for time in np.linspace(0.1, 1.2, 7):
            sample = inputs.sample(float(time))
            levels = [dae.consistent(part) for part in sample]
            small = -dae.multipliers(levels[0], levels[1], sample)[4:]
            forces = exact.forces(*(level[:3] for level in levels), pushing=[0, 1, 2])
            worst = max(worst, max_abs(forces[[0, 2, 1]] - small))
        return worst

    rates = [np.log2(difference(size) / difference(size / 2)) for size in (0.02, 0.01)]
    assert_within(rates, order, 0.05)


class Broken:
    """A length that is no number after a second."""

    def scaled(self, share):
        """Return the input: it has no size."""
        return self

    def sample(self, time):
        """Return 0.35 m at rest, then NaN."""
        length = np.where(np.asarray(time) < 1.0, 0.35, np.nan)
        return InputSample(length, 0.0 * length, 0.0 * length)


def test_an_integration_that_stops_says_when():
    inputs = DrivenLengths(*(Broken() for _ in range(3)))
    with pytest.raises(IntegrationError) as caught:
        integrate_dae(PAPER, inputs, 2.0)
    assert 0.9 < caught.value.data["time"] <= 1.0
