"""Every Jacobian and every rate against differences of the function it belongs to."""

import numpy as np
import pytest
from paths import moved
from tolerance import assert_within, max_abs

pytestmark = pytest.mark.quick


STEP = 3e-3
"""In the machine's own time; three Richardson levels leave the sixth power of the step, 1e-17, and
rounding 1e-16 over the smallest difference, 8e-4 of it."""

CLOSE = 1e-11
"""Relative to the largest entry: rounding of the difference quotients."""


def close(found, expected, tolerance=CLOSE):
    """Assert that arrays agree relative to the largest entry."""
    assert max_abs(expected) > 0.0
    assert_within(found, expected, tolerance * max_abs(expected))


def test_differences_are_exact_on_a_known_function(derivative):
    result = derivative(lambda t: np.array([np.sin(3 * t), np.exp(t)]), STEP)
    assert_within(result, [3.0, 1.0], 1e-11)  # rounding / step


def test_jacobian_is_the_derivative_of_the_coordinates(platform, states, derivative, scale):
    rates = derivative(
        lambda t: platform.inverse_kinematics(
            moved(platform, states.pose, states.twist, states.acceleration, t)
        ),
        STEP * scale.time,
    )
    close(rates, np.einsum("kij,kj->ki", platform.jacobian(states.pose), states.twist))


def test_jacobian_derivative(platform, states, derivative, scale):
    expected = derivative(
        lambda t: platform.jacobian(
            moved(platform, states.pose, states.twist, states.acceleration, t)
        ),
        STEP * scale.time,
    )
    close(platform.jacobian_derivative(states.pose, states.twist), expected)


def test_conditions_hold_along_every_motion(platform, states):
    rows = platform.constraints(states.pose)
    assert rows.shape == (len(states.pose), 6 - platform.dof, 6)
    off = np.einsum("kij,kj->ki", rows, states.twist)
    assert_within(off, np.zeros_like(off), 1e-14)


def test_actuator_accelerations_are_consistent(platform, states):
    """Rates of the joints against those of the Jacobian: two closed forms of the same."""
    legs = platform.leg_coordinates(states.pose, states.twist, states.acceleration)
    jacobian = platform.jacobian(states.pose)
    turning = platform.jacobian_derivative(states.pose, states.twist)
    rates = np.einsum("kij,kj->ki", jacobian, states.twist)
    accelerations = np.einsum("kij,kj->ki", jacobian, states.acceleration)
    accelerations += np.einsum("kij,kj->ki", turning, states.twist)
    actuator = 0 if platform.leg.has_crank else -1
    found_rates, found_accelerations = legs.rates[..., actuator], legs.accelerations[..., actuator]
    if platform.kind == "upu":
        slide, twist, gain = 2, 3, platform.leg.twist_gain
        found_rates = legs.rates[..., slide] + gain * legs.rates[..., twist]
        found_accelerations = legs.accelerations[..., slide] + gain * legs.accelerations[..., twist]
    # Rounding alone.
    close(found_rates, rates, 1e-14)
    close(found_accelerations, accelerations, 1e-13)


def test_leg_coordinate_rates_and_accelerations(platform, states, derivative, scale):
    k = platform.n_deflections
    spring, rate = states.deflection[:, :k], states.deflection[:, k:]
    second_rate = 30.0 * spring

    def legs_at(time):
        """Return the coordinates on a motion of constant acceleration of all degrees of freedom."""
        pose = moved(platform, states.pose, states.twist, states.acceleration, time)
        motion = platform.constrain(
            pose, states.twist + states.acceleration * time, states.acceleration
        )
        place = spring + rate * time + 0.5 * second_rate * time**2
        return platform.leg_coordinates(
            *motion,
            deflection=np.hstack([place, rate + second_rate * time]),
            deflection_acceleration=second_rate,
        )

    now = legs_at(0.0)
    step = STEP * scale.time
    close(derivative(lambda t: legs_at(t).values, step), now.rates)
    close(derivative(lambda t: legs_at(t).rates, step), now.accelerations, 10 * CLOSE)
