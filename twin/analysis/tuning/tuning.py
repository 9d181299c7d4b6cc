"""Tuning of one loop: its gains, the search for them, and the figures of the responses."""

from __future__ import annotations

from typing import NamedTuple

from twin.analysis.tuning.search import Search, Trial
from twin.analysis.tuning.specification import StepFigures, StepSpecification, step_figures
from twin.basics.arrays import FloatArray


class Gain(NamedTuple):
    """A gain of a controller with its bounds and the start of a search, SI."""

    name: str
    """key in the [control] table"""
    unit: str
    """SI"""
    low: float
    high: float
    start: float


class Tuning(NamedTuple):
    """The outcome of tuning one loop."""

    machine: str
    engine: str
    loop: str
    """"velocity" or "position" """
    gains: tuple[Gain, ...]
    specification: StepSpecification
    time: FloatArray
    """`(k,)` [s] after the step, of the responses"""
    search: Search

    @property
    def values(self) -> FloatArray:
        """The gains found `(m,)`, SI."""
        return self.search.best.parameters

    def figures(self, trial: Trial | None = None) -> StepFigures:
        """Return the figures of a trial's response, default the best one's."""
        response = (self.search.best if trial is None else trial).response
        return step_figures(self.time, response, self.specification)
