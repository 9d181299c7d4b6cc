"""Commands about machines: list, info and export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, table
from twin.cli.options import option
from twin.cli.quantities import quantity_option

FormatName = Literal["mjcf", "urdf", "fmu"]


@app.command("list")
def list_machines() -> None:
    """List the shipped machines and those of the gallery."""
    from twin.analysis.platform import load
    from twin.machine.machine import gallery_names, machine_names

    for group_name, names in (("shipped", machine_names()), ("gallery", gallery_names())):
        machines = [(name, load(name)) for name in names]
        rows = [
            (
                name,
                platform.parameters.title,
                platform.kind,
                platform.dof,
                platform.n_actuators,
            )
            for name, platform in machines
        ]
        table(("machine", "title", "legs", "dof", "actuators"), rows, group_name)


@app.command()
def info(machine: options.Machine, configuration: options.Configuration = None) -> None:
    """Show a machine: parameters with unit and source, figures at home, ranges of motion."""
    from itertools import groupby

    from twin.analysis.feasibility.feasibility import feasibility, range_feasibility
    from twin.analysis.machine_summary import axis_ranges, machine_summary
    from twin.analysis.platform import load
    from twin.charts.panels import value_text
    from twin.cli.tables.feasible import print_verdicts
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
            "FMI, NAME.fmu.",
            "--format",
        ),
    ] = "mjcf",
    configuration: options.Configuration = None,
    fmi: Annotated[int | None, option("Version of FMI; default: 3.", metavar="2|3")] = None,
    timestep: Annotated[
        float | None,
        quantity_option(
            "Longest integration step of a unit in s; default: 1 ms, less with stiff springs.",
            "timestep",
            "s",
        ),
    ] = None,
) -> None:
    """Write a machine for other programs; replaces files of the same names, nothing else.

    \f
    Raises:
        InputError: options that cannot be used together, or an invalid value.
    """
    from twin.analysis.platform import load
    from twin.engines.export import export as write_model

    requested = {"fmi": fmi, "timestep": timestep}
    given_options = {name: value for name, value in requested.items() if value is not None}
    platform = load(machine, configuration)
    for path in write_model(platform, form, out, **given_options):
        line(f"wrote {path} ({path.stat().st_size / 1e3:.0f} kB)")
    if form == "fmu" and any(leg.drive or leg.encoder for leg in platform.parameters.legs):
        line("the unit takes forces of the actuators: it has no drives and no sensors")
