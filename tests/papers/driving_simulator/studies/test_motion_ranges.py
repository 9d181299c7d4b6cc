"""Motion ranges, what shares the stroke, and the envelope of the plate's centre."""

import numpy as np
import pytest
from paper_plate import PLATE
from scipy.optimize import brentq
from tolerance import assert_within

from twin.papers.driving_simulator.kinematics import (
    ExactKinematics,
    SmallAngleKinematics,
)
from twin.papers.driving_simulator.studies import (
    exact_ranges,
    small_angle_ranges,
    stroke_fractions,
    workspace_surface,
)

MODELS = (SmallAngleKinematics, ExactKinematics)


def overrun(kinematics, coordinates):
    """Return by how much [m] the worst pillar is beyond its stroke; negative inside."""
    away = np.abs(kinematics.inverse(coordinates).lengths - PLATE.home_length)
    return float(away.max() - 0.5 * PLATE.stroke)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_ranges_end_at_the_stroke(model, axis, sign):
    """Found by bisection on the lengths, with the other degrees of freedom held at home."""
    kinematics = model(PLATE)
    ranges = small_angle_ranges(PLATE) if model is SmallAngleKinematics else exact_ranges(PLATE)
    home, unit = np.array([PLATE.home_length, 0.0, 0.0]), sign * np.eye(3)[axis]
    end = brentq(lambda size: overrun(kinematics, home + size * unit), 0.0, 0.3, xtol=1e-14)
    assert ranges[axis] == pytest.approx(end, abs=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_shares_add_up_to_the_stroke(model):
    """Superposition: the sum of the shares is what the worst pillar takes of the stroke."""
    random = np.random.default_rng(2)
    q = random.uniform(-1.0, 1.0, (500, 3)) * [0.06, 0.14, 0.07] + [PLATE.home_length, 0.0, 0.0]
    kinematics = model(PLATE)
    total = stroke_fractions(kinematics, q).sum(axis=1)
    away = np.abs(kinematics.inverse(q).lengths - PLATE.home_length).max(axis=1)
    assert_within(total, away / (0.5 * PLATE.stroke), 1e-13)
    assert 0.05 < (total <= 1.0).mean() < 0.5


@pytest.mark.parametrize("model", MODELS)
def test_surface_is_on_the_limit(model):
    kinematics = model(PLATE)
    surface = workspace_surface(kinematics, 6)
    assert_within(stroke_fractions(kinematics, surface).sum(axis=1), 1.0, 1e-13)
    # An octahedron whose faces are divided in 6: 4 n^2 + 2 points.
    assert len(surface) == 4 * 6**2 + 2
