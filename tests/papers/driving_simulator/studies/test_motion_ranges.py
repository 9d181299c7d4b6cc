"""Motion ranges, what shares the stroke, and the envelope of the plate's centre."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from paper_plate import PLATE
from scipy.optimize import brentq
from scipy.spatial import ConvexHull
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

EDGE = 1e-12
"""[m] Beyond the stroke by this much is rounding."""


def test_ranges_as_printed():
    ranges = small_angle_ranges(PLATE)
    assert ranges.heave == pytest.approx(0.05, abs=1e-15)
    assert np.degrees(ranges.pitch) == pytest.approx(3.581, abs=5e-4)
    assert np.degrees(ranges.roll) == pytest.approx(6.9873, abs=5e-5)


def within_stroke(kinematics, coordinates):
    return stroke_fractions(kinematics, coordinates).sum(axis=-1) <= 1.0


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


def test_freedoms_together_have_a_sixth_of_the_separate_ranges():
    random = np.random.default_rng(8)
    q = random.uniform(-1.0, 1.0, (200_000, 3)) * np.array(small_angle_ranges(PLATE))
    q[:, 0] += PLATE.home_length
    inside = within_stroke(SmallAngleKinematics(PLATE), q)
    assert inside.mean() == pytest.approx(1 / 6, abs=0.005)


@pytest.mark.parametrize("model", MODELS)
def test_surface_is_on_the_limit(model):
    kinematics = model(PLATE)
    surface = workspace_surface(kinematics, 6)
    assert_within(stroke_fractions(kinematics, surface).sum(axis=1), 1.0, 1e-13)
    # An octahedron whose faces are divided in 6: 4 n^2 + 2 points.
    assert len(surface) == 4 * 6**2 + 2


@pytest.mark.parametrize("model", MODELS)
def test_envelope_holds_every_place_within_the_stroke(model):
    kinematics = model(PLATE)
    envelope = kinematics.inverse(workspace_surface(kinematics, 24)).center
    random = np.random.default_rng(9)
    q = random.uniform(-1.0, 1.0, (3000, 3)) * [0.05, 0.122, 0.0625]
    q += [PLATE.home_length, 0.0, 0.0]
    center = kinematics.inverse(q[within_stroke(kinematics, q)]).center
    assert len(center) > 300
    faces = ConvexHull(envelope).equations
    # The surface bends inwards by less than a millimetre, so its hull holds a little more.
    assert (center @ faces[:, :3].T + faces[:, 3]).max() < 1e-6
    low, high = envelope.min(axis=0), envelope.max(axis=0)
    assert (center >= low - 1e-6).all()
    assert (center <= high + 1e-6).all()


def test_extent_of_the_envelope():
    """Heave is the stroke; sideways the centre moves by about home length times the angle."""
    kinematics = ExactKinematics(PLATE)
    envelope = kinematics.inverse(workspace_surface(kinematics, 30)).center
    low, high = envelope.min(axis=0), envelope.max(axis=0)
    assert (low[2], high[2]) == pytest.approx((0.3049, 0.4049), abs=EDGE)
    reach = PLATE.home_length * np.array([exact_ranges(PLATE).pitch, exact_ranges(PLATE).roll])
    assert_allclose(0.5 * (high - low)[:2], reach, rtol=0.06)
