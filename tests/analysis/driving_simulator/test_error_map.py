"""The map of small-angle errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from paper_plate import PLATE

from twin.analysis.driving_simulator import ErrorMap, small_angle_errors
from twin.dynamics.dae import ExactKinematics, SmallAngleKinematics
from twin.errors import InputError


@pytest.fixture(scope="module")
def errors() -> ErrorMap:
    """A coarse map; an odd count holds home and the corners of the workspace."""
    return small_angle_errors(PLATE, 21)


def test_map_covers_the_workspace_and_nothing_else(errors: ErrorMap) -> None:
    grid = np.stack(np.meshgrid(*errors[:3], indexing="ij"), axis=-1)
    inside = ExactKinematics(PLATE).within_stroke(grid)
    assert 0.1 < inside.mean() < 0.3
    for values in errors[3:]:
        known = np.isfinite(values).reshape((*inside.shape, -1)).all(axis=-1)
        np.testing.assert_array_equal(known, inside)


def test_a_level_plate_has_no_error(errors: ErrorMap) -> None:
    middle = len(errors.roll) // 2
    for values in errors[3:]:
        level = values[1:-1, middle, middle]
        np.testing.assert_allclose(level, 0.0, rtol=0, atol=1e-15)


def test_entries_are_small_angle_minus_exact(errors: ErrorMap) -> None:
    i, j, k = 10, 13, 8
    q = np.array([errors.heave[i], errors.roll[j], errors.pitch[k]])
    exact, small = ExactKinematics(PLATE).inverse(q), SmallAngleKinematics(PLATE).inverse(q)
    np.testing.assert_allclose(errors.lengths[i, j, k], small.lengths - exact.lengths, atol=0)
    np.testing.assert_allclose(errors.center[i, j, k], (small.center - exact.center)[:2], atol=0)
    np.testing.assert_allclose(errors.feet[i, j, k], small.feet - exact.feet, atol=0)
    lengths = exact.lengths
    found = SmallAngleKinematics(PLATE).direct(lengths[3], lengths[2], lengths[1])
    np.testing.assert_allclose(errors.coordinates[i, j, k], found.coordinates - q, atol=0)


def test_worst_errors_follow_the_series(errors: ErrorMap) -> None:
    """By hand, at full roll: heave h (1 - cos), foot 2 b (2 phi^2 / 2 - (1 / cos - 1))."""
    worst = errors.worst
    roll = np.arctan(0.05 / 0.41)
    assert worst.heave == pytest.approx(0.3549 * (1 / np.cos(roll) - 1) * np.cos(roll), rel=0.1)
    assert worst.roll == pytest.approx(np.tan(roll) - roll, rel=0.3)
    assert 2e-3 < worst.length < 3e-3
    assert worst.foot == pytest.approx(0.41 * roll**2 * 0.9, rel=0.1)
    assert worst.pitch < 1e-4


def test_a_finer_map_finds_no_larger_error(errors: ErrorMap) -> None:
    finer = small_angle_errors(PLATE, 41).worst
    for coarse, fine in zip(errors.worst, finer, strict=True):
        assert coarse <= fine <= 1.05 * coarse


@pytest.mark.parametrize("count", [1, 202, 10.0, True, None])
def test_refused_count(count: Any) -> None:
    with pytest.raises(InputError, match="count"):
        small_angle_errors(PLATE, count)
