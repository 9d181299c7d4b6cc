"""What the console commands do, once their arguments are read."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from twin.arrays import FloatArray
from twin.catalogue import load, machine_names
from twin.console import Column, line, table
from twin.engines.stability import suitable_timestep
from twin.errors import InputError
from twin.files import check_place
from twin.platform import Platform
from twin.viewer.text import number, value_text

HOLD = "hold"
"""Word for the forces that carry a machine at the pose it starts from."""


def list_machines() -> None:
    """Print the shipped machines."""
    rows = []
    for name in machine_names():
        platform = load(name)
        counts = (str(platform.dof), str(platform.n_actuators))
        rows.append((name, platform.parameters.title, *counts))
    titles = (Column("machine"), Column("title"), Column("freedoms", True))
    table((*titles, Column("actuators", True)), rows)


def info(machine: str, machine_preset: str | None = None) -> None:
    """Print a machine's parameters with their sources, and figures that follow from them."""
    from twin.facts import machine_facts
    from twin.parameters.describe import describe

    platform = load(machine, machine_preset)
    line(f"{platform.name}: {platform.parameters.title}", bold=True)
    line(f"{platform.dof} freedoms, {platform.n_actuators} actuators, parameters {platform.hash}")
    columns = [Column(name) for name in ("parameter", "value", "unit", "description")]
    for (path, source), group in groupby(
        describe(platform.parameters), lambda p: (p.table, p.source)
    ):
        rows = [(p.name, value_text(p.value, p.unit), p.unit, p.description) for p in group]
        table(columns, rows, f"{path or 'machine'} (source: {source})")
    facts = [(f.name, value_text(f.value), f.unit, f.note) for f in machine_facts(platform)]
    names = ("quantity", "value", "unit", "note")
    table([Column(name) for name in names], facts, "what follows from them")


def validate(
    machines: Sequence[str] | None,
    cases: Sequence[str] | None,
    html: Path | None,
    json: Path | None,
    jobs: int | None,
    command: str,
) -> bool:
    """Run the validation, write the report and print its summary; returns whether it passed."""
    from twin.validation.report import make_report

    content = make_report(machines or machine_names(), cases, html, json, jobs, command)
    rows = []
    for case in content["cases"]:
        seconds = number(case["seconds"], 3)
        rows.append((case["verdict"], case["machine"], case["case"], case["title"], seconds))
    titles = [Column(name) for name in ("verdict", "machine", "case", "title")]
    table((*titles, Column("s", True)), rows)
    for case in content["cases"]:
        where = f"{case['machine']}, {case['case']}"
        if case["error"]:
            line(f"fail: {where}: {case['error']}")
        for measure in case["measures"]:
            if measure["verdict"] == "fail":
                value, tolerance = number(measure["value"], 4), number(measure["tolerance"], 4)
                unit = "" if measure["unit"] == "1" else f" {measure['unit']}"
                bound = f"{measure['bound']} {tolerance}{unit}"
                line(f"fail: {where}: {measure['name']} is {value}, must be {bound}")
    counts = content["counts"]
    judged = counts["measures"]["pass"] + counts["measures"]["fail"]
    line(
        f"{content['verdict']}: {counts['cases'] - counts['failed_cases']} of {counts['cases']} "
        f"cases, {counts['measures']['pass']} of {judged} judged measures, "
        f"{content['seconds']:.1f} s",
        bold=True,
    )
    for path in (html, json):
        if path is not None:
            line(f"wrote {path}")
    return bool(content["verdict"] != "fail")


def simulate(
    machine: str,
    machine_preset: str | None,
    force: str,
    pose: str | None,
    twist: str | None,
    out: Path | None,
    plot: Path | None,
    **options: Any,
) -> None:
    """Simulate, print the start and the end of the motion, and write what was asked for."""
    for path, ending in ((out, ".npz"), (plot, "")):
        if path is not None:
            check_place(path, ending)
    platform = load(machine, machine_preset)
    if options["timestep"] is None:
        options["timestep"] = suitable_timestep(platform)
    start = None if pose is None else numbers(pose, "pose")
    rate = None if twist is None else numbers(twist, "twist")
    forces = constant_forces(platform, force, start)
    if plot is not None:
        from twin.viewer.extra import report_library

        report_library("plotly", "Plotting")
    began = clock.perf_counter()
    motion = platform.simulate(
        options.pop("duration"), pose=start, twist=rate, forces=forces, **options
    )
    seconds = clock.perf_counter() - began
    rows = []
    for k in (0, -1):
        columns = (motion.pose[k], motion.lengths[k])
        texts = (
            ", ".join(f"{round(value, 6) + 0.0:.6f}" for value in column) for column in columns
        )
        rows.append((number(float(motion.time[k])), *texts))
    coordinates = f"{platform.parameters.leg.coordinate}s [{platform.coordinate_unit}]"
    titles = (Column("time [s]", True), Column("pose [m, quaternion]"), Column(coordinates))
    table(titles, rows)
    steps = round(float(motion.time[-1]) / motion.timestep)
    line(f"{platform.name} in {motion.engine}: {steps} steps in {seconds:.3g} s")
    # An engine's platform is off the conditions of its fixed foot by the loop gap.
    if not platform.within_limits(platform.constrain(motion.pose).pose).all():
        line("the actuators leave their limits on the way; the model has no end stops")
    if out is not None:
        line(f"wrote {motion.save(out)}")
    if plot is not None:
        from twin.viewer.panels import write_figure

        line(f"wrote {write_figure(motion.plot(), plot)}")


def new(path: Path, legs: str) -> None:
    """Write a commented platform.toml for a new machine."""
    from twin.parameters.template import write_template

    written = write_template(path, legs)
    line(f"wrote {written}; fill in your numbers, then check them with: twin info {written}")


def export(machine: str, machine_preset: str | None, form: str, folder: Path) -> None:
    """Write a machine's model files and print their names."""
    from twin.engines.export import export as write_model

    for path in write_model(load(machine, machine_preset), form, folder):
        line(f"wrote {path}")


def bench(machines: Sequence[str] | None) -> None:
    """Print times of the main functions and of the engines' steps."""
    from twin.benchmark import BATCH, function_times, step_times

    for name in machines or machine_names():
        platform = load(name)
        functions = [
            (time.name, f"{1e6 * time.one:.2f}", f"{1e6 * time.batch:.2f}", f"{1 / time.batch:.3g}")
            for time in function_times(platform)
        ]
        titles = ("one call [us]", f"in a batch of {BATCH} [us]", "states/s")
        columns = [Column("function"), *(Column(title, True) for title in titles)]
        table(columns, functions, platform.name)
        timestep = suitable_timestep(platform)
        steps = []
        for time in step_times(platform):
            words = (
                ("not installed", "")
                if time.step is None
                else (
                    f"{1e6 * time.step:.1f}",
                    f"{timestep / time.step:.1f}",
                )
            )
            steps.append((time.engine, time.preset, *words))
        titles_of_steps = [Column("engine"), Column("preset"), Column("step [us]", True)]
        table([*titles_of_steps, Column(f"times real time at {1e3 * timestep:g} ms", True)], steps)


def constant_forces(platform: Platform, text: str, pose: Any) -> FloatArray:
    """Return forces `(n,)` [N or N m] from a number, a list of numbers or `HOLD` at `pose`.

    Raises:
        InputError: something else, or another count than the machine has actuators.
    """
    if text.strip() == HOLD:
        rest = np.zeros(6)
        start = platform.home if pose is None else pose
        return platform.inverse_dynamics(start, rest, rest)
    values = numbers(text, "force")
    if len(values) not in (1, platform.n_actuators):
        raise InputError(
            "force",
            f"give one number, {platform.n_actuators} numbers separated by commas, or '{HOLD}'; "
            f"got {len(values)} numbers",
        )
    return np.broadcast_to(np.array(values), (platform.n_actuators,)).copy()


def numbers(text: str, field: str) -> list[float]:
    """Return the numbers of a text such as "0,0,0.87"; raises InputError where there is none."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(field, f"must be numbers separated by commas, got {text!r}") from None
