"""Options that say which motion a machine shall follow."""

from __future__ import annotations

from typing import Annotated

import typer

MotionName = Annotated[
    str | None,
    typer.Option(
        metavar="WORD|FILE",
        help="still, sine, step, lift, chirp, tank, or a CSV file with a recorded motion; "
        "default: sine to draw, none to view.",
    ),
]

AxisName = Annotated[str, typer.Option(help="Axis that moves: x, y, z, yaw, pitch or roll.")]

Amplitude = Annotated[
    float | None, typer.Option(help="In m or rad; default: a tenth of an actuator's range.")
]

Frequency = Annotated[float, typer.Option(help="In Hz, of the sine; the highest of the chirp.")]

Duration = Annotated[float, typer.Option(help="Of the motion, in s.")]
