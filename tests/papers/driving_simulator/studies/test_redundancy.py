"""Four actuators for three dof: internal force and wrong commands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from paper_plate import PLATE
from scipy.optimize import minimize

from twin.errors import InputError
from twin.papers.driving_simulator.exact import ExactModel
from twin.papers.driving_simulator.kinematics import CORNERS, ExactKinematics, SmallAngleKinematics
from twin.papers.driving_simulator.studies import (
    INTERNAL_FORCE_DIRECTION,
    split_forces,
    wrong_force,
    wrong_length,
)

MODEL = ExactModel(PLATE)

POSE = np.array([0.36, 0.08, -0.03])


def coordinates(count: int = 50) -> Any:
    """Return heave, roll and pitch far from home."""
    random = np.random.default_rng(31)
    return random.uniform(-1.0, 1.0, (count, 3)) * [0.1, 0.6, 0.5] + [0.4, 0.0, 0.0]


def test_internal_pattern_is_the_null_vector_at_every_pose() -> None:
    np.testing.assert_array_equal(2.0 * INTERNAL_FORCE_DIRECTION, [1.0, -1.0, 1.0, -1.0])
    jacobian = MODEL.length_jacobian(coordinates())
    np.testing.assert_allclose(
        np.einsum("n,kni->ki", INTERNAL_FORCE_DIRECTION, jacobian), 0.0, rtol=0, atol=1e-14
    )
    singular = np.linalg.svd(jacobian, compute_uv=False)
    assert singular.min() > 0.5, "no other pattern of forces is without effect"


def test_internal_force_moves_nothing() -> None:
    q = coordinates()
    rates = np.random.default_rng(1).normal(size=q.shape)
    forces = np.random.default_rng(2).normal(size=(len(q), 4)) * 300.0
    plain = MODEL.accelerations(q, rates, forces)
    twisted = MODEL.accelerations(q, rates, forces + 1e3 * INTERNAL_FORCE_DIRECTION)
    np.testing.assert_allclose(twisted, plain, rtol=0, atol=1e-11)


def test_smallest_forces_have_no_internal_part() -> None:
    q = coordinates()
    forces = MODEL.forces(q, np.zeros_like(q), np.ones_like(q))
    np.testing.assert_allclose(split_forces(forces).twisting, 0.0, rtol=0, atol=1e-9)
    larger = forces + 10.0 * INTERNAL_FORCE_DIRECTION
    norms = np.linalg.norm(forces, axis=1) ** 2 + 100.0
    np.testing.assert_allclose(np.linalg.norm(larger, axis=1) ** 2, norms, rtol=1e-12, atol=0)


def test_split_is_orthogonal_and_complete() -> None:
    forces = np.random.default_rng(5).normal(size=(7, 3, 4))
    split = split_forces(forces)
    np.testing.assert_allclose(split.motion + split.twisting, forces, rtol=0, atol=1e-15)
    products = (split.motion * split.twisting).sum(axis=-1)
    np.testing.assert_allclose(products, 0.0, rtol=0, atol=1e-15)
    np.testing.assert_allclose(split_forces(split.twisting).motion, 0.0, rtol=0, atol=1e-15)


@pytest.mark.parametrize("corner", CORNERS)
def test_one_wrong_force_is_a_quarter_internal(corner: str) -> None:
    split, number = wrong_force(corner, 100.0), CORNERS.index(corner)
    np.testing.assert_array_equal(np.abs(split.twisting), 25.0)
    assert split.motion[number] == 75.0
    q = coordinates(1)[0]
    alone = MODEL.accelerations(q, np.zeros(3), 100.0 * np.eye(4)[number])
    same = MODEL.accelerations(q, np.zeros(3), split.motion)
    np.testing.assert_allclose(alone, same, rtol=0, atol=1e-13)
    weightless = MODEL.accelerations(q, np.zeros(3), np.zeros(4))
    assert np.abs(alone - weightless).max() > 0.1, "it does move the plate"


@pytest.mark.parametrize("corner", CORNERS)
@pytest.mark.parametrize("model", [SmallAngleKinematics, ExactKinematics])
def test_one_wrong_length_twists_and_tilts(corner: str, model: Any) -> None:
    offset, stiffness = 2e-3, 1e6
    found = wrong_length(PLATE, POSE, corner, offset, stiffness, model)
    number = CORNERS.index(corner)
    sign = np.sign(INTERNAL_FORCE_DIRECTION[number])
    expected = 0.5 * sign * stiffness * offset * INTERNAL_FORCE_DIRECTION
    np.testing.assert_allclose(found.forces, expected, rtol=0, atol=1e-6)
    assert found.forces[number] == pytest.approx(0.25 * stiffness * offset)
    kinematics = model(PLATE)
    lengths = kinematics.inverse(found.coordinates).lengths
    np.testing.assert_allclose(lengths, found.lengths, rtol=0, atol=1e-15)
    assert lengths @ INTERNAL_FORCE_DIRECTION == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("model", [SmallAngleKinematics, ExactKinematics])
def test_pose_is_where_the_loops_have_least_energy(model: Any) -> None:
    """Found by a minimiser that knows nothing of slopes, for an offset far beyond small."""
    offset, stiffness = 0.05, 1e5
    kinematics = model(PLATE)
    command = kinematics.inverse(POSE).lengths + offset * np.eye(4)[3]

    def energy(q: Any) -> float:
        # In units in which the minimum is of size one.
        return float(((kinematics.inverse(q).lengths - command) ** 2).sum() / offset**2)

    best = minimize(energy, POSE, method="BFGS", options={"gtol": 1e-10})
    found = wrong_length(PLATE, POSE, "rear_right", offset, stiffness, model)
    np.testing.assert_allclose(found.coordinates, best.x, rtol=0, atol=1e-7)
    assert energy(found.coordinates) == pytest.approx(0.25, abs=1e-12)


def test_pose_error_of_a_level_plate() -> None:
    """A quarter of the offset in heave, offset / 4 over the arms in the angles."""
    found = wrong_length(PLATE, [0.3549, 0, 0], "rear_right", 1e-3, 1e6, SmallAngleKinematics)
    shift = found.coordinates - [0.3549, 0.0, 0.0]
    expected = [1e-3 / 4, -1e-3 / (4 * 0.41), 1e-3 / (4 * 0.8)]
    np.testing.assert_allclose(shift, expected, rtol=0, atol=1e-15)


def test_refused_arguments() -> None:
    with pytest.raises(InputError, match="coordinates"):
        wrong_length(PLATE, [0.35, 0.0], "rear_right", 1e-3, 1e6)
    with pytest.raises(InputError, match="forces"):
        split_forces([1.0, 2.0, 3.0])
