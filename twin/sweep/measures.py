"""What a sweep measures of a run: the errors of the closed loop, and a user's own numbers."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np

from twin.analysis.platform import Platform
from twin.analysis.tracking import TrackingErrors
from twin.errors import InputError, brief
from twin.simulation.trajectory import Trajectory

MEASURE_UNITS = {
    "position_rms": "m",
    "position_peak": "m",
    "rotation_rms": "rad",
    "rotation_peak": "rad",
    "actuator_rms": "m or rad",
    "actuator_peak": "m or rad",
    "force_peak": "N or N m",
    "force_rms": "N or N m",
    "rate_peak": "m/s or rad/s",
    "end_time": "s",
}
"""Columns of every run -> unit. Errors are evaluated at the control instants; a run that was
stopped counts up to its end."""


def measures(trajectory: Trajectory) -> dict[str, float]:
    """Return the `MEASURE_UNITS` of a closed loop.

    Raises:
        InputError: not the trajectory of a closed loop.
    """
    errors = TrackingErrors(trajectory)
    position, rotation, actuators = errors.root_mean_square()
    return {
        "position_rms": position,
        "position_peak": float(errors.position.max()),
        "rotation_rms": rotation,
        "rotation_peak": float(errors.rotation.max()),
        "actuator_rms": actuators,
        "actuator_peak": float(np.abs(errors.actuators).max()),
        "force_peak": float(np.abs(trajectory.forces).max()),
        "force_rms": float(np.sqrt(np.mean(trajectory.forces**2))),
        "rate_peak": float(np.abs(trajectory.rates).max()),
        "end_time": float(trajectory.time[-1]),
    }


def user_measures(name: str, trajectory: Trajectory, platform: Platform) -> dict[str, float]:
    """Return the numbers that a user's function computes from a run.

    Args:
        name: `package.module:function`.
        trajectory: trajectory of the closed loop.
        platform: the machine of the run, with values and payload.

    Raises:
        InputError: the function cannot be imported, or returns something else than numbers by
            names that are free.
    """
    returned = _function(name)(trajectory, platform)
    try:
        numbers = {str(column): float(value) for column, value in dict(returned).items()}
    except (TypeError, ValueError):
        message = f"{name} must return numbers by name, not {brief(returned)}"
        raise InputError("measure", message) from None
    if taken := numbers.keys() & MEASURE_UNITS.keys():
        raise InputError("measure", f"{name}: {', '.join(taken)} is no free name of a column")
    return numbers


def measure_source(name: str) -> str:
    """Return the source of a user's function; empty where it is not available.

    Raises:
        InputError: it cannot be imported, or is no function.
    """
    try:
        return inspect.getsource(_function(name))
    except (OSError, TypeError):
        return ""


def _function(name: str) -> Callable[[Trajectory, Platform], Any]:
    """Return the function `package.module:function`; modules of the working folder are found."""
    working_folder = str(Path.cwd())
    if working_folder not in sys.path:
        sys.path.append(working_folder)
    try:
        function: Callable[[Trajectory, Platform], Any] = resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError("measure", f"{name} cannot be imported ({error})") from None
    if not callable(function):
        raise InputError("measure", f"{name} is no function")
    return function
