"""The motion of the plate that the paper's inputs drive."""

from __future__ import annotations

import numpy as np
import pytest
from paper_plate import PLATE
from tolerance import assert_within

from twin.papers.driving_simulator.exact import (
    sigmoid_inputs,
    sinusoidal_inputs,
)
from twin.papers.driving_simulator.studies import driven_motion

INPUTS = {"sinusoidal": sinusoidal_inputs(PLATE), "sigmoid": sigmoid_inputs(PLATE)}


@pytest.mark.parametrize("name", INPUTS)
def test_driven_motion_follows_the_inputs(name, derivative):
    inputs, time = INPUTS[name], np.linspace(0.1, 3.0, 11)
    motion = driven_motion(PLATE, inputs, time)
    sample = inputs.sample(time)
    for level, wanted in zip(motion, sample, strict=True):
        assert_within(level.lengths[:, [0, 2, 1]], wanted, 1e-15)
    slope = derivative(lambda t: driven_motion(PLATE, inputs, time + t).value.coordinates, 1e-3)
    assert_within(slope, motion.rate.coordinates, 1e-12)
