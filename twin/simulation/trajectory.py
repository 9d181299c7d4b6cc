"""Trajectory: a simulated motion that saves, loads and plots itself."""

from __future__ import annotations

from typing import Any

from twin.simulation.trajectory_data import TrajectoryData
from twin.simulation.trajectory_figure import comparison_figure, trajectory_figure


class Trajectory(TrajectoryData):
    """Motion of one machine in one engine, one row per time. Arrays are read-only."""

    def plot(self, reference: Trajectory | None = None) -> Any:
        """Return a plotly figure of position, orientation, lengths and forces over time.

        With a `reference` on the same times: position and orientation of both, and how far apart
        they are.

        Raises:
            InputError: the reference is no trajectory or has other times.
            MissingDependencyError: plotly is not installed.
        """
        return trajectory_figure(self) if reference is None else comparison_figure(self, reference)
