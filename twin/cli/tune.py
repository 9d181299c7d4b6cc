"""Command that tunes a machine's loops."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from twin.cli.application import Configuration, EngineName, FidelityName, Machine, app


class LoopName(StrEnum):
    """Loops that can be tuned."""

    VELOCITY = "velocity"
    POSITION = "position"


Seconds = Annotated[
    float | None, typer.Option(help="Of the specification: s after the step; default of the loop.")
]

Share = Annotated[
    float | None, typer.Option(help="Of the specification: per step; default of the loop.")
]

UNITS = "velocity loop: N s/m (cranks: N m s/rad) and s; position loop: 1/s and 1/s2"
"""Of gain and time, or of gain and integral."""

Start = Annotated[
    str | None,
    typer.Option(metavar="GAIN,TIME", help=f"Gains the search starts from in SI, {UNITS}."),
]

Low = Annotated[
    str | None, typer.Option(metavar="GAIN,TIME", help="Smallest gains allowed, as --start.")
]

High = Annotated[
    str | None, typer.Option(metavar="GAIN,TIME", help="Largest gains allowed, as --start.")
]

Size = Annotated[
    float | None,
    typer.Option(help="Step: m/s or rad/s of an actuator (default 0.02), or m upwards (0.05)."),
]

Carried = Annotated[
    bool,
    typer.Option("--carried", help="The velocity loop's integral carries the weight beforehand."),
]


@app.command()
def tune(
    machine: Machine,
    loop: Annotated[LoopName, typer.Option(help="Which loop of the cascade.")] = LoopName.VELOCITY,
    engine: Annotated[EngineName, typer.Option(help="What computes the responses.")] = (
        EngineName.ANALYTIC
    ),
    fidelity: Annotated[FidelityName, typer.Option(help="Fidelity of the engine.")] = (
        FidelityName.ACCURATE
    ),
    configuration: Configuration = None,
    size: Size = None,
    carried: Carried = False,
    rise_time: Seconds = None,
    rise: Share = None,
    settling_time: Seconds = None,
    settling: Share = None,
    overshoot: Share = None,
    undershoot: Share = None,
    margin: Annotated[
        float | None, typer.Option(help="By which the bounds shall be kept, per step.")
    ] = None,
    start: Start = None,
    low: Low = None,
    high: High = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the table of gains as .toml.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot the responses as one HTML page.")
    ] = None,
) -> None:
    """Find gains whose step response meets a specification; exit code 1 when there are none."""
    from twin.commands.numbers import numbers
    from twin.commands.tune import tune as run

    bounds = {
        name: None if text is None else numbers(text, name)
        for name, text in (("start", start), ("low", low), ("high", high))
    }
    met = run(
        machine,
        configuration,
        loop.value,
        engine.value,
        {
            "rise_time": rise_time,
            "rise": rise,
            "settling_time": settling_time,
            "settling": settling,
            "overshoot": overshoot,
            "undershoot": undershoot,
        },
        out,
        plot,
        fidelity=fidelity.value,
        size=size,
        carried=carried or None,
        margin=margin,
        **bounds,
    )
    raise typer.Exit(0 if met else 1)
