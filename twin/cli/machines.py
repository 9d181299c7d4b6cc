"""Commands about machines: `list`, `info`, `export`, and `warm`, which compiles kernels ahead."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, progress_bar, table
from twin.cli.options import option
from twin.cli.values import HOLDING_FORCES, constant_forces, given, quantity_option

if TYPE_CHECKING:
    from twin.analysis.platform import Platform

FormatName = Literal["mjcf", "urdf", "fmu", "c"]

PrecisionName = Literal["double", "float"]


@app.command("list")
def list_machines() -> None:
    """List the shipped machines and those of the gallery."""
    from twin.analysis.platform import load
    from twin.machine.machine import gallery_names, machine_names

    for group_name, names in (("shipped", machine_names()), ("gallery", gallery_names())):
        rows = []
        for name in names:
            platform = load(name)
            counts = (platform.dof, platform.n_actuators)
            rows.append((name, platform.parameters.title, platform.kind, *counts))
        table(("machine", "title", "legs", "dof", "actuators"), rows, group_name)


@app.command()
def info(machine: options.Machine, configuration: options.Configuration = None) -> None:
    """Show a machine: parameters with unit and source, figures at home, ranges of motion."""
    from itertools import groupby

    from twin.analysis.feasibility.feasibility import feasibility, range_feasibility
    from twin.analysis.machine_summary import axis_ranges, machine_summary
    from twin.analysis.platform import load
    from twin.charts.panels import value_text
    from twin.cli.tables.analysis import print_verdicts
    from twin.machine.file.read import describe
    from twin.model.machine_base import without_compiling

    platform = load(machine, configuration)
    line(f"{platform.name}: {platform.parameters.title}", bold=True)
    counts = f"{platform.dof} degrees of freedom, {platform.n_actuators} actuators"
    line(f"{counts}, parameters {platform.hash}")
    columns = ("parameter", "value", "unit", "description")
    for (path, source), group in groupby(
        describe(platform.parameters), lambda p: (p.table, p.source)
    ):
        rows = [(p.name, value_text(p.value, p.unit), p.unit, p.description) for p in group]
        table(columns, rows, f"{path or 'machine'} (source: {source})")
    with without_compiling():
        ranges = axis_ranges(platform)
    summary = machine_summary(platform, ranges)
    figures = [(f.name, value_text(f.value), f.unit, f.note) for f in summary]
    table(("quantity", "value", "unit", "note"), figures, "derived quantities")
    print_verdicts([feasibility(platform), range_feasibility(platform, ranges=ranges)])


@app.command()
def export(
    machine: options.Machine,
    out: Annotated[Path, option("Folder for the files; it is made if missing.", metavar="DIR")],
    form: Annotated[
        FormatName,
        option(
            "mjcf: robot.xml and scene.xml; urdf: robot.urdf; fmu: a co-simulation unit of "
            "FMI, NAME.fmu; c: kinematics for a controller, NAME_kinematics.c and .h.",
            "--format",
        ),
    ] = "mjcf",
    configuration: options.Configuration = None,
    fmi: Annotated[int | None, option("Version of FMI; default: 3.", metavar="2|3")] = None,
    timestep: Annotated[
        float | None,
        quantity_option(
            "Longest integration step of a unit in s; default: 1 ms, less with stiff springs.",
            "s",
        ),
    ] = None,
    precision: Annotated[
        PrecisionName | None, option("Numbers of C source; default: double.")
    ] = None,
) -> None:
    """Write a machine for other programs; replaces files of the same names, nothing else.

    \f
    Raises:
        InputError: options that cannot be used together, or an invalid value.
    """
    from twin.analysis.platform import load
    from twin.engines.export import export as write_model

    platform = load(machine, configuration)
    unit_options = given(fmi=fmi, timestep=timestep, precision=precision)
    for path in write_model(platform, form, out, **unit_options):
        line(f"wrote {path} ({path.stat().st_size / 1e3:.0f} kB)")
    if form == "fmu" and any(leg.drive or leg.encoder for leg in platform.parameters.legs):
        line("the unit takes forces of the actuators: it has no drives and no sensors")


Environments = Annotated[
    list[str] | None,
    option(
        "Also an environment, such as twin/PoseTracking-v0; may be repeated.",
        "--environment",
        metavar="ENV",
    ),
]
SHORT_DURATION = 0.01
"""[s] Duration of the simulations and of the motion."""


@app.command()
def warm(
    machines: options.Machines = None,
    *,
    configuration: options.Configuration = None,
    environment: Environments = None,
    engine: options.Engine = "analytic",
) -> None:
    """Compile the equations of machines ahead: kinematics, dynamics, simulation, environments.

    Compiled code is kept on the disk. Programs and commands that use it start in a second or two.
    """
    from twin.analysis.platform import load
    from twin.basics.arrays import one_of
    from twin.envs import environment_ids
    from twin.machine.machine import machine_names

    tasks = [
        one_of(environment_name, "environment", environment_ids())
        for environment_name in environment or ()
    ]
    platforms = [load(name, configuration) for name in machines or machine_names()]
    # Each part uses those before it.
    parts = PARTS | {task: partial(_step, environment=task) for task in tasks}
    rows = []
    with progress_bar("compiling", len(platforms) * len(parts)) as show:
        for platform, (part, do) in product(platforms, parts.items()):
            show(f"{platform.name}: {part}")
            start_time = clock.perf_counter()
            do(platform, engine)
            rows.append((platform.name, part, clock.perf_counter() - start_time))
    table(("machine", "part", "time [s]"), rows)
    line(f"compiled or loaded in {sum(row[-1] for row in rows):.0f} s")


def _kinematics(platform: Platform, _: options.EngineName) -> None:
    platform.forward_kinematics(platform.inverse_kinematics(platform.home))
    platform.jacobian(platform.home)


def _dynamics(platform: Platform, _: options.EngineName) -> None:
    at_rest = [0.0] * 6
    forces = constant_forces(platform, HOLDING_FORCES, None)
    platform.forward_dynamics(platform.home, at_rest, forces)
    platform.energy(platform.home, at_rest)


def _simulate(platform: Platform, engine: options.EngineName) -> None:
    forces = constant_forces(platform, HOLDING_FORCES, None)
    platform.simulate(SHORT_DURATION, forces=forces, engine=engine)


def _track(platform: Platform, engine: options.EngineName) -> None:
    """Run a short closed loop, which compiles what tracking needs."""
    from twin.cli.closed_loop import closed_loop
    from twin.control import make_controller

    controller = make_controller("cascade", platform, None)
    closed_loop(platform, controller, SHORT_DURATION, engine=engine, fidelity="accurate")


def _step(platform: Platform, engine: options.EngineName, environment: str) -> None:
    import gymnasium

    env = gymnasium.make(environment, machine=platform, engine=engine)
    env.reset(seed=0)
    env.step(env.action_space.sample())
    env.close()


PARTS: dict[str, Callable[[Platform, options.EngineName], object]] = {
    "kinematics": _kinematics,
    "dynamics": _dynamics,
    "simulation": _simulate,
    "drives and cascade": _track,
}
"""What a user may do with a machine, and whose code `warm` compiles."""
