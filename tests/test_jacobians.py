"""Every Jacobian and every rate against differences of the function it belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from twin.platform import Platform

Array = NDArray[np.float64]

STEP = 1e-3
"""[s]; three Richardson levels leave the sixth-order error 1e-18 and rounding 1e-13 / 1e-3."""

CLOSE = 2e-9
"""Rounding of the difference quotients, with rates of the order of ten."""


def moved(pose: Array, twist: Array, acceleration: Array, time: float) -> Array:
    """Return poses that pass `pose` at time 0 with this twist and acceleration.

    The rotation vector omega t + alpha t^2 / 2 has angular velocity omega and acceleration alpha
    at t = 0.
    """
    path = twist * time + 0.5 * acceleration * time**2
    turned = Rotation.from_rotvec(path[:, 3:]) * Rotation.from_quat(pose[:, [4, 5, 6, 3]])
    return np.hstack([pose[:, :3] + path[:, :3], turned.as_quat()[:, [3, 0, 1, 2]]])


def test_differences_are_exact_on_a_known_function(derivative: Any) -> None:
    result = derivative(lambda t: np.array([np.sin(3 * t), np.exp(t)]), STEP)
    np.testing.assert_allclose(result, [3.0, 1.0], rtol=0, atol=1e-11)  # rounding / step


def test_jacobian_is_the_derivative_of_the_lengths(
    platform: Platform, states: Any, derivative: Any
) -> None:
    rates = derivative(
        lambda t: platform.inverse_kinematics(
            moved(states.pose, states.twist, states.acceleration, t)
        ),
        STEP,
    )
    expected = np.einsum("kij,kj->ki", platform.jacobian(states.pose), states.twist)
    np.testing.assert_allclose(rates, expected, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("column", range(6))
def test_each_column_of_the_jacobian(
    platform: Platform, states: Any, derivative: Any, column: int
) -> None:
    twist = np.zeros_like(states.twist)
    twist[:, column] = 1.0
    rates = derivative(
        lambda t: platform.inverse_kinematics(moved(states.pose, twist, 0 * twist, t)), STEP
    )
    np.testing.assert_allclose(
        rates, platform.jacobian(states.pose)[:, :, column], rtol=0, atol=CLOSE
    )


def test_jacobian_derivative(platform: Platform, states: Any, derivative: Any) -> None:
    expected = derivative(
        lambda t: platform.jacobian(moved(states.pose, states.twist, states.acceleration, t)), STEP
    )
    np.testing.assert_allclose(
        platform.jacobian_derivative(states.pose, states.twist), expected, rtol=0, atol=CLOSE
    )


def test_leg_accelerations_are_consistent(platform: Platform, states: Any) -> None:
    legs = platform.leg_coordinates(states.pose, states.twist, states.acceleration)
    jacobian = platform.jacobian(states.pose)
    turning = platform.jacobian_derivative(states.pose, states.twist)
    rates = np.einsum("kij,kj->ki", jacobian, states.twist)
    accelerations = np.einsum("kij,kj->ki", jacobian, states.acceleration)
    accelerations += np.einsum("kij,kj->ki", turning, states.twist)
    # Two closed forms of the same quantities: only rounding of numbers of the order of ten.
    np.testing.assert_allclose(legs.length_rates, rates, rtol=0, atol=1e-13)
    np.testing.assert_allclose(legs.length_accelerations, accelerations, rtol=0, atol=1e-12)


def test_leg_coordinate_rates_and_accelerations(
    platform: Platform, states: Any, derivative: Any
) -> None:
    def at(time: float) -> Array:
        pose = moved(states.pose, states.twist, states.acceleration, time)
        legs = platform.leg_coordinates(pose)
        return np.concatenate([legs.angles, legs.lengths[..., None]], axis=-1)

    legs = platform.leg_coordinates(states.pose, states.twist, states.acceleration)
    rates = np.concatenate([legs.angle_rates, legs.length_rates[..., None]], axis=-1)
    np.testing.assert_allclose(derivative(at, STEP), rates, rtol=0, atol=CLOSE)

    accelerations = np.concatenate(
        [legs.angle_accelerations, legs.length_accelerations[..., None]], axis=-1
    )

    def second(step: float) -> Array:
        values = [at(k * step) for k in (-1, 0, 1)]
        return np.asarray((values[0] - 2 * values[1] + values[2]) / step**2)

    coarse, middle, fine = (second(h) for h in (8e-3, 4e-3, 2e-3))
    extrapolated = [(4 * b - a) / 3 for a, b in ((coarse, middle), (middle, fine))]
    # Sixth-order error (8e-3)^6 / 64 and rounding 1e-16 / (2e-3)^2, times rates of the order ten.
    np.testing.assert_allclose(
        (16 * extrapolated[1] - extrapolated[0]) / 15, accelerations, rtol=0, atol=1e-8
    )
