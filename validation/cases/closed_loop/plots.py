"""Figures of closed loops: a course, and a safe stop."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.simulation.platform import Platform
from twin.simulation.trajectory import Trajectory
from twin.validation.cases.closed_loop.faults import Fault
from twin.validation.measures.driven import leg_curves
from twin.validation.results import Curve, Panel, Plot

DRAWN = 2000
"""Points of a curve at most."""


def tracking_plot(platform: Platform, course: Trajectory) -> Plot:
    """Return setpoint, error and forces of a tracked motion."""
    time = course.signals["time"]
    unit = f"m{platform.coordinate_unit}"
    start = course.signals["setpoint"][0]
    error = course.signals["setpoint"] - course.signals["measured"]
    return Plot(
        "Heave in closed loop",
        "time [s]",
        Panel(f"setpoint [{unit}]", *leg_curves(time, 1e3 * (course.signals["setpoint"] - start))),
        Panel(f"error [{unit}]", *leg_curves(time, 1e3 * error)),
        Panel(f"force [{platform.force_unit}]", *_curves(course.time, course.forces)),
        caption="Error: setpoint less the encoders' reading.",
    )


def stop_plot(fault: Fault, run: Trajectory) -> Plot:
    """Return actual and commanded speeds of a run that a fault ended."""
    unit = f"{run.coordinate_unit}/s"
    return Plot(
        f"Safe stop: {fault.name}",
        "time [s]",
        Panel(f"actuator speed [{unit}]", *_curves(run.time, run.rates)),
        Panel(
            f"commanded speed [{unit}]", *leg_curves(run.signals["time"], run.signals["command"])
        ),
        caption=f"{run.stopped}. Speeds are ramped to zero, then the brakes close.",
    )


def _curves(time: FloatArray, values: FloatArray) -> tuple[Curve, ...]:
    kept = slice(None, None, 1 + len(time) // DRAWN)
    return leg_curves(time[kept], values[kept])
