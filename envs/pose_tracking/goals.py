"""Goals of `PoseTracking`: the platform's pose and the reference's, and a reward of both."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from twin.basics.arrays import FloatArray
from twin.envs.channels import channel_slices
from twin.envs.pose_tracking.task import PoseTracking
from twin.kernels.tasks.observation import LARGEST
from twin.rotations import displacement

KNOWN = ("coordinate", "rate", "last action")
"""Channels of an observation that do not depend on the reference."""


class Goals:
    """Observations with goals of one machine of a task.

    A goal has six numbers: position and rotation vector of the platform from home, in base axes, in
    parts of `scale`.

    Attributes:
        space: of the observations.
        scale: `(6,)` [m, rad].
    """

    def __init__(self, task: PoseTracking) -> None:
        """Take the task, whose arrays are read after every step."""
        self._task = task
        self.scale: FloatArray = task.acting.law.bounds
        places = channel_slices(task.observations)
        self._kept = np.concatenate([np.r_[places[name]] for name in KNOWN])
        shapes = {"observation": self._kept.size, "achieved_goal": 6, "desired_goal": 6}
        self.space = spaces.Dict(
            {
                name: spaces.Box(-LARGEST, LARGEST, (size,), np.float32)
                for name, size in shapes.items()
            }
        )

    def seen(self, observation: FloatArray) -> dict[str, Any]:
        """Return the numbers of an observation that do not depend on the goal, and both goals."""
        task = self._task
        poses = np.stack([task.batch.pose[0], task.signals["reference_pose"][0]])
        goals = displacement(poses, task.platform.home) / self.scale
        achieved, desired = np.clip(goals, -LARGEST, LARGEST).astype(np.float32)
        return {
            "observation": observation[self._kept],
            "achieved_goal": achieved,
            "desired_goal": desired,
        }

    def reward(self, achieved: Any, desired: Any) -> Any:
        """Return the terms of position and orientation, weighted, of goals `(..., 6)`."""
        from scipy.spatial.transform import Rotation

        task, limits = self._task, self._task.limits
        first, second = (np.asarray(goal, dtype=float) * self.scale for goal in (achieved, desired))
        shape = first.shape[:-1]
        position = np.linalg.norm(first[..., :3] - second[..., :3], axis=-1)
        turns = (Rotation.from_rotvec(goal[..., 3:].reshape(-1, 3)) for goal in (first, second))
        one, other = turns
        angle = (one.inv() * other).magnitude().reshape(shape)
        weights = dict(zip(task.terms, task.weights, strict=True))
        return weights["position"] * _closeness(
            position, limits.position_scale, limits.largest_position
        ) + weights["orientation"] * _closeness(
            angle, limits.attitude_scale, limits.largest_attitude
        )


def _closeness(error: Any, scale: float, largest: float) -> Any:
    """Return `twin.kernels.tasks.reward.closeness` of arrays."""
    return np.maximum(0.0, 1.0 - np.log1p(error / scale) / np.log1p(largest / scale))
