"""The command that analyses a machine's workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twin.cli.application import Configuration, Machine, app


@app.command()
def workspace(
    machine: Machine,
    pose: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z,QW,QX,QY,QZ",
            help="Centre: position in m and unit quaternion, scalar first; default: home.",
        ),
    ] = None,
    stiffness: Annotated[
        float | None,
        typer.Option(
            help="Stiffness of every actuator in N/m, for cranks N m/rad; default: the machine's "
            "own springs, else stiffness relative to that of an actuator."
        ),
    ] = None,
    configuration: Configuration = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the plots as one HTML page.")
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the figures as JSON, in SI units and rad: machine, parameters, center, "
            "ranges, workspace, orientation_workspace, reachable_set, dexterity, singularity, "
            "stiffness.",
        ),
    ] = None,
) -> None:
    """Analyse the workspace: ranges, volumes, dexterity, singular poses, stiffness."""
    from twin.commands import workspace as commands

    commands.workspace(machine, configuration, pose, stiffness, plot, json)
