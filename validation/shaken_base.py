"""Transmissibility from a shaken base in MuJoCo against the linearised machine."""

from __future__ import annotations

import numpy as np

from twin.analysis.frequency.linear.shaken_base import (
    MeasuredTransmissibility,
    measure_transmissibility,
)
from twin.errors import MissingDependencyError
from twin.simulation.platform import Platform
from twin.validation.comparison import missing
from twin.validation.results import Curve, Measure, Panel, Plot
from twin.validation.swept_compliance import SWEEPS

SHAKEN = {"micro_hexapod": ("x", 1.0), "compliant_stewart": ("z", 0.2)}
"""Machine -> axis, amplitude of the base's acceleration [m/s2]."""

BAR = 3e-3
"""Per largest transmissibility; as that of the compliance in this engine."""


def shaken(platform: Platform) -> tuple[list[Measure], list[Plot]]:
    """Return measured against linear transmissibility of a machine on springs, and their plot."""
    sweep = SWEEPS[platform.name]
    axis, acceleration = SHAKEN[platform.name]
    try:
        found = measure_transmissibility(
            platform,
            axis,
            low=sweep.low,
            high=sweep.high,
            length=sweep.length,
            acceleration=acceleration,
            decay=sweep.decay,
            timestep=sweep.timestep,
            holding=sweep.holding,
        )
    except MissingDependencyError as error:
        return [missing("MuJoCo", error)], []
    largest = np.abs(found.linear).max()
    measure = Measure(
        f"transmissibility along {axis}, mujoco, against the linear model",
        float(np.abs(found.measured - found.linear).max() / largest),
        "1",
        BAR,
        f"per largest, {largest:.3g}; the engine's constraints of finite stiffness shift its "
        "resonances",
    )
    return [measure], [_plot(found)]


def _plot(found: MeasuredTransmissibility) -> Plot:
    curves = (
        Curve("mujoco", found.frequency, np.abs(found.measured)),
        Curve("linear", found.frequency, np.abs(found.linear), "dash"),
    )
    return Plot(
        "Transmissibility from a shaken base",
        "frequency [Hz]",
        (Panel(f"{found.axis} of the platform per {found.axis} of the base", curves, log_y=True),),
        log_x=True,
        caption="A swept acceleration of the base.",
    )
