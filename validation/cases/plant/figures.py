"""Figures of a machine's drives."""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform
from twin.machine.hardware.drive import AnyDrive
from twin.validation.cases.plant.data_sheet import DriveNumbers
from twin.validation.cases.plant.electronics import FoldBack, StepResponses
from twin.validation.cases.plant.trials import FrictionCurve, Hysteresis
from twin.validation.results import Curve, Panel, Plot


def friction_plot(curve: FrictionCurve, numbers: DriveNumbers, unit: str, force_unit: str) -> Plot:
    """Return friction over the speed, simulated and by its law; `unit` of coordinates."""
    speed = numbers.stribeck_speed * np.logspace(-1.0, np.log10(50.0), 200)
    panel = Panel(
        f"effort [{force_unit}]",
        Curve("law", speed, numbers.friction_at(speed)),
        Curve("simulated", curve.speeds, curve.efforts, "markers"),
    )
    caption = (
        "Effort of the velocity loop at constant speeds: breakaway and Stribeck effect, then "
        "Coulomb and viscous friction."
    )
    return Plot("Friction", f"speed [{unit}/s]", panel, log_x=True, caption=caption)


def hysteresis_plot(loop: Hysteresis, unit: str) -> Plot:
    """Return the hysteresis loop of motor and leg; `unit` of their coordinates."""
    shown = slice(len(loop.motor) // 2, None, len(loop.motor) // 2000)
    motor, lag = 1e3 * loop.motor[shown], 1e3 * (loop.leg - loop.motor)[shown]
    panel = Panel(f"leg minus motor [m{unit}]", Curve("simulated", motor, lag))
    caption = (
        f"A leg with drag follows a slow motor. The loop is {1e3 * loop.width:.4g} m{unit} wide; "
        f"backlash and compression by the drag add up to {1e3 * loop.expected:.4g} m{unit}."
    )
    return Plot("Backlash", f"motor [m{unit}]", panel, caption=caption)


def response_plot(runs: StepResponses, drive: AnyDrive, force_unit: str) -> Plot:
    """Return the responses to a step of the command, and their closed form."""
    curves = []
    for step, (time, effort, expected) in runs.items():
        curves.append(Curve(f"steps of {1e3 * step:.4g} ms", 1e3 * time, effort, "markers"))
        curves.append(Curve(f"closed form, {1e3 * step:.4g} ms", 1e3 * time, expected, "dot"))
    caption = (
        f"The commanded effort steps at 0. The drive delays it by {1e3 * drive.delay:g} ms, and "
        f"its current loop has a lag of {1e3 * drive.current_lag:g} ms. Values are those at the "
        "ends of steps."
    )
    panel = Panel(f"change of effort [{force_unit}]", *curves)
    return Plot("Step of the command", "time [ms]", panel, caption=caption)


def fold_back_plot(heated: FoldBack, machine: Platform) -> Plot:
    """Return effort over time for a motor commanded beyond its limit."""
    continuous = machine.parameters.legs[0].actuator.effort
    shown = slice(None, None, len(heated.time) // 2000 + 1)
    time, effort = heated.time[shown], heated.effort[shown]
    curves = [Curve("simulated", time, effort)]
    if continuous is not None:
        curves.append(Curve("continuous", time, np.full_like(time, continuous), "dash"))
    caption = (
        f"The motor gives its peak effort until the mean square exceeds that of the continuous "
        f"effort, after {heated.time_to_limit:.4g} s; the closed form gives "
        f"{heated.expected_time:.4g} s."
    )
    panel = Panel(f"effort [{machine.force_unit}]", *curves)
    return Plot("Peak and continuous effort", "time [s]", panel, caption=caption)
