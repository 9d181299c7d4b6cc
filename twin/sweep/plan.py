"""The runs of a sweep: everything a worker needs for each, and the key it is known by.

A sweep measures the errors of the closed loop, and a user's own numbers.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
from collections import ChainMap
from collections.abc import Callable
from functools import cached_property
from itertools import product, starmap
from math import isfinite, prod
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

import numpy as np

from twin import __version__
from twin.analysis.platform import Platform
from twin.analysis.tracking import TrackingErrors
from twin.basics.arrays import FloatArray
from twin.errors import InputError, ParameterError, brief
from twin.machine.file.read import parameters_hash, read_parameters
from twin.machine.machine import MachineParameters, parameters_path
from twin.machine.randomisation.sampler import unit_at
from twin.motion.motion import POSITION_AXES
from twin.motion.specification import MotionSpecification
from twin.simulation.simulate import Trajectory
from twin.sweep.description import (
    LARGEST_COUNT,
    ControllerChoice,
    Part,
    PayloadChoice,
    Sweep,
    si_number,
)

SPACINGS = ("linear", "logarithmic")
"""Spacings of the numbers of a range."""

VALUES_HINT = (
    "write numbers separated by commas, or start:stop:count or start:stop:count:logarithmic"
)

MOTION_UNITS = {"amplitude": "m or rad", "frequency": "Hz", "duration": "s"}
"""Names that may follow `motion.` in a parameter's path -> SI unit."""


class Range(NamedTuple):
    """Numbers between two bounds, both included."""

    start: float
    stop: float
    point_count: int | None
    """number of grid points; None where the range is sampled"""
    spacing: str

    def at(self, fractions: FloatArray) -> FloatArray:
        """Return the numbers `(m,)` at fractions `(m,)` of the range, from its start."""
        if self.spacing == "linear":
            return self.start + fractions * (self.stop - self.start)
        return self.start * (self.stop / self.start) ** fractions

    def grid(self) -> tuple[float, ...]:
        """Return the numbers of the grid, with the bounds as they were given."""
        if self.point_count == 1:
            return (self.start,)
        inner_numbers = self.at(np.linspace(0.0, 1.0, self.point_count or 2))[1:-1]
        return (self.start, *inner_numbers.tolist(), self.stop)


def read_values(values: tuple[float | str, ...], unit: str) -> tuple[float, ...] | Range:
    """Return the values of a parameter in SI.

    Args:
        values: numbers or texts "4 ms", each also several with commas; or one text
            `start:stop`, `start:stop:count` or these with `:logarithmic`.
        unit: SI unit of the parameter; empty for a plain number.

    Raises:
        ValueError: no such text, a unit of another kind, or not finite.
    """
    if len(values) == 1 and isinstance(values[0], str) and ":" in values[0]:
        return _read_range(values[0], unit)
    texts = [text for value in values for text in str(value).split(",")]
    numbers = tuple(si_number(text.strip(), unit) for text in texts)
    if not all(map(isfinite, numbers)):
        raise ValueError("must be finite numbers")
    return numbers


def _read_range(text: str, unit: str) -> Range:
    """Return the range that a text `start:stop[:count][:spacing]` describes."""
    start_text, stop_text, *settings = (part.strip() for part in text.split(":"))
    spacing = settings.pop() if settings and settings[-1] in SPACINGS else "linear"
    count_text = settings.pop() if settings else None
    if settings or not (count_text is None or count_text.isdecimal()):
        raise ValueError(f"{text!r} is no range; {VALUES_HINT}")
    start, stop = si_number(start_text, unit), si_number(stop_text, unit)
    count = None if count_text is None else int(count_text)
    if not (isfinite(start) and isfinite(stop) and (count is None or 1 <= count <= LARGEST_COUNT)):
        raise ValueError(f"needs finite bounds and a count from 1 to {LARGEST_COUNT}")
    if spacing == "logarithmic" and min(start, stop) <= 0.0:
        raise ValueError("a logarithmic range needs ends above zero")
    return Range(start, stop, count, spacing)


class Task(Part):
    """One run of a sweep, with the machine itself, so that workers need no files."""

    index: int
    """index of the run in the sweep"""
    machine: MachineParameters
    """machine in its configuration, without the sweep's values and payload"""
    configuration: str
    engine: str
    fidelity: str
    """Fidelity of the engine"""
    timestep: float | None
    """[s] time step of the engine; None for the default"""
    motion: MotionSpecification
    controller: ControllerChoice
    values: dict[str, float]
    """values of parameters by dotted path, SI"""
    payload: PayloadChoice
    seed: int
    recording: str | None
    """content of the motion's file if it is a recording"""
    measure: str | None
    """`package.module:function` of the user's measure"""
    measure_source: str
    """source of that function: with other source the results differ"""

    @cached_property
    def key(self) -> str:
        """Hexadecimal digest of all that decides on the result, the package's version included."""
        inputs = self.model_dump_json(exclude={"index", "machine"})
        text = f"{__version__} {parameters_hash(self.machine)} {inputs}"
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def columns(self) -> dict[str, Any]:
        """Return the inputs of the run, by the names of the results' columns."""
        options = dict(self.controller.options) | {"model": self.controller.model}
        return {
            "key": self.key,
            "run": self.index,
            "version": __version__,
            "machine": self.machine.name,
            "configuration": self.configuration,
            "machine_hash": parameters_hash(self.machine),
            "engine": self.engine,
            "fidelity": self.fidelity,
            "motion": self.motion.name,
            "axis": self.motion.axis,
            "controller": self.controller.title,
            "controller_name": self.controller.name,
            "controller_options": json.dumps(options, sort_keys=True),
            "payload": self.payload.title,
            "seed": self.seed,
            **self.values,
        }


def plan(sweep: Sweep) -> list[Task]:
    """Return the runs of a sweep in order: the last list varies fastest, seeds last of all.

    Raises:
        InputError: a path the machine does not have, values that it cannot have, a configuration
            that its file does not have, a function that cannot be imported, a run that is listed
            twice, or too many of them.
        MachineNotFoundError: no such machine.
        ParameterError: the machine's file or the recording cannot be used.
    """
    file = parameters_path(sweep.machine)
    machines = {name: read_parameters(file, name or None) for name in sweep.configurations}
    for machine in machines.values():  # all must have the parameters; units are the same
        values = _values(sweep, machine)
    axes = _axes(values, sweep.samples)
    option_lists = (sweep.configurations, sweep.engines, sweep.controllers, sweep.payloads)
    run_count = prod(map(len, (*option_lists, *axes, sweep.seeds)))
    if run_count > LARGEST_COUNT:
        raise InputError("sweep", f"has {run_count} runs; at most {LARGEST_COUNT} are taken")
    points = [
        {path: numbers[path] for path in values} for numbers in starmap(ChainMap, product(*axes))
    ]
    shared = {
        "fidelity": sweep.fidelity,
        "timestep": sweep.timestep,
        "motion": sweep.motion,
        "recording": _recording(sweep.motion.name),
        "measure": sweep.measure,
        "measure_source": measure_source(sweep.measure) if sweep.measure else "",
    }
    names = ("configuration", "engine", "controller", "payload", "values", "seed")
    combinations = product(*option_lists, points, sweep.seeds)
    tasks = [
        Task(
            index=index,
            machine=machines[inputs[0]],
            **dict(zip(names, inputs, strict=True)),
            **shared,
        )
        for index, inputs in enumerate(combinations)
    ]
    if len({task.key for task in tasks}) < len(tasks):
        raise InputError("sweep", "lists the same run twice")
    return tasks


def _values(sweep: Sweep, machine: MachineParameters) -> dict[str, tuple[float, ...] | Range]:
    """Return the values of all parameters in SI, by path."""
    values_by_path = {}
    for path, values in sweep.parameters.items():
        unit = _unit(sweep.motion, machine, path)
        try:
            numbers = read_values(values, unit)
        except ValueError as error:
            raise InputError(f"parameters.{path}", str(error)) from None
        if isinstance(numbers, Range) and (numbers.point_count is None) != bool(sweep.samples):
            advice = "leave the count to samples" if sweep.samples else "add a count"
            raise InputError(f"parameters.{path}", f"is a range: {advice}")
        values_by_path[path] = numbers
    return values_by_path


def _unit(motion: MotionSpecification, machine: MachineParameters, path: str) -> str:
    """Return the SI unit of a parameter; empty for a plain number, as of a controller."""
    family, _, name = path.partition(".")
    if family == "controller":
        return ""
    if family != "motion":
        return unit_at(machine, path)
    if name not in MOTION_UNITS:
        names = ", ".join(f"motion.{known}" for known in MOTION_UNITS)
        raise InputError(path, f"is no number of the motion; its numbers are {names}")
    if name == "amplitude":
        # The amplitude of a tank course is its peak pitch, whatever the axis.
        return "m" if motion.axis in POSITION_AXES and motion.name != "tank" else "rad"
    return MOTION_UNITS[name]


def _axes(
    values: dict[str, tuple[float, ...] | Range], samples: int | None
) -> list[list[dict[str, float]]]:
    """Return lists of values by path; every combination of their entries is a point.

    There is one for each parameter, but one in common for all ranges that are sampled.
    """
    ranges, axes = {}, []
    for path, entry in values.items():
        if samples is not None and isinstance(entry, Range):
            ranges[path] = entry
        else:
            numbers = entry.grid() if isinstance(entry, Range) else entry
            axes.append([{path: number} for number in numbers])
    if samples is None:
        return axes
    if not ranges:
        raise InputError("samples", "needs a range among the parameters")

    from scipy.stats import qmc

    generator = np.random.default_rng(0)
    fractions = qmc.LatinHypercube(len(ranges), rng=generator).random(samples)
    columns = [entry.at(fractions[:, k]).tolist() for k, entry in enumerate(ranges.values())]
    return [*axes, [dict(zip(ranges, row, strict=True)) for row in zip(*columns, strict=True)]]


def _recording(name: str) -> str | None:
    """Return the content of a recorded motion; None where the name is no file name."""
    if not Path(name).suffix:
        return None
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ParameterError(name, [("motion", f"cannot be read ({error})")]) from None


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
