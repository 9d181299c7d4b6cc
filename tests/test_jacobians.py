"""Every Jacobian and every rate against differences of the function it belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from paths import moved
from twin.platform import Platform

Array = NDArray[np.float64]

STEP = 1e-3
"""[s]; three Richardson levels leave the sixth-order error 1e-18 and rounding 1e-13 / 1e-3."""

CLOSE = 2e-9
"""Rounding of the difference quotients, with rates of the order of ten."""


def test_differences_are_exact_on_a_known_function(derivative: Any) -> None:
    result = derivative(lambda t: np.array([np.sin(3 * t), np.exp(t)]), STEP)
    np.testing.assert_allclose(result, [3.0, 1.0], rtol=0, atol=1e-11)  # rounding / step


def test_jacobian_is_the_derivative_of_the_lengths(
    platform: Platform, states: Any, derivative: Any
) -> None:
    rates = derivative(
        lambda t: platform.inverse_kinematics(
            moved(platform, states.pose, states.twist, states.acceleration, t)
        ),
        STEP,
    )
    expected = np.einsum("kij,kj->ki", platform.jacobian(states.pose), states.twist)
    np.testing.assert_allclose(rates, expected, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("column", range(6))
def test_each_column_of_the_jacobian(
    platform: Platform, states: Any, derivative: Any, column: int
) -> None:
    direction = np.zeros_like(states.twist)
    direction[:, column] = 1.0
    twist = platform.constrain(states.pose, direction).twist
    rates = derivative(
        lambda t: platform.inverse_kinematics(moved(platform, states.pose, twist, 0 * twist, t)),
        STEP,
    )
    expected = np.einsum("kij,kj->ki", platform.jacobian(states.pose), twist)
    if platform.dof == 6:
        np.testing.assert_array_equal(expected, platform.jacobian(states.pose)[:, :, column])
    np.testing.assert_allclose(rates, expected, rtol=0, atol=CLOSE)


def test_jacobian_derivative(platform: Platform, states: Any, derivative: Any) -> None:
    expected = derivative(
        lambda t: platform.jacobian(
            moved(platform, states.pose, states.twist, states.acceleration, t)
        ),
        STEP,
    )
    np.testing.assert_allclose(
        platform.jacobian_derivative(states.pose, states.twist), expected, rtol=0, atol=CLOSE
    )


def test_conditions_hold_along_every_motion(platform: Platform, states: Any) -> None:
    rows = platform.conditions(states.pose)
    assert rows.shape == (len(states.pose), 6 - platform.dof, 6)
    off = np.einsum("kij,kj->ki", rows, states.twist)
    np.testing.assert_allclose(off, np.zeros_like(off), rtol=0, atol=1e-14)


def test_actuator_accelerations_are_consistent(platform: Platform, states: Any) -> None:
    """Rates of the joints against those of the Jacobian: two closed forms of the same."""
    legs = platform.leg_coordinates(states.pose, states.twist, states.acceleration)
    jacobian = platform.jacobian(states.pose)
    turning = platform.jacobian_derivative(states.pose, states.twist)
    rates = np.einsum("kij,kj->ki", jacobian, states.twist)
    accelerations = np.einsum("kij,kj->ki", jacobian, states.acceleration)
    accelerations += np.einsum("kij,kj->ki", turning, states.twist)
    actuator = 0 if platform.kind == "rss" else -1
    found = legs.rates[..., actuator], legs.accelerations[..., actuator]
    # Only rounding of numbers of the order of ten, divided by short lengths.
    np.testing.assert_allclose(found[0], rates, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found[1], accelerations, rtol=1e-12, atol=1e-12)


def test_leg_coordinate_rates_and_accelerations(
    platform: Platform, states: Any, derivative: Any
) -> None:
    k = platform.n_internal
    spring, rate = states.internal[:, :k], states.internal[:, k:]
    second_rate = 3.0 * spring

    def at(time: float) -> Array:
        pose = moved(platform, states.pose, states.twist, states.acceleration, time)
        place = spring + rate * time + 0.5 * second_rate * time**2
        return platform.leg_coordinates(pose, internal=np.hstack([place, rate])).values

    legs = platform.leg_coordinates(
        states.pose,
        states.twist,
        states.acceleration,
        internal=states.internal,
        internal_acceleration=second_rate,
    )
    np.testing.assert_allclose(derivative(at, STEP), legs.rates, rtol=0, atol=CLOSE)

    def second(step: float) -> Array:
        values = [at(k * step) for k in (-1, 0, 1)]
        return np.asarray((values[0] - 2 * values[1] + values[2]) / step**2)

    coarse, middle, fine = (second(h) for h in (8e-3, 4e-3, 2e-3))
    extrapolated = [(4 * b - a) / 3 for a, b in ((coarse, middle), (middle, fine))]
    # Sixth-order error (8e-3)^6 / 64 and rounding 1e-16 / (2e-3)^2, times rates of the order ten.
    np.testing.assert_allclose(
        (16 * extrapolated[1] - extrapolated[0]) / 15, legs.accelerations, rtol=0, atol=1e-8
    )
