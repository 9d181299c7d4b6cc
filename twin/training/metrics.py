"""Metrics of tasks: signals of the environment, summed up over an episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray


class Metric(NamedTuple):
    """One number of an episode, made from a signal in the environment's `info`."""

    name: str
    unit: str
    signal: str
    """name in `info`, physical units"""
    factor: float = 1.0
    """from SI to `unit`"""
    kind: Literal["rms", "mean", "largest", "last"] = "rms"
    """how the values at the control instants become one number"""

    @property
    def title(self) -> str:
        """Name with its unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


METRICS: dict[str, tuple[Metric, ...]] = {
    "twin/PoseTracking-v0": (
        Metric("position error", "mm", "position_error", 1e3),
        Metric("orientation error", "mrad", "orientation_error", 1e3),
        Metric("largest error", "mm", "position_error", 1e3, "largest"),
    ),
    "twin/VibrationIsolation-v0": (
        Metric("transmissibility", "", "transmissibility", 1.0, "last"),
        Metric("acceleration", "m/s2", "absolute_acceleration"),
        Metric("displacement", "mm", "absolute_displacement", 1e3),
    ),
    "twin/MotionCueing-v0": (
        Metric("perceived error", "thresholds", "score", 1.0, "last"),
        Metric("false cues", "thresholds", "false_cues", 1.0, "last"),
    ),
    "twin/BallBalance-v0": (
        Metric("distance", "mm", "target_error", 1e3),
        Metric("ball speed", "mm/s", "ball_velocity", 1e3),
    ),
}
"""Environment id -> its metrics, the most important first."""


def signal_values(metrics: tuple[Metric, ...], info: Mapping[str, Any]) -> FloatArray:
    """Return the metrics' signals `(N, metrics)` of one step; vectors count by their lengths."""
    columns = [np.asarray(info[metric.signal], dtype=float) for metric in metrics]
    sizes = [values if values.ndim == 1 else np.linalg.norm(values, axis=-1) for values in columns]
    return np.stack(sizes, axis=1)


class Accumulator:
    """Sums up the metrics of episodes that run side by side."""

    def __init__(self, metrics: tuple[Metric, ...], size: int) -> None:
        """Begin with no step in `size` environments."""
        self.metrics = metrics
        self.sums = np.zeros((size, len(metrics)))
        self.largest = np.zeros((size, len(metrics)))
        self.last = np.zeros((size, len(metrics)))
        self.count = np.zeros(size, dtype=np.int64)

    def add(self, values: FloatArray, indices: Any = slice(None)) -> None:
        """Add a step's values `(m, metrics)` of the signals in some environments."""
        powers = np.array([2 if metric.kind == "rms" else 1 for metric in self.metrics])
        self.sums[indices] += np.abs(values) ** powers
        self.largest[indices] = np.maximum(self.largest[indices], np.abs(values))
        self.last[indices] = values
        self.count[indices] += 1

    def results(self, indices: Any = slice(None)) -> FloatArray:
        """Return the metrics `(m, metrics)` of some environments' episodes, in their units."""
        means = self.sums[indices] / np.maximum(self.count[indices], 1)[:, None]
        found = np.empty_like(means)
        for k, metric in enumerate(self.metrics):
            values = {
                "rms": np.sqrt(means[:, k]),
                "mean": means[:, k],
                "largest": self.largest[indices][:, k],
                "last": self.last[indices][:, k],
            }[metric.kind]
            found[:, k] = metric.factor * values
        return np.asarray(found)

    def clear(self, indices: Any) -> None:
        """Begin anew in some environments."""
        self.sums[indices] = self.largest[indices] = self.last[indices] = 0.0
        self.count[indices] = 0
