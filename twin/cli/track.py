"""The command `track`."""

from __future__ import annotations

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
from twin.cli.motion import Amplitude, AxisName, Frequency

MotionName = Annotated[
    str,
    typer.Option(
        metavar="WORD|FILE",
        help="still, sine, step, lift, chirp, tank, or a CSV file with a recorded motion.",
    ),
]

InertialLogFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Save what the inertial sensor told as CSV, for imu."),
]


@app.command()
def track(
    machine: Machine,
    motion: MotionName = "sine",
    axis: AxisName = "z",
    amplitude: Amplitude = None,
    frequency: Frequency = 1.0,
    duration: Annotated[float, typer.Option(help="In s.")] = 4.0,
    controller: Annotated[
        ControllerName, typer.Option(help="What drives the machine.")
    ] = ControllerName.CASCADE,
    engine: Annotated[
        EngineName, typer.Option(help="What computes the motion.")
    ] = EngineName.ANALYTIC,
    timestep: Annotated[
        float | None,
        typer.Option(help="Engine's step in s; default: half a control period, or shorter."),
    ] = None,
    fidelity: Annotated[
        FidelityName, typer.Option(help="Most accurate, or faster and less accurate.")
    ] = FidelityName.ACCURATE,
    configuration: Configuration = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the sensors' errors.")] = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the trajectory as .npz.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot the closed loop as one HTML page.")
    ] = None,
    log: InertialLogFile = None,
) -> None:
    """Drive a machine along a motion in closed loop; ends with exit code 1 after a safe stop."""
    from twin.commands import track as commands

    followed = commands.track(
        machine,
        configuration,
        motion,
        axis,
        amplitude,
        frequency,
        duration,
        controller.value,
        engine.value,
        timestep,
        fidelity.value,
        seed,
        out,
        plot,
        log,
    )
    raise typer.Exit(0 if followed else 1)
