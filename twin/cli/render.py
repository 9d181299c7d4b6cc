"""The command `render`."""

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
from twin.cli.motion import Amplitude, AxisName, Duration, Frequency, MotionName


class QualityName(StrEnum):
    """How well pictures are drawn."""

    FAST = "fast"
    FINE = "fine"


USUAL = "sine"
"""Motion that is drawn where neither one nor a saved run is named."""

OutFile = Annotated[
    Path,
    typer.Option(metavar="FILE", help="Film as .mp4 or .gif, or a single picture as .png."),
]

Saved = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Draw this saved run (.npz) in place of a motion."),
]


@app.command()
def render(
    machine: Machine,
    out: OutFile,
    motion: MotionName = None,
    axis: AxisName = "z",
    amplitude: Amplitude = None,
    frequency: Frequency = 1.0,
    duration: Duration = 4.0,
    controller: Annotated[
        ControllerName, typer.Option(help="What drives the machine.")
    ] = ControllerName.CASCADE,
    engine: Annotated[
        EngineName, typer.Option(help="What computes the motion.")
    ] = EngineName.ANALYTIC,
    fidelity: Annotated[
        FidelityName, typer.Option(help="Most accurate, or faster and less accurate.")
    ] = FidelityName.ACCURATE,
    configuration: Configuration = None,
    trajectory: Saved = None,
    size: Annotated[str, typer.Option(metavar="WIDTHxHEIGHT", help="In pixels.")] = "640x480",
    view: Annotated[
        str,
        typer.Option(help="overview, front, side, top, or azimuth,elevation in degrees."),
    ] = "overview",
    quality: Annotated[
        QualityName, typer.Option(help="Fast, or fine with shadows and smooth edges.")
    ] = QualityName.FAST,
    ghost: Annotated[
        bool, typer.Option("--ghost/--no-ghost", help="Draw the setpoint too, in green.")
    ] = False,
    rate: Annotated[
        float | None, typer.Option(help="Pictures per second; default: 30 for mp4, 15 for gif.")
    ] = None,
    speed: Annotated[
        float, typer.Option(help="Of the machine in the film; 0.1 is slow motion.")
    ] = 1.0,
    start: Annotated[
        float | None, typer.Option(help="In s of the run, at which the film begins.")
    ] = None,
    time: Annotated[
        float | None,
        typer.Option(help="In s of the run, of the picture; default: farthest from the start."),
    ] = None,
) -> None:
    """Draw a machine that follows a motion, as a film or a picture; no display is needed."""
    from twin.commands import render as commands
    from twin.motion.specification import MotionSpecification

    asked = USUAL if motion is None and trajectory is None else motion
    specification = (
        None if asked is None else MotionSpecification(asked, axis, amplitude, frequency, duration)
    )
    run = commands.Run(specification, controller.value, engine.value, fidelity.value, trajectory)
    film = commands.Film(size, view, quality.value, ghost, rate, speed, start, time)
    commands.render(machine, configuration, run, film, out)
