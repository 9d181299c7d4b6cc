"""Learning curves: rows of numbers while training, kept as CSV and drawn as a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.files import write_atomically, write_text
from twin.basics.optional import optional
from twin.errors import InputError
from twin.training.environments import Episode, Metric

FIRST_COLUMNS = ("steps", "seconds", "episodes", "terminated")
BAND_PERCENTILES = (10.0, 50.0, 90.0)
"""Percentiles of the episodes that ended since the previous row."""

Row = Mapping[str, float]
"""Numbers of a learning curve at some step, by the names of their columns."""

Callback = Callable[[Row], object]
"""Function that is called with every new row."""

LOGARITHMIC_RATIO = 10.0
"""Ratio of the largest to the smallest value from which on an axis is logarithmic."""


class LearningCurve:
    """Results of episodes over the steps of a training, one row per report.

    Attributes:
        columns: names of the numbers.
        rows: one tuple of numbers each.
    """

    def __init__(self, metrics: Sequence[Metric], callbacks: Sequence[Callback] = ()) -> None:
        """Begin without rows, for the metrics of a task; `callbacks` get every new row."""
        self.callbacks = callbacks
        self.titles = ["return", "length", *(metric.title for metric in metrics)]
        bands = [
            f"{title} {percentile:g} %" for title in self.titles for percentile in BAND_PERCENTILES
        ]
        self.columns = (*FIRST_COLUMNS, *bands)
        self.rows: list[tuple[float, ...]] = []

    def add(self, steps: int, seconds: float, episodes: Sequence[Episode]) -> None:
        """Add a row for the `episodes` that ended since the last one; none adds none."""
        if not episodes:
            return
        table = np.array([(e.reward, e.length, *e.metrics) for e in episodes], dtype=float)
        bands = np.percentile(table, BAND_PERCENTILES, axis=0).T.ravel()
        terminated_fraction = float(np.mean([episode.terminated for episode in episodes]))
        self.rows.append((steps, seconds, len(episodes), terminated_fraction, *bands.tolist()))
        for callback in self.callbacks:
            callback(dict(zip(self.columns, self.rows[-1], strict=True)))

    def save(self, path: Path) -> Path:
        """Write the rows as CSV, whole or not at all."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([f"{value:.8g}" for value in row] for row in self.rows)
        return write_text(path, text.getvalue())

    def load(self, path: Path, steps: int) -> None:
        """Take over the rows of a file up to a number of steps.

        Raises:
            InputError: a file with other columns.
        """
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = list(csv.reader(file))
        if tuple(header) != self.columns:
            raise InputError("out", f"{path} has other columns than this training")
        table = [tuple(float(cell) for cell in row) for row in rows]
        self.rows = [row for row in table if row[0] <= steps]

    def draw(self, path: Path, title: str) -> Path:
        """Draw return and metrics over the steps, median and 10 to 90 % band, as PNG.

        Raises:
            MissingDependencyError: matplotlib is not installed.
        """
        optional("matplotlib").use("Agg")
        pyplot = optional("matplotlib.pyplot")
        shown_titles = [0, *range(2, len(self.titles))]
        table = np.array(self.rows, dtype=float).reshape(-1, len(self.columns))
        size = (7.0, 1.2 + 1.9 * len(shown_titles))
        figure, axes = pyplot.subplots(
            len(shown_titles), 1, sharex=True, figsize=size, squeeze=False, layout="tight"
        )
        for axis, title_index in zip(axes[:, 0], shown_titles, strict=True):
            lower, median, upper = (
                table[:, len(FIRST_COLUMNS) + 3 * title_index + k] for k in range(3)
            )
            _panel(axis, table[:, 0] / 1e6, (lower, median, upper), self.titles[title_index])
        axes[-1, 0].set_xlabel("steps [million]")
        axes[0, 0].set_title(title, fontsize=10)
        options = {"format": "png", "dpi": 110, "metadata": {"Software": None}}
        try:
            return write_atomically(path, lambda file: figure.savefig(file, **options))
        finally:
            pyplot.close(figure)


def _panel(axis: Any, steps: Any, band: tuple[Any, Any, Any], title: str) -> None:
    """Draw median and band of one number over the steps."""
    low, middle, high = band
    axis.fill_between(steps, low, high, color="#9ec5e8", linewidth=0.0, label="10 to 90 %")
    axis.plot(steps, middle, color="#1f5a94", linewidth=1.4, label="median")
    axis.set_ylabel(title, fontsize=9)
    axis.grid(alpha=0.3)
    if len(steps) and low.min() > 0.0 and high.max() > LOGARITHMIC_RATIO * low.min():
        axis.set_yscale("log")
    if title == "return":
        axis.legend(fontsize=8, loc="lower right")
