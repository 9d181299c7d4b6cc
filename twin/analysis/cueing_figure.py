"""Figures of motion cueing: perceived motion, tilt of the platform, use of the actuators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from twin.basics import canonical
from twin.basics.arrays import FloatArray
from twin.charts.panels import Axes, Line, panels_figure
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model
from twin.motion.cueing import Outcome
from twin.motion.cueing.perception import PERCEPTION_THRESHOLDS

PERCEIVED_QUANTITIES = ("surge", "sway", "heave", "roll rate", "pitch rate", "yaw rate")
"""Names of what is perceived, in the order of `PerceivedError`."""


def cueing_figure(platform: MachineModel, outcomes: Mapping[str, Outcome]) -> Any:
    """Return a plotly figure of one manoeuvre cued by some algorithms, over time [s].

    Panels: the two perceived quantities in which the vehicle moves most, vehicle against platform
    [m/s2], [deg/s]; tilt [deg] of the platform; the fraction of the actuators' range and, where the
    machine has a limit, of their speed that is used, the largest of all actuators.

    Args:
        platform: the machine.
        outcomes: name of the algorithm -> outcome, all of the same manoeuvre.

    Raises:
        InputError: no machine, no outcomes.
        MissingDependencyError: plotly is not installed.
    """
    machine = as_model(platform)
    if not outcomes or not all(isinstance(value, Outcome) for value in outcomes.values()):
        raise InputError("outcomes", "must map names to at least one Outcome")
    first_outcome = next(iter(outcomes.values()))
    size = np.abs(np.hstack(first_outcome.error.vehicle)).max(axis=0) / PERCEPTION_THRESHOLDS
    panels = [
        _perceived_axes(outcomes, column) for column in sorted(canonical.order(-size)[:2].tolist())
    ]
    panels.append(Axes("pitch (line), roll (dash) [deg]", _tilts(outcomes)))
    low, high = machine.minimum_coordinates, machine.maximum_coordinates
    fractions: dict[str, Callable[[Any], FloatArray]] = {
        "range": lambda use: np.abs(2.0 * use.coordinates - low - high) / (high - low)
    }
    limit = machine.parameters.leg.actuator.speed
    if limit is not None:
        fractions["speed"] = lambda use: np.abs(use.rates) / limit
    time_span = first_outcome.use.time[[0, -1]]
    for name, fraction_of in fractions.items():
        lines = [
            Line(algorithm, outcome.use.time, fraction_of(outcome.use).max(axis=1))
            for algorithm, outcome in outcomes.items()
        ]
        lines.append(Line("limit", time_span, np.ones(2), "dot"))
        panels.append(Axes(f"share of actuator {name}", lines))
    title = f"{machine.name}: {first_outcome.cue.manoeuvre.name}"
    return panels_figure(panels, "time [s]", title=title)


def _perceived_axes(outcomes: Mapping[str, Outcome], column: int) -> Axes:
    unit_factor, unit = (1.0, "m/s²") if column < 3 else (180.0 / np.pi, "deg/s")
    first_error = next(iter(outcomes.values())).error
    motions = [("vehicle", first_error.time, first_error.vehicle)]
    motions += [(name, one.error.time, one.error.platform) for name, one in outcomes.items()]
    lines = [
        Line(name, time, unit_factor * np.hstack(motion)[:, column])
        for name, time, motion in motions
    ]
    return Axes(f"perceived {PERCEIVED_QUANTITIES[column]} [{unit}]", lines)


def _tilts(outcomes: Mapping[str, Outcome]) -> list[Line]:
    lines = []
    for column, style in ((4, "line"), (5, "dash")):
        for name, outcome in outcomes.items():
            angles = np.degrees(outcome.cue.motion.axes(outcome.use.time).values[:, column])
            lines.append(Line(name, outcome.use.time, angles, style))
    return lines
