"""Charts of a live run, and the rows of its last seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray


class Chart(NamedTuple):
    """Curves over time that belong together."""

    name: str
    """key of the chart's values in the history"""
    title: str
    """as shown, without the unit"""
    unit: str
    """of the numbers shown"""
    series: tuple[str, ...]
    """names of the curves, in the order of the values"""
    scale: float = 1.0
    """numbers shown per value kept, which is in SI units"""
    setpoint: tuple[str, ...] = ()
    """names of the curves of setpoints, drawn dashed; the k-th has the
    colour of the k-th measured one"""
    limits: tuple[float, ...] = ()
    """values kept at which a horizontal line is drawn"""
    logarithmic: bool = False
    least: float = 0.0
    """smallest distance from zero that the chart reaches, so that noise does not fill it; none
    where curves do not rest at zero"""


class History:
    """A ring of rows, as many as `capacity`; what is older is forgotten.

    Attributes:
        charts: whose values are kept.
        capacity: rows that are kept.
        count: changes so far: rows appended, also those forgotten, and clearings.
    """

    def __init__(self, charts: Sequence[Chart], capacity: int) -> None:
        """Make room for `capacity` rows of the `charts`."""
        self.charts = tuple(charts)
        self.capacity = capacity
        self._time = np.full(capacity, np.nan)
        self._values = {
            chart.name: np.full((capacity, len(chart.series)), np.nan) for chart in self.charts
        }
        self._count = self.count = 0

    def __len__(self) -> int:
        return min(self._count, self.capacity)

    def append(self, time: float, values: Mapping[str, Any]) -> None:
        """Keep one row: `values` by the charts' names, one number per curve, SI units.

        A chart without values in this row gets a gap.
        """
        row = self._count % self.capacity
        self._time[row] = time
        for name, kept in self._values.items():
            kept[row] = values.get(name, np.nan)
        self._count += 1
        self.count += 1

    def clear(self) -> None:
        """Forget all rows."""
        self._count = 0
        self.count += 1

    def time(self) -> FloatArray:
        """Return the times `(k,)` [s], the oldest first."""
        return self._ordered(self._time)

    def values(self, name: str) -> FloatArray:
        """Return the values `(k, curves)` of a chart, the oldest row first."""
        return self._ordered(self._values[name])

    def _ordered(self, kept: FloatArray) -> FloatArray:
        if self._count <= self.capacity:
            return kept[: self._count].copy()
        return np.roll(kept, -(self._count % self.capacity), axis=0)
