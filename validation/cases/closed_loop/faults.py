"""Faults that a closed loop has to survive, and plots of its runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.control.gains import suitable_position_loop, suitable_velocity_loop
from twin.control.positions import has_encoders, takes_positions
from twin.simulation.trajectory import Trajectory
from twin.validation.measures.driven import alike, force_name, leg_curves
from twin.validation.results import Curve, Panel, Plot

PERIOD = 1e-3
"""[s]"""

OVERLOAD = 2.0
"""Of what all drives together can give."""

WILD = 1e3
"""Times the machine's own gains: far beyond any margin."""

DIVERGENCE = 10.0
"""Position gain times control period: each period multiplies an error by 1 less this. Beyond 2 a
loop diverges, whatever the machine's own gain."""


class Fault(NamedTuple):
    """A fault of a closed loop."""

    name: str
    options: Callable[[Platform], dict[str, Any] | None]
    """what makes it: gains, dropouts, a wrench, or the height [m] of a jump; None: impossible"""
    duration: float = 1.2
    """[s]"""
    drawn: bool = False


def _dropout(platform: Platform) -> dict[str, Any]:
    return {"dropouts": [(0.3, 99.0)]}


def _unreachable(platform: Platform) -> dict[str, Any]:
    """Return a jump to twice the height that the stroke allows."""
    stroke = float((platform.maximum_coordinates - platform.minimum_coordinates).max())
    lever = 1.0
    if platform.coordinate_unit == "rad":
        lever = float(np.linalg.norm(platform.platform_joints, axis=1).mean())
    return {"jump": 2.0 * stroke * lever}


def _wild_velocity(platform: Platform) -> dict[str, Any] | None:
    """Return the gain; None for drives that take positions and have no such loop."""
    if takes_positions(platform):
        return None
    return {"velocity_gain": WILD * suitable_velocity_loop(platform, PERIOD)[0]}


def _wild_position(platform: Platform) -> dict[str, Any] | None:
    """Return the gain; None for drives that take positions."""
    if takes_positions(platform):
        return None
    own = suitable_position_loop(platform, PERIOD)[0]
    return {"position_gain": max(WILD * own, DIVERGENCE / PERIOD)}


def _overload(platform: Platform) -> dict[str, Any] | None:
    """Return a weight that the drives cannot carry for 0.3 s.

    None if the drives have no limit, or if springs would have to carry the weight.
    """
    drives = [leg.drive for leg in platform.parameters.legs]
    peaks = [None if drive is None else drive.reflected().peak for drive in drives]
    if any(peak is None for peak in peaks) or platform.leg.has_spring:
        return None
    lifting = platform.jacobian(platform.home)[:, 2]
    total = OVERLOAD * float(np.abs(lifting) @ np.array(peaks, dtype=float))
    load = np.array([0.0, 0.0, -total, 0.0, 0.0, 0.0])

    def weight(time: float, state: Any) -> FloatArray:
        return load * (0.2 < time < 0.5)

    return {"wrench": weight}


FAULTS = (
    Fault("sensor dropout", _dropout, drawn=True),
    Fault("unreachable pose", _unreachable),
    Fault("unstable velocity gain", _wild_velocity),
    Fault("unstable position gain", _wild_position, 3.0),
    Fault("overload", _overload, 1.5),
)
"""In the order of the report."""


RAMP_END = 0.02
"""Of the largest speed: a ramp ends with a smaller command, a step with a larger one."""

DRAWN = 2000
"""Points of a curve at most."""


def tracking_plot(platform: Platform, course: Trajectory) -> Plot:
    """Return setpoint, error and forces or torques of a tracked motion."""
    time = course.signals["time"]
    unit = f"m{platform.coordinate_unit}"
    start = course.signals["setpoint"][0]
    error = course.signals["setpoint"] - course.signals["measured"]
    same = alike(course.signals["setpoint"] - start, error, course.forces)
    return Plot(
        "Heave in closed loop",
        "time [s]",
        Panel(f"setpoint [{unit}]", *leg_curves(time, 1e3 * (course.signals["setpoint"] - start))),
        Panel(f"error [{unit}]", *leg_curves(time, 1e3 * error)),
        Panel(
            f"{force_name(platform)} [{platform.force_unit}]", *_curves(course.time, course.forces)
        ),
        caption=f"Error: setpoint less the encoders' reading. {same}".rstrip(),
    )


def stop_plot(platform: Platform, fault: Fault, run: Trajectory) -> Plot:
    """Return actual and commanded speeds of a run that a fault ended."""
    unit = f"{run.coordinate_unit}/s"
    reason = run.stopped[:1].upper() + run.stopped[1:]
    command = run.signals["command"]
    same = alike(run.rates, command)
    return Plot(
        f"Safe stop: {fault.name}",
        "time [s]",
        Panel(f"actuator speed [{unit}]", *_curves(run.time, run.rates)),
        Panel(f"commanded speed [{unit}]", *leg_curves(run.signals["time"], command)),
        caption=f"{reason}. {_way_to_rest(platform, command, unit)} {same}".rstrip(),
    )


def _way_to_rest(platform: Platform, command: FloatArray, unit: str) -> str:
    """Return how commanded speeds `(k, n)` fall to zero, and whether brakes close then."""
    drives = [leg.drive for leg in platform.parameters.legs]
    braked = any(drive is not None and drive.reflected().brake > 0.0 for drive in drives)
    after = "then the brakes close" if braked else "the machine has no brakes"
    last = float(np.abs(command[command.any(axis=1)][-1:]).max(initial=0.0))
    if last <= RAMP_END * float(np.abs(command).max()):
        return f"From the speeds measured last, commanded speeds are ramped to zero; {after}."
    counted = ", less than a count of the encoders in a period" if has_encoders(platform) else ""
    return (
        f"The speeds measured last are zero{counted}: the commanded speeds drop from {last:.2g} "
        f"{unit} to zero at once, without a ramp; {after}."
    )


def _curves(time: FloatArray, values: FloatArray) -> tuple[Curve, ...]:
    kept = slice(None, None, 1 + len(time) // DRAWN)
    return leg_curves(time[kept], values[kept])
