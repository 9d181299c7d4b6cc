"""Commands that compute: simulate, validate, measure times."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from twin.cli.application import (
    Configuration,
    ConstantForce,
    EngineName,
    FidelityName,
    Machine,
    Machines,
    app,
)


@app.command()
def validate(
    machines: Machines = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report as one HTML page.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report's content as JSON.")
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Run only this case; may be repeated."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Processes to use; default: one per core."),
    ] = None,
) -> None:
    """Hold the engines against the reference; ends with exit code 1 when a case fails."""
    from twin.commands import runs as commands

    command = " ".join(["twin", *sys.argv[1:]])
    passed = commands.validate(machines, case, out, json, jobs, command)
    raise typer.Exit(0 if passed else 1)


@app.command()
def simulate(
    machine: Machine,
    duration: Annotated[
        float, typer.Option(help="Time to simulate in s, a multiple of the time step.")
    ] = 1.0,
    engine: Annotated[EngineName, typer.Option(help="What computes the motion.")] = (
        EngineName.ANALYTIC
    ),
    timestep: Annotated[
        float | None,
        typer.Option(help="Time step in s; default: 1 ms, or shorter for stiff machines."),
    ] = None,
    fidelity: Annotated[
        FidelityName, typer.Option(help="Most accurate, or faster and less accurate.")
    ] = FidelityName.ACCURATE,
    force: ConstantForce = "0",
    pose: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z,QW,QX,QY,QZ",
            help="Start: position in m and unit quaternion, scalar first; default: home.",
        ),
    ] = None,
    twist: Annotated[
        str | None,
        typer.Option(
            metavar="VX,VY,VZ,WX,WY,WZ",
            help="Velocity in m/s and angular velocity in rad/s at the start; default: rest.",
        ),
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="Keep every so many steps.")] = 1,
    configuration: Configuration = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the trajectory as .npz.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot the trajectory as one HTML page.")
    ] = None,
) -> None:
    """Simulate a machine under constant actuator forces and say where it ends."""
    from twin.commands import runs as commands

    commands.simulate(
        machine,
        configuration,
        force,
        pose,
        twist,
        out,
        plot,
        duration=duration,
        engine=engine.value,
        timestep=timestep,
        fidelity=fidelity.value,
        every=every,
    )


@app.command()
def bench(
    machines: Machines = None,
) -> None:
    """Time the main functions and the engines' steps on this computer."""
    from twin.commands import runs as commands

    commands.bench(machines)
