"""The leg's equations from sympy: structure, energies, where they are regular."""

import numpy as np
import pytest
from compliant_lagrange import angles_of, leg_functions

VALUES = (2.0, 8.0, 5.0, 0.08, 0.3, 0.2, 0.21, 5e4, 500.0, 1.0, -2.0, -9.4)
PLACE = (0.3, -0.4, 0.01, 0.1)
RATES = (0.7, -0.5, 0.2, 0.4)


def test_mass_matrix_is_that_of_the_paper():
    """Two angles about perpendicular axes, and a deflection that the follower shares."""
    m1, m2, m3, l1, l2, l3, *_ = VALUES
    radii = np.array([l1 + PLACE[2] / 2, 2 * l1 + PLACE[2] + l2, 2 * l1 + l2 + l3 + sum(PLACE[2:])])
    inertia = np.array([m1, m2, m3]) @ radii**2
    expected = np.zeros((4, 4))
    expected[0, 0], expected[1, 1] = inertia * np.cos(PLACE[1]) ** 2, inertia
    expected[2:, 2:] = [[m1 / 4 + m2 + m3, m3], [m3, m3]]
    found = leg_functions().mass_matrix(PLACE, RATES, VALUES)
    assert found == pytest.approx(expected, abs=1e-13)


def test_bias_is_the_power_at_constant_rates(derivative):
    """Without acceleration the forces h change the energy and feed the damper."""
    functions = leg_functions()
    place, rates = np.array(PLACE), np.array(RATES)

    def total(time):
        return float(functions.energy(place + time * rates, rates, VALUES).sum())

    power = float(derivative(total, 1e-3)) + VALUES[8] * rates[2] ** 2
    assert rates @ functions.bias(place, rates, VALUES)[:, 0] == pytest.approx(power, abs=1e-8)


def test_tip_moves_as_its_jacobian_says(derivative):
    functions = leg_functions()
    place, rates = np.array(PLACE), np.array(RATES)
    velocity = derivative(lambda t: functions.tip(place + t * rates, rates, VALUES)[:, 0], 1e-3)
    jacobian = functions.tip_jacobian(place, rates, VALUES)
    assert velocity == pytest.approx(jacobian @ rates, abs=1e-10)
    drift = derivative(
        lambda t: functions.tip_jacobian(place + t * rates, rates, VALUES) @ rates, 1e-3
    )
    assert functions.tip_bias(place, rates, VALUES)[:, 0] == pytest.approx(drift, abs=1e-10)


def test_a_vertical_leg_is_regular_and_a_lying_one_is_not():
    functions = leg_functions()
    upright = functions.mass_matrix((0.0, 0.0, 0.0, 0.1), RATES, VALUES)
    assert np.linalg.cond(upright[:2, :2]) == pytest.approx(1.0)
    lying = functions.mass_matrix((0.0, np.pi / 2, 0.0, 0.1), RATES, VALUES)
    assert np.linalg.cond(lying) > 1e12
    for direction in ([0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [0.0, -0.6, 0.8]):
        first, second = angles_of(np.array(direction))
        tip = functions.tip((first, second, 0.0, 0.0), RATES, VALUES)[:, 0]
        assert tip / np.linalg.norm(tip) == pytest.approx(direction, abs=1e-15)
