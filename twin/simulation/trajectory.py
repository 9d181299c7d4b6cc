"""A simulated motion with its origin: plotted, animated, saved, loaded, given to other programs.

Scene of a machine at one instant, and the scenes of a recorded run between its rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.optional import optional
from twin.errors import InputError
from twin.simulation.recorded import files
from twin.simulation.recorded.figures import comparison_figure, notebook_html, trajectory_figure
from twin.simulation.recorded.files import RecordedMotion, metadata_of, table_of


class Trajectory(RecordedMotion):
    """Motion of one machine in one engine, one row per time. Arrays are read-only.

    A notebook shows it with its origin and two small charts.
    """

    def plot(self, reference: Trajectory | None = None) -> Any:
        """Return a plotly figure of position, orientation, lengths and forces over time.

        With a `reference` on the same times: position and orientation of both, and how far apart
        they are.

        Raises:
            InputError: the reference is no trajectory or has other times.
            MissingDependencyError: plotly is not installed.
        """
        return trajectory_figure(self) if reference is None else comparison_figure(self, reference)

    def animate(self, machine: Any = None) -> Any:
        """Return a plotly figure that plays the motion at its own speed; a notebook shows it.

        Base, legs and platform are lines; for films and pictures see `twin.viewer`.

        Args:
            machine: that it was made with, or its name or file; default: the shipped one of its
                name, with the configuration that it had.

        Raises:
            InputError: no rows, or not of this machine.
            MissingDependencyError: plotly is not installed.
        """
        from twin.simulation.recorded.figures import animation

        return animation(self, machine)

    def to_dataframe(self) -> Any:
        """Return a pandas data frame, one row per time, units in the names of its columns.

        Signals of a closed loop are NaN between control instants. Where an instant has no row of
        its own, all signals follow below the motion. `attrs` says where the motion comes from.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        names, values = table_of(self)
        frame = optional("pandas").DataFrame(values, columns=names)
        frame.attrs |= metadata_of(self)
        return frame

    def save(self, path: str | Path) -> Path:
        """Write a file with all numbers and where they come from; returns its path.

        Args:
            path: ends in .npz (smallest), .csv or .parquet. The latter two hold the columns of
                `to_dataframe`, all digits. Of a .csv the first line, which begins with #, says
                where the motion comes from.

        Raises:
            InputError: another ending, or a place that cannot be written to.
            MissingDependencyError: a Parquet file, and pyarrow is not installed.
        """
        return files.write(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return a trajectory from a file that `save` wrote.

        The endings .csv and .parquet say so; every other file is taken for .npz. The numbers are
        those that were written, to the last bit.

        Raises:
            InputError: no such file, not a trajectory, or written by a later format.
            MissingDependencyError: a Parquet file, and pyarrow is not installed.
        """
        return files.read(path, cls)

    def _repr_html_(self) -> str:
        return notebook_html(self)


class Scene(NamedTuple):
    """Poses of all moving parts, as `SceneModel.place` takes them."""

    pose: FloatArray
    """`(7,)` of the platform in the base frame"""
    deflection: FloatArray | None = None
    """`(2k,)` deflections of springs, then their rates"""
    ghost: FloatArray | None = None
    """`(7,)` pose of the setpoint"""
    ball: FloatArray | None = None
    """`(7,)` pose of the ball in the base frame; further entries, such as its twist, are ignored"""
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
        """Return the scene at a time [s]; times outside the run give its first or last scene."""
        run = self.trajectory
        deflection = row_at(run.time, run.deflection, time) if run.deflection.size else None
        ghost = None
        if self._reference is not None:
            ghost = pose_at(run.signals["time"], self._reference, time)
        return Scene(pose_at(run.time, run.pose, time), deflection, ghost)

    def widest(self) -> float:
        """Return the time [s] at which the platform's joints are farthest from the start.

        A radian counts as a metre, about the displacement that a rotation causes at the machine's
        edge.
        """
        pose = self.trajectory.pose
        rotation_angles = 2.0 * np.arccos(np.clip(np.abs(pose[:, 3:] @ pose[0, 3:]), 0.0, 1.0))
        distances = np.linalg.norm(pose[:, :3] - pose[0, :3], axis=1) + rotation_angles
        return float(self.trajectory.time[int(np.argmax(distances))])


def rows_around(times: FloatArray, time: float) -> tuple[int, int, float]:
    """Return the rows before and after a time, and the second one's fraction."""
    index_after = int(np.searchsorted(times, time, side="right"))
    row_after = min(index_after, len(times) - 1)
    row_before = max(row_after - 1, 0)
    interval = times[row_after] - times[row_before]
    fraction = (
        float(np.clip((time - times[row_before]) / interval, 0.0, 1.0)) if interval > 0.0 else 0.0
    )
    return row_before, row_after, fraction


def row_at(times: FloatArray, values: FloatArray, time: float) -> FloatArray:
    """Return the row `(m,)` of `values` `(k, m)` at a time."""
    row_before, row_after, fraction = rows_around(times, time)
    return np.asarray((1.0 - fraction) * values[row_before] + fraction * values[row_after])


def pose_at(times: FloatArray, poses: FloatArray, time: float) -> FloatArray:
    """Return the pose `(7,)` at a time; a quaternion and its opposite are the same rotation."""
    row_before, row_after, fraction = rows_around(times, time)
    pose_before, pose_after = poses[row_before], poses[row_after].copy()
    if pose_before[3:] @ pose_after[3:] < 0.0:
        pose_after[3:] *= -1.0
    pose = (1.0 - fraction) * pose_before + fraction * pose_after
    pose[3:] /= np.linalg.norm(pose[3:])
    return np.asarray(pose)
