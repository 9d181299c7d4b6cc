"""Closed-form kinematics of the plate on pillars: printed small-angle forms and exact ones."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from paper_plate import PLATE
from refusals import refused
from scipy.spatial.transform import Rotation
from tolerance import assert_within, max_abs

from twin.papers.driving_simulator.kinematics import (
    CORNERS,
    FIXED_CORNER,
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


def test_printed_inverse_kinematics(subtests):
    for name in printed(np.zeros(1), np.zeros(1), np.zeros(1)):
        with subtests.test(f"{name}"):
            q = random_coordinates()
            found = printed_names(SmallAngleKinematics(PLATE).inverse(q))
            assert_within(found[name], printed(*q.T)[name], ROUNDING)


def graph_equations(q, values):
    """Return the twelve printed T-graph equations; each must be zero."""
    z, phi, theta = q.T
    v = values
    sigma = 4 * phi * theta / 5
    return np.stack(
        [
            v["hmp_rr"] * theta - v["x_mp"],
            sigma - v["hmp_rr"] * phi - v["y_mp"],
            v["hmp_rr"] + 41 * phi / 100 - 4 * theta / 5 - z,
            v["x_fl"] - v["x_mp"] + v["hmp_fl"] * theta - 4 / 5,
            v["y_fl"] - v["y_mp"] - v["hmp_fl"] * phi - sigma - 41 / 100,
            v["hmp_fl"] - 41 * phi / 100 + 4 * theta / 5 - z,
            v["x_fr"] - v["x_mp"] + v["hmp_fr"] * theta - 4 / 5,
            v["y_fr"] - v["y_mp"] - v["hmp_fr"] * phi - sigma + 41 / 100,
            v["hmp_fr"] + 41 * phi / 100 + 4 * theta / 5 - z,
            v["x_rl"] - v["x_mp"] + v["hmp_rl"] * theta + 4 / 5,
            v["y_rl"] - v["y_mp"] - v["hmp_rl"] * phi + sigma - 41 / 100,
            v["hmp_rl"] - 41 * phi / 100 - 4 * theta / 5 - z,
        ]
    )


def test_printed_graph_equations():
    q = random_coordinates()
    found = printed_names(SmallAngleKinematics(PLATE).inverse(q))
    assert_within(graph_equations(q, found), 0.0, ROUNDING)


def test_example_of_the_paper():
    """Direct kinematics at hrr = 0.19, hrl = 0.189, hfl = 0.1896: three numbers by hand."""
    found = SmallAngleKinematics(PLATE).direct(0.19, 0.189, 0.1896)
    expected = [(0.19 + 0.1896) / 2, (0.189 - 0.19) / 0.82, (0.189 - 0.1896) / 1.6]
    assert_within(found.coordinates, expected, ROUNDING)
    assert_within(found.lengths, [0.1906, 0.1896, 0.189, 0.19], ROUNDING)
    values = printed_names(found)
    equations = graph_equations(found.coordinates[None], {k: v[None] for k, v in values.items()})
    assert_within(equations, 0.0, ROUNDING)


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
def test_lengths_across_the_diagonals_have_one_sum(model):
    lengths = model(PLATE).inverse(random_coordinates()).lengths
    assert_within(lengths @ [1, -1, 1, -1], 0.0, ROUNDING)


def solved(q):
    """Return lengths and feet by solving, for all pillars, foot = corner - length * normal.

    Unknown are x and y of the centre and four lengths; feet are on the floor, one is fixed.
    """
    turn = Rotation.from_euler("XY", q[1:]).as_matrix()
    arms = np.hstack([PLATE.corners, np.zeros((4, 1))]) @ turn.T

    def feet(unknown):
        center = np.array([*unknown[:2], q[0]])
        return np.asarray(center + arms - unknown[2:, None] * turn[:, 2])

    def gaps(unknown):
        places = feet(unknown)
        return np.concatenate(
            [places[:, 2], places[FIXED_CORNER, :2] - PLATE.corners[FIXED_CORNER]]
        )

    constant = gaps(np.zeros(6))
    linear = np.stack([gaps(column) - constant for column in np.eye(6)], axis=1)
    unknown = np.linalg.solve(linear, -constant)
    return unknown[2:], feet(unknown)


def test_exact_closed_forms_solve_the_geometry():
    for q in random_coordinates(20):
        lengths, feet = solved(q)
        found = ExactKinematics(PLATE).inverse(q)
        assert_within(found.lengths, lengths, 1e-14)
        assert_within(found.feet, feet[:, :2], 1e-14)


def test_fixed_foot_stays():
    for model in MODELS:
        motion = model(PLATE).inverse_motion(random_coordinates(), 1.0 + np.zeros(3), np.ones(3))
        assert_array_equal(motion.value.feet[:, FIXED_CORNER] - PLATE.corners[FIXED_CORNER], 0.0)
        assert_within(motion.rate.feet[:, FIXED_CORNER], 0.0, ROUNDING)


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


@pytest.mark.parametrize(
    ("part", "order"), [("lengths", 2), ("coordinates", 2), ("center", 2), ("feet", 2)]
)
def test_small_angle_model_is_the_first_order_of_the_exact_one(part, order):
    """Halving the displacement from home divides the difference by two to the order."""
    direction = np.array([0.02, 0.1, -0.05])

    def difference(size):
        q = np.array([PLATE.home_length, 0.0, 0.0]) + size * direction
        exact, small = (
            model(PLATE).inverse(q) for model in (ExactKinematics, SmallAngleKinematics)
        )
        if part == "coordinates":
            right, left, front = exact.lengths[[3, 2, 1]]
            return float(max_abs(SmallAngleKinematics(PLATE).direct(right, left, front)[0] - q))
        return float(max_abs(getattr(exact, part) - getattr(small, part)))

    rates = [np.log2(difference(size) / difference(size / 2)) for size in (0.1, 0.05)]
    assert_within(rates, order, 0.05)


def test_batches_broadcast():
    found = ExactKinematics(PLATE).direct(0.35, np.full((4, 1), 0.36), np.full(5, 0.34))
    assert found.coordinates.shape == (4, 5, 3)
    assert found.feet.shape == (4, 5, 4, 2)
    assert ExactKinematics(PLATE).inverse(np.zeros((0, 3))).lengths.shape == (0, 4)


def test_refused_coordinates(subtests):
    for coordinates in [[0.35, 0.0], [0.35, np.nan, 0.0], [0.35, 1.6, 0.0], "level", None]:
        with subtests.test(f"{coordinates}"), refused("coordinates"):
            ExactKinematics(PLATE).inverse(coordinates)


def test_lengths_that_do_not_broadcast_are_refused():
    with refused("rear_right"):
        ExactKinematics(PLATE).direct(np.zeros(3), np.zeros(4), 0.35)
