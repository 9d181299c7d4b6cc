"""The map of small-angle errors."""

from __future__ import annotations

import numpy as np
import pytest
from paper_plate import PLATE

from twin.papers.driving_simulator.kinematics import ExactKinematics, SmallAngleKinematics
from twin.papers.driving_simulator.studies import (
    ErrorMap,
    small_angle_errors,
    small_angle_errors_at,
    worst_small_angle_errors,
)


@pytest.fixture(scope="module")
def grid() -> ErrorMap:
    """A coarse map; an odd count holds home."""
    return small_angle_errors(PLATE, 21)


def test_map_covers_the_workspace_and_nothing_else(grid: ErrorMap) -> None:
    poses = np.stack(np.meshgrid(*grid[:3], indexing="ij"), axis=-1)
    inside = ExactKinematics(PLATE).within_stroke(poses)
    assert 0.1 < inside.mean() < 0.3
    for values in grid[3:7]:
        known = np.isfinite(values).reshape((*inside.shape, -1)).all(axis=-1)
        np.testing.assert_array_equal(known, inside)


def test_a_level_plate_has_no_error(grid: ErrorMap) -> None:
    middle = len(grid.roll) // 2
    for values in grid[3:7]:
        level = values[1:-1, middle, middle]
        np.testing.assert_allclose(level, 0.0, rtol=0, atol=1e-15)


def test_entries_are_small_angle_minus_exact(grid: ErrorMap) -> None:
    i, j, k = 10, 13, 8
    q = np.array([grid.heave[i], grid.roll[j], grid.pitch[k]])
    exact, small = ExactKinematics(PLATE).inverse(q), SmallAngleKinematics(PLATE).inverse(q)
    lengths = exact.lengths
    found = SmallAngleKinematics(PLATE).direct(lengths[3], lengths[2], lengths[1])
    expected = (
        small.lengths - lengths,
        found.coordinates - q,
        (small.center - exact.center)[:2],
        small.feet - exact.feet,
    )
    for values, one, wanted in zip(
        grid[3:7], small_angle_errors_at(PLATE, q), expected, strict=True
    ):
        np.testing.assert_allclose(values[i, j, k], wanted, rtol=0, atol=1e-16)
        np.testing.assert_allclose(one, wanted, rtol=0, atol=1e-16)


def test_worst_errors_follow_the_series() -> None:
    """By hand at full roll, of what the closed forms leave there."""
    worst, home, width = worst_small_angle_errors(PLATE), PLATE.home_length, PLATE.half_width
    roll = np.arctan(0.05 / 0.41)
    assert worst.heave == pytest.approx(home * (1 - np.cos(roll)), rel=1e-12)
    assert worst.roll == pytest.approx(np.tan(roll) - roll, rel=1e-12)
    foot = 2 * width * (roll**2 - (1 / np.cos(roll) - 1))
    assert worst.foot == pytest.approx(foot, rel=0.01)
    # Where roll raises a pillar the error of the length has the same sign as that of the slope.
    assert home * (1 / np.cos(roll) - 1) < worst.length < 4e-3
    assert worst.pitch < 1e-4


def test_no_error_inside_is_larger_than_on_the_surface(grid: ErrorMap) -> None:
    worst = grid.worst
    assert worst == worst_small_angle_errors(PLATE)
    heave, roll, pitch = np.nanmax(np.abs(grid.coordinates), axis=(0, 1, 2))
    inside = (
        np.nanmax(np.abs(grid.lengths)),
        heave,
        roll,
        pitch,
        np.nanmax(np.linalg.norm(grid.center, axis=-1)),
        np.nanmax(np.linalg.norm(grid.feet, axis=-1)),
    )
    for largest, bound in zip(inside, worst, strict=True):
        assert 0.5 * bound < largest <= bound
