"""Responses of the linearised machine: limits, static stiffness, modes, decays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from tolerance import assert_within

import twin
from twin.analysis.frequency.linear import (
    compliance,
    decay_poles,
    frequency_response,
    linear_modes,
    slowest_shape,
    transmissibility,
)
from twin.analysis.stiffness import compliance_matrix, natural_modes
from twin.control.active_damping import IntegralForceFeedback
from twin.control.linear import linearise


@pytest.fixture(scope="module")
def hexapod():
    return linearise(twin.load("micro_hexapod"))


def test_static_compliance_is_the_analyses(hexapod):
    wanted = compliance_matrix(hexapod.platform)
    found = compliance(hexapod, [0.0])[0]
    assert_within(found, wanted, 1e-9 * np.abs(wanted).max())


def test_base_carries_the_platform_along(hexapod):
    slow, fast = np.abs(transmissibility(hexapod, [1e-2, 2e4]))
    assert_within(slow[:3], np.eye(3), 1e-4)
    assert (np.diag(fast[:3]) < 0.05).all()


def test_modes_are_the_analyses(hexapod):
    own, modes = linear_modes(hexapod).swinging, natural_modes(hexapod.platform)
    assert_allclose(own.frequencies, modes.frequencies, rtol=1e-8)
    assert_allclose(own.damping_ratios, modes.damping_ratios, rtol=1e-6)


def test_damping_lowers_the_resonance(hexapod):
    law = IntegralForceFeedback(hexapod.platform).law
    grid = np.geomspace(20.0, 500.0, 300)
    without = np.abs(transmissibility(hexapod, grid)[:, 0, 0])
    damped = np.abs(transmissibility(hexapod, grid, law=law)[:, 0, 0])
    assert without.max() > 15.0 and damped.max() < 1.5
    assert linear_modes(hexapod, law=law).damping_ratios.min() > 0.5


def test_bad_arguments_are_refused(hexapod):
    with refused():
        frequency_response(hexapod, "forces", "rates", [[1.0]])
    with refused("linearise"):
        frequency_response(hexapod.platform, "forces", "rates", [1.0])


def test_decay_of_known_exponentials():
    poles, period = np.array([-3.0 + 20.0j, -1.0 + 0.0j]), 0.01
    time = period * np.arange(200)
    values = np.exp(poles[0] * time).real + 0.3 * np.exp(poles[1] * time).real
    found = decay_poles(values, period, 3)
    wanted = np.array([-3.0 + 20.0j, -3.0 - 20.0j, -1.0])
    assert_within(np.sort_complex(found), np.sort_complex(wanted), 1e-6)
    with refused():
        decay_poles(np.zeros(200), period, 3)
    with refused():
        decay_poles(values[:8], period, 3)


def test_row_picks_its_mode(hexapod):
    shape, row = slowest_shape(hexapod)
    assert row @ shape == pytest.approx(1.0, abs=1e-9)
