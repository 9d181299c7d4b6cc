"""Leg limits and the distance from singular poses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from twin.errors import SingularPoseError
from twin.platform import Platform


def test_limits_are_those_of_every_leg(platform: Platform) -> None:
    random = np.random.default_rng(3)
    position = platform.home[:3] + random.uniform(-0.3, 0.3, (500, 3))
    turn = Rotation.from_rotvec(random.uniform(-0.3, 0.3, (500, 3)))
    poses = np.hstack([position, turn.as_quat()[:, [3, 0, 1, 2]]])
    lengths = platform.inverse_kinematics(poses)
    expected = [
        all(
            low <= length <= high
            for low, length, high in zip(
                platform.minimum_lengths, row, platform.maximum_lengths, strict=True
            )
        )
        for row in lengths
    ]
    assert 0 < sum(expected) < len(expected), "the draw must hold poses on both sides"
    np.testing.assert_array_equal(platform.within_limits(poses), expected)


def test_limits_themselves_are_inside(platform: Platform) -> None:
    for limit in (platform.minimum_lengths, platform.maximum_lengths):
        pose = platform.forward_kinematics(limit)
        assert platform.within_limits(pose)
    outside = platform.forward_kinematics(platform.maximum_lengths + 1e-9)
    assert not platform.within_limits(outside)


def test_condition_number_does_not_depend_on_the_unit_of_length(
    platform: Platform, states: Any
) -> None:
    size = np.linalg.norm(platform.platform_joints, axis=1).mean()
    scaled = platform.jacobian(states.pose) / np.r_[1, 1, 1, size, size, size]
    # Two ways through LAPACK: rounding times the condition number, below 100.
    np.testing.assert_allclose(
        platform.condition_number(states.pose), np.linalg.cond(scaled), rtol=1e-12
    )
    assert (platform.condition_number(states.pose) >= 1.0).all()


def test_flat_srspm_is_singular(srspm: Platform) -> None:
    """With the platform in the plane of the base the legs cannot hold it: no vertical force."""
    flat = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    numbers = srspm.condition_number([[0, 0, z, 1, 0, 0, 0] for z in (1.0, 0.1, 0.01, 0.001)])
    assert (np.diff(numbers) > 0).all()
    # Near the singular pose the smallest singular value is proportional to the height.
    assert numbers[3] / numbers[2] == pytest.approx(10.0, rel=1e-2)
    assert srspm.condition_number(flat) > 1e15
    with pytest.raises(SingularPoseError):
        srspm.inverse_dynamics(flat, np.zeros(6), np.zeros(6))


def test_free_fall_of_srspm_meets_the_singular_pose_at_048_seconds(srspm: Platform) -> None:
    """Paper, section 5: the actuator-space model fails at 0.48 s of the free fall."""
    from twin.dynamics.integrate import integrate

    time = np.linspace(0.4, 0.55, 151)
    pose, _ = integrate(srspm, 0.6)(time)
    determinant = np.linalg.det(srspm.jacobian(pose))
    assert determinant[0] * determinant[-1] < 0, "no singular pose was crossed"
    crossing = time[np.argmax(srspm.condition_number(pose))]
    # The paper's solver stops at the last of its 5 ms steps that it can do.
    assert 0.48 <= crossing <= 0.49
