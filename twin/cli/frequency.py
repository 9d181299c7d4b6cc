"""Command that measures frequency responses."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from twin.cli.application import (
    Configuration,
    ControllerName,
    EngineName,
    FidelityName,
    Machine,
    app,
)


class AxisName(StrEnum):
    """Directions of the platform."""

    X = "x"
    Y = "y"
    Z = "z"
    ROLL = "roll"
    PITCH = "pitch"
    YAW = "yaw"


class MethodName(StrEnum):
    """Ways to excite a machine."""

    CHIRP = "chirp"
    STEPPED = "stepped"


@app.command()
def frequency(
    machine: Machine,
    axis: Annotated[
        AxisName | None, typer.Option(help="Move the platform along or about this base axis.")
    ] = None,
    actuator: Annotated[
        int | None, typer.Option(min=1, help="Move this actuator by itself, from 1.")
    ] = None,
    method: Annotated[
        MethodName, typer.Option(help="One sweep, or one sine after the other.")
    ] = MethodName.CHIRP,
    controller: Annotated[ControllerName, typer.Option(help="Controller of the reference.")] = (
        ControllerName.CASCADE
    ),
    engine: Annotated[EngineName, typer.Option(help="What computes the motion.")] = (
        EngineName.ANALYTIC
    ),
    fidelity: Annotated[FidelityName, typer.Option(help="Fidelity of the engine.")] = (
        FidelityName.ACCURATE
    ),
    timestep: Annotated[
        float | None, typer.Option(help="Step of the engine in s; default 0.25 ms.")
    ] = None,
    configuration: Configuration = None,
    low: Annotated[float | None, typer.Option(help="Lowest frequency in Hz; default 1.")] = None,
    high: Annotated[
        float | None, typer.Option(help="Highest frequency in Hz; default 300.")
    ] = None,
    length: Annotated[float | None, typer.Option(help="Of the sweep in s; default 10.")] = None,
    speed: Annotated[
        float | None,
        typer.Option(help="Peak, m/s or rad/s; default far within the drives' limits."),
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the responses as JSON.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot the responses as one HTML page.")
    ] = None,
) -> None:
    """Measure how a controlled machine follows, over frequency, with coherence.

    One of --axis and --actuator; default: --axis z.
    """
    from twin.commands.frequency import frequency as run

    along = AxisName.Z if axis is None and actuator is None else axis
    run(
        machine,
        configuration,
        controller.value,
        json,
        plot,
        axis=None if along is None else along.value,
        actuator=actuator,
        method=method.value,
        engine=engine.value,
        fidelity=fidelity.value,
        timestep=timestep,
        low=low,
        high=high,
        length=length,
        speed=speed,
    )
