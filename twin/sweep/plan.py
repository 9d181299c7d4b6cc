"""The runs of a sweep: every combination of what it lists, with machines read and paths checked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from twin.errors import InputError, ParameterError
from twin.machine.catalogue import parameters_path
from twin.machine.file.read import read_parameters
from twin.machine.machine import MachineParameters
from twin.machine.randomisation.paths import numeric_paths, with_values
from twin.sweep.description import Sweep
from twin.sweep.measure import measure_source
from twin.sweep.task import Task
from twin.sweep.values import Range

Point = tuple[float, ...]

APART = ("motion", "controller")
"""First words of parameters that are not of the machine."""

LARGEST_COUNT = 1_000_000
"""Runs."""


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
    lists = (sweep.configurations, sweep.engines, sweep.controllers, sweep.payloads)
    count = len(points) * len(sweep.seeds) * int(np.prod([len(entries) for entries in lists]))
    if count > LARGEST_COUNT:
        raise InputError("sweep", f"has {count} runs; at most {LARGEST_COUNT} are taken")
    recording = _recording(sweep.motion.name)
    source = measure_source(sweep.measure) if sweep.measure else ""
    combinations = product(*lists, points, sweep.seeds)
    tasks = [
        Task(
            index=index,
            machine=machines[fidelity],
            configuration=fidelity,
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
            measure_source=source,
        )
        for index, (fidelity, engine, controller, payload, point, seed) in enumerate(combinations)
    ]
    seen: dict[str, Task] = {}
    for task in tasks:
        if seen.setdefault(task.key, task) is not task:
            raise InputError("sweep", f"lists the same run twice: {task.name}")
    return tasks


def _machine(sweep: Sweep, fidelity: str) -> MachineParameters:
    return read_parameters(parameters_path(sweep.machine), fidelity or None)


def _check_paths(machine: MachineParameters, names: list[str]) -> None:
    known = set(numeric_paths(machine))
    for name in names:
        if name.partition(".")[0] not in APART and name not in known:
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
    ranges = {path: n for path, n in sweep.parameters.items() if isinstance(n, Range)}
    generator = np.random.default_rng(sampling.seed)
    shape = (sampling.count, len(ranges))
    if sampling.kind == "random":
        shares = generator.random(shape)
    else:
        shares = qmc.LatinHypercube(shape[1], rng=generator).random(shape[0])
    drawn = {path: n.at(shares[:, k]) for k, (path, n) in enumerate(ranges.items())}
    listed = {path: n for path, n in sweep.parameters.items() if not isinstance(n, Range)}
    for combination in product(*listed.values()):
        chosen = dict(zip(listed, combination, strict=True))
        for row in range(sampling.count):
            values = chosen | {path: float(column[row]) for path, column in drawn.items()}
            yield tuple(values[path] for path in sweep.parameters)


def _recording(name: str) -> str | None:
    """Return the content of a recorded motion, None where the name is of no file."""
    if not Path(name).suffix:
        return None
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ParameterError(name, [("motion", f"cannot be read ({error})")]) from None
