"""The map of small-angle errors."""

import numpy as np
import pytest
from paper_plate import PLATE

from twin.papers.driving_simulator.kinematics import ExactKinematics
from twin.papers.driving_simulator.studies import (
    small_angle_errors_at,
    small_angle_ranges,
    stroke_fractions,
    worst_small_angle_errors,
)


def test_worst_errors_follow_the_series():
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


def test_no_error_inside_is_larger_than_on_the_surface():
    ranges = small_angle_ranges(PLATE)
    sizes = (ranges.heave, np.arctan(ranges.roll), np.arctan(ranges.pitch))
    axes = [np.linspace(-size, size, 21) for size in sizes]
    axes[0] = axes[0] + PLATE.home_length
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    inside = grid[stroke_fractions(ExactKinematics(PLATE), grid).sum(axis=1) <= 1.0]
    assert 1000 < len(inside) < 3000
    worst, errors = worst_small_angle_errors(PLATE), small_angle_errors_at(PLATE, inside)
    sizes = (
        np.abs(errors.lengths).max(),
        *np.abs(errors.coordinates).max(axis=0),
        np.linalg.norm(errors.center, axis=-1).max(),
        np.linalg.norm(errors.feet, axis=-1).max(),
    )
    assert all(size <= bound * (1.0 + 1e-9) for size, bound in zip(sizes, worst, strict=True))
