"""Commands about machines: list, show, begin and export them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twin.cli.application import Configuration, Format, LegKind, Machine, app


@app.command("list")
def list_machines() -> None:
    """List the shipped machines."""
    from twin.commands import machines as commands

    commands.list_machines()


@app.command()
def info(machine: Machine, configuration: Configuration = None) -> None:
    """Show a machine: parameters with unit and source, figures at home, ranges of motion."""
    from twin.commands import machines as commands

    commands.info(machine, configuration)


@app.command()
def new(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="File to write, such as my_platform.toml.")
    ],
    legs: Annotated[LegKind, typer.Option(help="Kind of the legs.")] = LegKind.UPS,
) -> None:
    """Write a commented platform.toml to begin your own machine with; replaces no file."""
    from twin.commands import machines as commands

    commands.new(path, legs.value)


@app.command()
def export(
    machine: Machine,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the files; made if need be.")
    ],
    form: Annotated[
        Format,
        typer.Option("--format", help="mjcf: robot.xml and scene.xml; urdf: robot.urdf."),
    ] = Format.MJCF,
    configuration: Configuration = None,
) -> None:
    """Write a machine's engine models; replaces files of the same names, nothing else."""
    from twin.commands import machines as commands

    commands.export(machine, configuration, form.value, out)
