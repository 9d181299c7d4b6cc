"""Closed-form kinematics of the plate on pillars: printed small-angle forms and exact ones."""

import numpy as np
import pytest
from paper_plate import PLATE
from refusals import assert_all_refused, refused
from tolerance import assert_within

from twin.papers.driving_simulator.kinematics import (
    CORNERS,
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


def printed(z, phi, theta):
    """Return the paper's inverse kinematics, line by line."""
    return {
        "hmp_fr": z - (4 * theta) / 5 - (41 * phi) / 100,
        "hmp_rr": (4 * theta) / 5 - (41 * phi) / 100 + z,
        "hmp_rl": (41 * phi) / 100 + (4 * theta) / 5 + z,
        "hmp_fl": (41 * phi) / 100 - (4 * theta) / 5 + z,
        "x_mp": (theta * (80 * theta - 41 * phi + 100 * z)) / 100,
        "y_mp": (41 * phi**2) / 100 - z * phi,
        "x_fr": (8 * theta**2) / 5 + 4 / 5,
        "y_fr": 0 * phi - 41 / 100,
        "x_fl": (8 * theta**2) / 5 - (41 * phi * theta) / 50 + 4 / 5,
        "y_fl": (41 * phi**2) / 50 + 41 / 100,
        "x_rl": -(41 * phi * theta) / 50 - 4 / 5,
        "y_rl": (41 * phi**2) / 50 + 41 / 100,
    }


def printed_names(found):
    """Return a configuration under the paper's names."""
    short = ["".join(part[0] for part in name.split("_")) for name in CORNERS]
    values = {f"hmp_{name}": found.lengths[..., k] for k, name in enumerate(short)}
    for k, name in enumerate(short):
        values |= {f"x_{name}": found.feet[..., k, 0], f"y_{name}": found.feet[..., k, 1]}
    return values | {"x_mp": found.center[..., 0], "y_mp": found.center[..., 1]}


def test_printed_inverse_kinematics():
    q = random_coordinates()
    found = printed_names(SmallAngleKinematics(PLATE).inverse(q))
    for name, expected in printed(*q.T).items():
        assert_within(found[name], expected, ROUNDING, err_msg=name)


def test_example_of_the_paper():
    """Direct kinematics at hrr = 0.19, hrl = 0.189, hfl = 0.1896: three numbers by hand."""
    found = SmallAngleKinematics(PLATE).direct(0.19, 0.189, 0.1896)
    expected = [(0.19 + 0.1896) / 2, (0.189 - 0.19) / 0.82, (0.189 - 0.1896) / 1.6]
    assert_within(found.coordinates, expected, ROUNDING)
    assert_within(found.lengths, [0.1906, 0.1896, 0.189, 0.19], ROUNDING)


@pytest.mark.parametrize("model", MODELS)
def test_inverse_of_direct_is_the_identity(model):
    kinematics = model(PLATE)
    lengths = np.random.default_rng(3).uniform(0.3049, 0.4049, (200, 3))
    found = kinematics.direct(*lengths.T)
    assert_within(found.lengths[:, [3, 2, 1]], lengths, ROUNDING)
    again = kinematics.inverse(found.coordinates)
    for part, same in zip(found, again, strict=True):
        assert_within(part, same, ROUNDING)


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
