"""One run of a sweep: everything a worker needs for it, and the key it is known by."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from twin import __version__
from twin.analysis.platform import Platform
from twin.analysis.tracking import TrackingErrors
from twin.errors import InputError, ParameterError, brief
from twin.machine.file.read import parameters_hash, read_parameters
from twin.machine.machine import MachineParameters, parameters_path
from twin.machine.randomisation.sampler import numeric_paths, with_values
from twin.simulation.trajectory import Trajectory
from twin.sweep.description import ControllerChoice, MotionChoice, PayloadChoice, Range, Sweep

KEY_FORMAT = 1
"""Version of keys and columns; results of another version are not reused."""

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

NON_MACHINE_PREFIXES = ("motion", "controller")
"""First words of the paths of parameters that do not belong to the machine."""

LARGEST_COUNT = 1_000_000
"""Maximum number of runs of a sweep."""


@dataclass(frozen=True)
class Task:
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
    motion: MotionChoice
    controller: ControllerChoice
    values: dict[str, float] = field(default_factory=dict)
    """values of parameters by dotted path, SI"""
    payload: PayloadChoice = field(default_factory=PayloadChoice)
    seed: int = 0
    recording: str | None = None
    """content of the motion's file if it is a recording"""
    measure: str | None = None
    """`package.module:function` of the user's measure"""
    measure_source: str = ""
    """source of that function: with other source the results differ"""

    @cached_property
    def key(self) -> str:
        """Hexadecimal digest of all that decides on the result, the package's version included."""
        content = {
            "format": KEY_FORMAT,
            "version": __version__,
            "machine": parameters_hash(self.machine),
            "motion": self.motion.model_dump(mode="json"),
            "controller": self.controller.model_dump(mode="json"),
            "payload": self.payload.model_dump(mode="json"),
        }
        field_names = ("engine", "fidelity", "timestep", "values", "seed", "recording", "measure")
        content |= {name: getattr(self, name) for name in (*field_names, "measure_source")}
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    @property
    def name(self) -> str:
        """Short name of the run, for messages."""
        parts = [f"{path}={value:.6g}" for path, value in self.values.items()]
        parts += [f"payload {self.payload.title}"] if self.payload.title != "none" else []
        labels = (self.controller.title, self.engine, self.configuration, *parts)
        return f"run {self.index}: {', '.join(filter(None, labels))}, seed {self.seed}"

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


def own_measures(name: str, trajectory: Trajectory, platform: Platform) -> dict[str, float]:
    """Return the numbers that a user's function computes from a run.

    Args:
        name: `package.module:function`.
        trajectory: trajectory of the closed loop.
        platform: the machine of the run, with values and payload.

    Raises:
        InputError: the function cannot be imported, or returns something else than finite numbers
            by names that are free.
    """
    returned = measure_function(name)(trajectory, platform)
    if not isinstance(returned, Mapping):
        raise InputError("measure", f"{name} must return numbers by name, not {brief(returned)}")
    values_by_column = {}
    for column, value in returned.items():
        if not isinstance(column, str) or column in MEASURE_UNITS:
            raise InputError("measure", f"{name}: {column!r} is no free name of a column")
        try:
            values_by_column[column] = float(value)
        except (TypeError, ValueError):
            raise InputError("measure", f"{name}: {column} is no number: {value!r}") from None
        if math.isinf(values_by_column[column]):
            raise InputError("measure", f"{name}: {column} is infinite")
    return values_by_column


def measure_function(name: str) -> Callable[[Trajectory, Platform], Any]:
    """Return the function `package.module:function`; modules of the working folder are found too.

    Raises:
        InputError: it cannot be imported, or is no function.
    """
    module, _, function = name.partition(":")
    working_folder = str(Path.cwd())
    if working_folder not in sys.path:
        sys.path.append(working_folder)
    try:
        function_object = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise InputError("measure", f"{name} cannot be imported ({error})") from None
    if not callable(function_object):
        raise InputError("measure", f"{name} is no function")
    result: Callable[[Trajectory, Platform], Any] = function_object
    return result


def measure_source(name: str) -> str:
    """Return the source of a user's function; empty where it is not available.

    Raises:
        InputError: it cannot be imported, or is no function.
    """
    try:
        return inspect.getsource(measure_function(name))
    except (OSError, TypeError):
        return ""


Point = tuple[float, ...]


def plan(sweep: Sweep) -> list[Task]:
    """Return the runs of a sweep in order: the last list varies fastest, seeds last of all.

    Raises:
        InputError: a path the machine does not have, a configuration that its file does not have, a
            function that cannot be imported, a run that is listed twice, or too many of them.
        MachineNotFoundError: no such machine.
        ParameterError: the machine's file or the recording cannot be used.
    """
    machines = {name: _machine(sweep, name) for name in sweep.configurations}
    names = list(sweep.parameters)
    for machine in machines.values():
        _check_paths(machine, names)
    points = _points(sweep)
    option_lists = (sweep.configurations, sweep.engines, sweep.controllers, sweep.payloads)
    run_count = (
        len(points) * len(sweep.seeds) * int(np.prod([len(entries) for entries in option_lists]))
    )
    if run_count > LARGEST_COUNT:
        raise InputError("sweep", f"has {run_count} runs; at most {LARGEST_COUNT} are taken")
    recording = _recording(sweep.motion.name)
    source_text = measure_source(sweep.measure) if sweep.measure else ""
    combinations = product(*option_lists, points, sweep.seeds)
    tasks = [
        Task(
            index=index,
            machine=machines[configuration],
            configuration=configuration,
            engine=engine,
            fidelity=sweep.fidelity,
            timestep=sweep.timestep,
            motion=sweep.motion,
            controller=controller,
            values=dict(zip(names, point, strict=True)),
            payload=payload,
            seed=seed,
            recording=recording,
            measure=sweep.measure,
            measure_source=source_text,
        )
        for index, (configuration, engine, controller, payload, point, seed) in enumerate(
            combinations
        )
    ]
    tasks_by_key: dict[str, Task] = {}
    for task in tasks:
        if tasks_by_key.setdefault(task.key, task) is not task:
            raise InputError("sweep", f"lists the same run twice: {task.name}")
    return tasks


def _machine(sweep: Sweep, fidelity: str) -> MachineParameters:
    return read_parameters(parameters_path(sweep.machine), fidelity or None)


def _check_paths(machine: MachineParameters, names: list[str]) -> None:
    known_paths = set(numeric_paths(machine))
    for name in names:
        if name.partition(".")[0] not in NON_MACHINE_PREFIXES and name not in known_paths:
            with_values(machine, {name: 0.0})  # names the nearest paths
            raise InputError(name, f"{machine.name} has no such number")


def _points(sweep: Sweep) -> list[Point]:
    """Return the values of all parameters, one row per combination."""
    if sweep.sampling is None:
        numbers = (n.numbers() if isinstance(n, Range) else n for n in sweep.parameters.values())
        return list(product(*numbers))
    return list(_sampled(sweep))


def _sampled(sweep: Sweep) -> Iterator[Point]:
    """Yield points between the ends of all ranges, for every combination of the lists."""
    from scipy.stats import qmc

    sampling = sweep.sampling
    assert sampling is not None
    ranges = {
        path: numbers for path, numbers in sweep.parameters.items() if isinstance(numbers, Range)
    }
    generator = np.random.default_rng(sampling.seed)
    shape = (sampling.count, len(ranges))
    if sampling.kind == "random":
        sample_fractions = generator.random(shape)
    else:
        sample_fractions = qmc.LatinHypercube(shape[1], rng=generator).random(shape[0])
    sampled_values = {
        path: numbers.at(sample_fractions[:, k]) for k, (path, numbers) in enumerate(ranges.items())
    }
    listed_values = {
        path: numbers
        for path, numbers in sweep.parameters.items()
        if not isinstance(numbers, Range)
    }
    for combination in product(*listed_values.values()):
        combination_values = dict(zip(listed_values, combination, strict=True))
        for row in range(sampling.count):
            values = combination_values | {
                path: float(column[row]) for path, column in sampled_values.items()
            }
            yield tuple(values[path] for path in sweep.parameters)


def _recording(name: str) -> str | None:
    """Return the content of a recorded motion; None where the name is no file name."""
    if not Path(name).suffix:
        return None
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ParameterError(name, [("motion", f"cannot be read ({error})")]) from None
