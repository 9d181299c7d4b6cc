"""The command `cue`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from twin.cli.application import Configuration, Machine, app


class AlgorithmName(StrEnum):
    """Cueing algorithms."""

    CLASSICAL = "classical"
    ADAPTIVE = "adaptive"
    PREDICTIVE = "predictive"


class ManoeuvreName(StrEnum):
    """Manoeuvres that the built-in vehicles make."""

    STEP_STEER = "step_steer"
    DOUBLE_LANE_CHANGE = "double_lane_change"
    SLALOM = "slalom"
    BRAKING = "braking"
    ACCELERATION = "acceleration"
    COORDINATED_TURN = "coordinated_turn"


@app.command()
def cue(
    machine: Machine,
    algorithm: Annotated[
        AlgorithmName, typer.Option(help="What turns the manoeuvre into a motion.")
    ] = AlgorithmName.PREDICTIVE,
    manoeuvre: Annotated[
        ManoeuvreName | None, typer.Option(help="Manoeuvre of a built-in vehicle, 12 s.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--input",
            metavar="FILE",
            help="Manoeuvre as CSV: time [s],fx [m/s2],fy,fz (specific force at the head, fz = +g "
            "at rest) and, if wanted, wx [rad/s],wy,wz; x forward, y left, z up.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the platform's motion as CSV.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot senses and limits as one HTML page.")
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Show all three algorithms beside each other.")
    ] = False,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z",
            help="Driver's head in m from the platform's reference point; default: there, on "
            "driving_simulator 1.1 m above.",
        ),
    ] = None,
    scale: Annotated[
        float, typer.Option(help="Factor of the manoeuvre's departure from rest.")
    ] = 1.0,
    configuration: Configuration = None,
) -> None:
    """Cue a manoeuvre: the platform's motion, within limits, that lets its driver perceive it."""
    from twin.commands import cue as commands

    commands.cue(
        machine,
        configuration,
        algorithm.value,
        None if manoeuvre is None else manoeuvre.value,
        source,
        out,
        plot,
        all_algorithms=compare,
        head=head,
        scale=scale,
    )
