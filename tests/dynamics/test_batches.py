"""A batch gives bit for bit what single states give, on any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from twin.compiled import batch
from twin.platform import Platform

CALLS: dict[str, Callable[[Platform, Any], Any]] = {
    "inverse_kinematics": lambda p, s: p.inverse_kinematics(s[0]),
    "forward_kinematics": lambda p, s: p.forward_kinematics(p.inverse_kinematics(s[0])),
    "jacobian": lambda p, s: p.jacobian(s[0]),
    "jacobian_derivative": lambda p, s: p.jacobian_derivative(s[0], s[1]),
    "leg_coordinates": lambda p, s: np.concatenate(
        [p.leg_coordinates(*s[:3]).angles, p.leg_coordinates(*s[:3]).angle_accelerations], axis=-1
    ),
    "mass_matrix": lambda p, s: p.mass_matrix(s[0]),
    "forward_dynamics": lambda p, s: p.forward_dynamics(s[0], s[1], s[3], s[4]),
    "inverse_dynamics": lambda p, s: p.inverse_dynamics(s[0], s[1], s[2], s[4]),
    "energy": lambda p, s: np.stack(p.energy(s[0], s[1]), axis=-1),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_batch_equals_single(platform: Platform, states: Any, call: Any) -> None:
    together = call(platform, states)
    single = [call(platform, [rows[k] for rows in states]) for k in range(len(states.pose))]
    np.testing.assert_array_equal(together, np.array(single))


@pytest.mark.parametrize("cores", [1, 2, 3, 5])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_threads_change_nothing(
    platform: Platform, states: Any, call: Any, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [np.tile(rows, (11, 1)) for rows in states]
    assert len(many[0]) > 5 * batch.SMALLEST_CHUNK, "too few states to be split"
    monkeypatch.setattr(batch, "usable_cores", lambda: cores)
    np.testing.assert_array_equal(
        call(platform, many).reshape(11, len(states.pose), -1)[[0, 4, 10]],
        np.tile(call(platform, states).reshape(len(states.pose), -1), (3, 1, 1)),
    )


def test_first_failure_is_named_from_any_thread(
    srspm: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    from twin.errors import ForwardKinematicsError

    monkeypatch.setattr(batch, "usable_cores", lambda: 3)
    lengths = np.tile(srspm.home_lengths, (3 * batch.SMALLEST_CHUNK, 1))
    for bad in (700, 600, 10):
        lengths[bad, 0] = 5.0
        with pytest.raises(ForwardKinematicsError) as caught:
            srspm.forward_kinematics(lengths)
        assert caught.value.data["index"] == bad


def test_arguments_broadcast(platform: Platform, states: Any) -> None:
    pose, twist, _, forces, wrench = states
    grid = platform.forward_dynamics(pose[:3, None], twist[None, :4], forces[0], wrench[:4])
    assert grid.shape == (3, 4, 6)
    np.testing.assert_array_equal(
        grid[2, 1], platform.forward_dynamics(pose[2], twist[1], forces[0], wrench[1])
    )


def test_arguments_are_left_alone(platform: Platform, states: Any) -> None:
    copies = [rows.copy() for rows in states]
    for call in CALLS.values():
        call(platform, states)
    for rows, copy in zip(states, copies, strict=True):
        np.testing.assert_array_equal(rows, copy)
