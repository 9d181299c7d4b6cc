"""A simulated motion with its origin: plotted, animated, saved, loaded, given to other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from twin.basics.optional import optional
from twin.simulation.recorded import files
from twin.simulation.recorded.figures import comparison_figure, notebook_html, trajectory_figure
from twin.simulation.recorded.files import metadata_of, table_of
from twin.simulation.recorded.motion import RecordedMotion


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
