"""Simulate, validate, and measure times."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from twin.charts.text import number
from twin.commands.console import Column, line, table
from twin.commands.numbers import constant_forces, numbers
from twin.commands.options import PAGE, check_files
from twin.engines.stability import suitable_timestep
from twin.machine.catalogue import machine_names
from twin.simulation.platform import load


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
    configuration: str | None,
    force: str,
    pose: str | None,
    twist: str | None,
    out: Path | None,
    plot: Path | None,
    **options: Any,
) -> None:
    """Simulate, print the start and the end of the motion, and write what was asked for."""
    check_files(out=(out, ".npz"), plot=(plot, PAGE))
    platform = load(machine, configuration)
    if options["timestep"] is None:
        options["timestep"] = suitable_timestep(platform)
    start = None if pose is None else numbers(pose, "pose")
    rate = None if twist is None else numbers(twist, "twist")
    forces = constant_forces(platform, force, start)
    if plot is not None:
        from twin.basics.optional import optional

        optional("plotly")
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
    # An engine's platform is off the constraints of its fixed foot by the loop gap.
    if not platform.within_limits(platform.constrain(motion.pose).pose).all():
        line("the actuators leave their limits on the way; the model has no end stops")
    if out is not None:
        line(f"wrote {motion.save(out)}")
    if plot is not None:
        from twin.charts.panels import write_figure

        line(f"wrote {write_figure(motion.plot(), plot)}")


def bench(machines: Sequence[str] | None) -> None:
    """Print times of the main functions and of the engines' steps."""
    from twin.analysis.benchmark import BATCH, function_times, step_times

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
            steps.append((time.engine, time.fidelity, *words))
        titles_of_steps = [Column("engine"), Column("fidelity"), Column("step [us]", True)]
        table([*titles_of_steps, Column(f"times real time at {1e3 * timestep:g} ms", True)], steps)
