"""Tuning of one loop: its gains, the search for them, and the figures of the responses.

Tuned gains as the [control] table of a platform.toml.

Figure of a tuning: the response of every iteration between its bounds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.tuning.search import Search, Trial
from twin.analysis.tuning.specification import StepFigures, StepSpecification, step_figures
from twin.basics.arrays import FloatArray
from twin.charts.panels import Axes, Line, panels_figure
from twin.control.controller import PERIOD
from twin.control.gains import own_gains, suitable_position_loop, suitable_velocity_loop
from twin.errors import InputError, brief
from twin.model.machine_model import MachineModel, as_model


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


DIGITS = 4
"""Significant digits: a gain is not known better."""


def control_snippet(platform: MachineModel, tuning: Tuning) -> str:
    """Return a complete [control] table: gains found, and the machine's own for the other loop.

    It replaces the table of that name in the machine's file, if there is one.

    Raises:
        InputError: not a machine.
    """
    own = own_gains(as_model(platform))
    gain, time = suitable_velocity_loop(platform, PERIOD)
    position, integral = suitable_position_loop(platform, PERIOD)
    cranks = platform.coordinate_unit == "rad"
    values = {
        "crank_velocity_gain" if cranks else "velocity_gain": float(gain.mean()),
        "velocity_time": float(time.mean()),
        "position_gain": position,
        "position_integral": integral,
        "feedforward_start": 0.0 if own is None else own.feedforward_start,
        "feedforward_rise": 0.0 if own is None else own.feedforward_rise,
    }
    units = dict(
        zip(values, ("N m s/rad" if cranks else "N s/m", "s", "1/s", "1/s2", "s", "s"), strict=True)
    )
    values |= {
        one.name: float(value) for one, value in zip(tuning.gains, tuning.values, strict=True)
    }
    verdict = "meets" if tuning.search.met else "does not meet"
    lines = [
        f"# {verdict} the specification: largest violation "
        f"{100.0 * tuning.search.best.violation:.3g} percent of the step",
        "[control]",
        f'source = "twin tune {tuning.machine} on {tuning.engine}: {tuning.loop} loop"',
        *(f'{name} = "{value:.{DIGITS}g} {units[name]}"' for name, value in values.items()),
    ]
    return "\n".join(lines) + "\n"


SHOWN = 6
"""Trials drawn: the start, the result, and some between."""


def tuning_figure(tuning: Tuning) -> Any:
    """Return a plotly figure of responses over time, bounds dotted, and of the violations.

    Raises:
        InputError: not a tuning.
        MissingDependencyError: plotly is not installed.
    """
    if not isinstance(tuning, Tuning):
        raise InputError("tuning", f"must be a Tuning, not {brief(tuning)}")
    trials, rule = tuning.search.trials, tuning.specification
    shown = np.unique(np.linspace(0, len(trials) - 1, min(SHOWN, len(trials))).round().astype(int))
    milliseconds = 1e3 * tuning.time
    lines = [
        Line(
            f"iteration {k}: {gains_text(tuning, trials[k].parameters)}",
            milliseconds,
            trials[k].response,
        )
        for k in map(int, shown)
    ]
    lines += [
        Line("lower bound", milliseconds, rule.lower(tuning.time), "dot"),
        Line("upper bound", milliseconds, rule.upper(tuning.time), "dot"),
    ]
    title = f"{tuning.machine} on {tuning.engine}: step of the {tuning.loop} loop"
    quantity = "speed" if tuning.loop == "velocity" else "displacement"
    return panels_figure([Axes(f"{quantity} per step", lines)], "time [ms]", title=title)


def gains_text(tuning: Tuning, values: Any) -> str:
    """Return gains as a short text, such as "21.9 N/(mm/s), 3.19 ms"."""
    texts = []
    for gain, value in zip(tuning.gains, values, strict=True):
        if gain.unit == "N s/m":
            texts.append(f"{1e-3 * value:.3g} N/(mm/s)")
        elif gain.unit == "s":
            texts.append(f"{1e3 * value:.3g} ms")
        else:
            texts.append(f"{value:.4g} {gain.unit}")
    return ", ".join(texts)
