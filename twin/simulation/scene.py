"""Scene of a machine at one instant, and the scenes of a recorded run between its rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.simulation.trajectory import Trajectory


class Scene(NamedTuple):
    """Poses of all moving parts, as `SceneModel.place` takes them."""

    pose: FloatArray
    """`(7,)` of the platform in the base frame"""
    deflection: FloatArray | None = None
    """`(2k,)` deflections of springs, then their rates"""
    ghost: FloatArray | None = None
    """`(7,)` pose of the setpoint"""
    ball: FloatArray | None = None
    """`(7,)` pose of the ball in the base frame; what follows it, as its twist, is not seen"""
    base_displacement: FloatArray | None = None
    """`(3,)` [m] of the base in the world"""


class RecordedScenes:
    """Scenes of a trajectory, straight between its rows.

    Attributes:
        trajectory: that is shown.
        start: [s] of its first row.
        end: [s] of its last row.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        """Prepare a trajectory; where a closed loop made it, scenes have the setpoint pose.

        Raises:
            InputError: not a trajectory, or one without rows.
        """
        if not isinstance(trajectory, Trajectory):
            name = type(trajectory).__name__
            raise InputError("trajectory", f"must be a Trajectory, not {name}")
        if not len(trajectory):
            raise InputError("trajectory", "has no rows")
        self.trajectory = trajectory
        self.start, self.end = (float(trajectory.time[k]) for k in (0, -1))
        self._reference: FloatArray | None = trajectory.signals.get("reference_pose")

    def at(self, time: float) -> Scene:
        """Return what was to be seen at a time [s]; before the start and after the end, there."""
        run = self.trajectory
        deflection = row_at(run.time, run.deflection, time) if run.deflection.size else None
        ghost = None
        if self._reference is not None:
            ghost = pose_at(run.signals["time"], self._reference, time)
        return Scene(pose_at(run.time, run.pose, time), deflection, ghost)

    def widest(self) -> float:
        """Return the time [s] at which the platform's joints are farthest from the start.

        A radian counts as a metre, which is about what a turn moves at the edge of a machine.
        """
        pose = self.trajectory.pose
        turned = 2.0 * np.arccos(np.clip(np.abs(pose[:, 3:] @ pose[0, 3:]), 0.0, 1.0))
        away = np.linalg.norm(pose[:, :3] - pose[0, :3], axis=1) + turned
        return float(self.trajectory.time[int(np.argmax(away))])


def rows_around(times: FloatArray, time: float) -> tuple[int, int, float]:
    """Return the rows before and after a time, and the second one's fraction."""
    after = int(np.searchsorted(times, time, side="right"))
    second = min(after, len(times) - 1)
    first = max(second - 1, 0)
    span = times[second] - times[first]
    fraction = float(np.clip((time - times[first]) / span, 0.0, 1.0)) if span > 0.0 else 0.0
    return first, second, fraction


def row_at(times: FloatArray, values: FloatArray, time: float) -> FloatArray:
    """Return the row `(m,)` of `values` `(k, m)` at a time."""
    first, second, fraction = rows_around(times, time)
    return np.asarray((1.0 - fraction) * values[first] + fraction * values[second])


def pose_at(times: FloatArray, poses: FloatArray, time: float) -> FloatArray:
    """Return the pose `(7,)` at a time; a quaternion and its opposite are the same rotation."""
    first, second, fraction = rows_around(times, time)
    before, after = poses[first], poses[second].copy()
    if before[3:] @ after[3:] < 0.0:
        after[3:] *= -1.0
    pose = (1.0 - fraction) * before + fraction * after
    pose[3:] /= np.linalg.norm(pose[3:])
    return np.asarray(pose)
