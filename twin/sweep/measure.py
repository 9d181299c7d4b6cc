"""Measures of a run in a sweep, and functions of a user's own that measure more."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from twin.analysis.platform import Platform
from twin.analysis.tracking import TrackingErrors
from twin.errors import InputError, brief
from twin.simulation.trajectory import Trajectory

MEASURES = {
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
"""Columns that every run has -> unit. Errors are at the control instants; a run that was stopped
counts up to its end."""


def measures(trajectory: Trajectory) -> dict[str, float]:
    """Return the `MEASURES` of a closed loop.

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


def own_measures(name: str, trajectory: Trajectory, platform: Platform) -> dict[str, float]:
    """Return what a user's function measures of a run.

    Args:
        name: `package.module:function`.
        trajectory: of the closed loop.
        platform: the machine of the run, with values and payload.

    Raises:
        InputError: the function cannot be imported, or returns something else than finite numbers
            by names that are free.
    """
    found = measure_function(name)(trajectory, platform)
    if not isinstance(found, Mapping):
        raise InputError("measure", f"{name} must return numbers by name, not {brief(found)}")
    checked = {}
    for column, value in found.items():
        if not isinstance(column, str) or column in MEASURES:
            raise InputError("measure", f"{name}: {column!r} is no free name of a column")
        try:
            checked[column] = float(value)
        except (TypeError, ValueError):
            raise InputError("measure", f"{name}: {column} is no number: {value!r}") from None
        if math.isinf(checked[column]):
            raise InputError("measure", f"{name}: {column} is infinite")
    return checked


def measure_function(name: str) -> Callable[[Trajectory, Platform], Any]:
    """Return the function `package.module:function`; modules of the working folder are found too.

    Raises:
        InputError: it cannot be imported, or is no function.
    """
    module, _, function = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise InputError("measure", f"{name} cannot be imported ({error})") from None
    if not callable(found):
        raise InputError("measure", f"{name} is no function")
    wanted: Callable[[Trajectory, Platform], Any] = found
    return wanted


def measure_source(name: str) -> str:
    """Return the source of a user's function, empty where there is none to see.

    Raises:
        InputError: it cannot be imported, or is no function.
    """
    try:
        return inspect.getsource(measure_function(name))
    except (OSError, TypeError):
        return ""
