"""The command `payload`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from twin.cli.application import Configuration, Machine, app


class Sense(StrEnum):
    """Which forces count."""

    MAGNITUDE = "magnitude"
    SIGNED = "signed"


@app.command()
def payload(
    machine: Machine,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the result as JSON.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Plot the largest force over the mass as one HTML page; with --dynamic, the "
            "mass over frequency.",
        ),
    ] = None,
    dynamic: Annotated[
        bool, typer.Option("--dynamic", help="Also search under shaking, 2 to 70 Hz.")
    ] = False,
    limit: Annotated[
        float | None,
        typer.Option(help="Largest force (N) or torque (N m); default: what the file gives."),
    ] = None,
    grid: Annotated[int, typer.Option(min=2, help="Positions per actuator.")] = 4,
    start: Annotated[
        float | None, typer.Option(help="First mass in kg; default: 600, 250 under shaking.")
    ] = None,
    step: Annotated[float, typer.Option(help="Mass added each time in kg.")] = 50.0,
    sense: Annotated[
        Sense, typer.Option(help="Whether pulling counts, or pushing alone.")
    ] = Sense.MAGNITUDE,
    unchecked: Annotated[
        bool,
        typer.Option("--unchecked", help="Shake even beyond the actuators' ends and speeds."),
    ] = False,
    configuration: Configuration = None,
) -> None:
    """Find the largest payload that a machine holds at rest, and under shaking."""
    from twin.commands import payload as commands

    commands.payload(
        machine,
        configuration,
        json,
        plot,
        dynamic=dynamic,
        limit=limit,
        grid=grid,
        start=start,
        step=step,
        sense=sense.value,
        checked=not unchecked,
    )
