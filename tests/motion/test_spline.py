"""Splines of long records: solved piece by piece, they are those that are solved at once."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.interpolate import make_interp_spline
from tolerance import assert_within, max_abs

from twin.motion import profiles as spline
from twin.motion.profiles import spline_through

pytestmark = pytest.mark.quick


def test_pieces_are_the_whole(constants):
    random = np.random.default_rng(5)
    time = np.cumsum(random.uniform(0.5e-3, 1.5e-3, 3000))
    values = np.sin(20.0 * time) + 1e-3 * random.normal(size=3000)
    whole = make_interp_spline(time, values, k=5)
    constants(spline, SEGMENT_SIZE=700, SEGMENT_OVERLAP=100)
    found = spline_through(time, values, "z")
    assert_array_equal(found.t, whole.t)
    assert_within(found.c, whole.c, 1e-12)
    for order in (0, 1, 2):
        error = found.derivative(order)(time) - whole.derivative(order)(time)
        assert max_abs(error) < 1e-12 * max_abs(whole.derivative(order)(time)) * 1e3


def test_coefficients_pass_through_the_samples(constants):
    constants(spline, SEGMENT_SIZE=500, SEGMENT_OVERLAP=100)
    time = np.linspace(0.0, 2.0, 2001)
    values = np.cos(7.0 * time)
    assert_within(spline_through(time, values, "z")(time), values, 1e-13)
