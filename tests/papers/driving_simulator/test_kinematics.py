"""Closed-form kinematics of the plate on pillars: printed small-angle forms and exact ones."""

import numpy as np
import pytest
from paper_plate import PLATE
from refusals import assert_all_refused, refused
from tolerance import assert_within

from twin.papers.driving_simulator.kinematics import (
    ExactKinematics,
    SmallAngleKinematics,
)

MODELS = (SmallAngleKinematics, ExactKinematics)

ROUNDING = 1e-15
"""[m], [rad] A few operations on numbers of size one."""


def random_coordinates(count=200):
    """Return heave, roll and pitch well beyond the stroke."""
    random = np.random.default_rng(11)
    return random.uniform(-1.0, 1.0, (count, 3)) * [0.1, 0.3, 0.2] + [0.35, 0.0, 0.0]


def test_example_of_the_paper():
    """Direct kinematics at hrr = 0.19, hrl = 0.189, hfl = 0.1896: three numbers by hand."""
    found = SmallAngleKinematics(PLATE).direct(0.19, 0.189, 0.1896)
    expected = [(0.19 + 0.1896) / 2, (0.189 - 0.19) / 0.82, (0.189 - 0.1896) / 1.6]
    assert_within(found.coordinates, expected, ROUNDING)
    assert_within(found.lengths, [0.1906, 0.1896, 0.189, 0.19], ROUNDING)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("way", ["inverse", "direct"])
def test_rates_and_accelerations(model, way, derivative):
    kinematics = model(PLATE)
    random = np.random.default_rng(5)
    value = random_coordinates(50)
    if way == "direct":
        value = random.uniform(0.3049, 0.4049, (50, 3))
    rate, acceleration = random.normal(size=(2, 50, 3))

    def at(time):
        now = value + rate * time + 0.5 * acceleration * time**2
        slope = rate + acceleration * time
        motion = getattr(kinematics, f"{way}_motion")(now, slope, acceleration)
        return np.stack(
            [np.hstack([part.reshape(50, -1) for part in level]) for level in motion[:2]]
        )

    motion = getattr(kinematics, f"{way}_motion")(value, rate, acceleration)
    expected = [np.hstack([part.reshape(50, -1) for part in level]) for level in motion[1:]]
    # Rounding 1e-16 over the step, for numbers of the order of ten.
    assert_within(derivative(at, 1e-3), expected, 1e-10)


def test_batches_broadcast():
    found = ExactKinematics(PLATE).direct(0.35, np.full((4, 1), 0.36), np.full(5, 0.34))
    assert found.feet.shape == (4, 5, 4, 2)
    assert ExactKinematics(PLATE).inverse(np.zeros((0, 3))).lengths.shape == (0, 4)


def test_refused_coordinates():
    kinematics = ExactKinematics(PLATE)
    upside_down = [0.35, 1.6, 0.0]
    assert_all_refused(
        kinematics.inverse, [([0.35, 0.0], "coordinates"), (upside_down, "coordinates")]
    )
    with refused("rear_right"):
        kinematics.direct(np.zeros(3), np.zeros(4), 0.35)
