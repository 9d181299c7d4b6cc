"""Figures of a machine's drives."""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.machine.hardware.drive import AnyDrive
from twin.validation.cases.plant.data_sheet import DriveNumbers
from twin.validation.cases.plant.electronics import FoldBack
from twin.validation.cases.plant.trials import FrictionCurve, Hysteresis
from twin.validation.results import Curve, Panel, Plot


def friction_plot(curve: FrictionCurve, numbers: DriveNumbers, unit: str, force_unit: str) -> Plot:
    """Return friction over the speed, simulated and by its law; `unit` of coordinates."""
    speed = numbers.stribeck * np.logspace(-1.0, np.log10(50.0), 200)
    panel = Panel(
        f"effort [{force_unit}]",
        Curve("law", speed, numbers.friction_at(speed)),
        Curve("simulated", curve.speeds, curve.found, "markers"),
    )
    caption = (
        "Effort of the velocity loop at steady speed: breakaway, Stribeck's fall, then dry and "
        "viscous friction."
    )
    return Plot("Friction", f"speed [{unit}/s]", panel, log_x=True, caption=caption)


def hysteresis_plot(loop: Hysteresis, unit: str) -> Plot:
    """Return the loop of motor and leg; `unit` of their coordinates."""
    shown = slice(len(loop.motor) // 2, None, len(loop.motor) // 2000)
    motor, lag = 1e3 * loop.motor[shown], 1e3 * (loop.leg - loop.motor)[shown]
    panel = Panel(f"leg minus motor [m{unit}]", Curve("simulated", motor, lag))
    caption = (
        f"A leg with drag behind a slow motor: the loop is {1e3 * loop.width:.4g} m{unit} wide; "
        f"play and compression by the drag add up to {1e3 * loop.expected:.4g} m{unit}."
    )
    return Plot("Backlash", f"motor [m{unit}]", panel, caption=caption)


def response_plot(
    runs: dict[float, tuple[FloatArray, FloatArray, FloatArray]], drive: AnyDrive, force_unit: str
) -> Plot:
    """Return the responses to a step; `runs`: time, effort and closed form per step [s]."""
    curves = []
    for step, (time, effort, expected) in runs.items():
        curves.append(Curve(f"steps of {1e3 * step:.4g} ms", 1e3 * time, effort, "markers"))
        dense = (f"closed form, {1e3 * step:.4g} ms", 1e3 * time, expected)
        curves.append(Curve(*dense, "dot"))
    caption = (
        f"A step of the commanded effort at 0, delayed by {1e3 * drive.delay:g} ms, behind a "
        f"current loop of {1e3 * drive.current_lag:g} ms. Values at the ends of steps."
    )
    panel = Panel(f"change of effort [{force_unit}]", *curves)
    return Plot("Step of the command", "time [ms]", panel, caption=caption)


def fold_back_plot(heated: FoldBack, machine: Platform) -> Plot:
    """Return effort over time for a motor commanded beyond its limit."""
    continuous = machine.parameters.legs[0].actuator.effort
    shown = slice(None, None, len(heated.time) // 2000 + 1)
    time, effort = heated.time[shown], heated.effort[shown]
    curves = [Curve("given", time, effort)]
    if continuous is not None:
        curves.append(Curve("continuous", time, np.full_like(time, continuous), "dash"))
    caption = (
        f"Peak effort until the mean square has warmed the motor: {heated.after:.4g} s, by the "
        f"closed form {heated.expected:.4g} s."
    )
    panel = Panel(f"effort [{machine.force_unit}]", *curves)
    return Plot("Peak and continuous effort", "time [s]", panel, caption=caption)
