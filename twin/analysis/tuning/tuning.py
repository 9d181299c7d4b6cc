"""Tuning: what was searched, on which machine, and how it went."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.tuning.search import Respond, Search, Trial, search_bounds
from twin.analysis.tuning.specification import StepFigures, StepSpecification, step_figures
from twin.basics.arrays import FloatArray, as_floats


class Gain(NamedTuple):
    """A parameter of a controller as it is searched: SI units inside."""

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


def tuned(
    machine: str,
    engine: str,
    loop: str,
    gains: tuple[Gain, ...],
    specification: StepSpecification,
    time: FloatArray,
    respond: Respond,
    *,
    margin: float = 0.0,
    iterations: int = 30,
    watch: Callable[[Trial], None] | None = None,
) -> Tuning:
    """Return the search over `gains` for a response `(k,)` that meets a specification.

    Args:
        machine: its name.
        engine: its name.
        loop: "velocity" or "position".
        gains: bounds and start.
        specification: of the step response.
        time: `(k,)` [s] after the step.
        respond: gains `(m,)`, SI, to response per step `(k,)`; infinite where there is none.
        margin: by which the bounds shall be kept, per step.
        iterations: at most.
        watch: called with every trial as it is found.

    Raises:
        InputError: bounds out of order, or a start without a response.
    """
    found = search_bounds(
        respond,
        lambda response: specification.violations(time, response),
        [gain.start for gain in gains],
        [gain.low for gain in gains],
        [gain.high for gain in gains],
        margin=margin,
        iterations=iterations,
        watch=watch,
    )
    return Tuning(machine, engine, loop, gains, specification, time, found)


def chosen_gains(
    gains: tuple[Gain, ...], low: Any = None, high: Any = None, start: Any = None
) -> tuple[Gain, ...]:
    """Return gains with other bounds and starts, `(m,)` each; None keeps what they have.

    Raises:
        InputError: another size, not finite.
    """
    lows, highs, starts = (
        as_floats(own if values is None else values, field, len(gains))
        for field, values, own in (
            ("low", low, [gain.low for gain in gains]),
            ("high", high, [gain.high for gain in gains]),
            ("start", start, [gain.start for gain in gains]),
        )
    )
    return tuple(
        gain._replace(low=float(a), high=float(b), start=float(c))
        for gain, a, b, c in zip(gains, lows, highs, starts, strict=True)
    )


def instants(duration: float, step: float) -> FloatArray:
    """Return the times [s] of whole steps from 0 to `duration`."""
    return np.asarray(np.arange(round(duration / step) + 1) * step, dtype=np.float64)


def no_response(time: FloatArray) -> FloatArray:
    """Return what stands for the response of a loop that had to be stopped `(k,)`."""
    return np.full(len(time), np.inf)
