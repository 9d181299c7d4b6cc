"""The command that reads logs of inertial sensors."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from twin.cli.application import Configuration, app


class LogLayout(StrEnum):
    """Layouts of logs that `imu` reads."""

    CSV = "csv"
    THESIS = "thesis"


Log = Annotated[
    Path,
    typer.Argument(
        metavar="LOG",
        help="Log of the sensor: CSV of time, fx to fz, wx to wz, units in its header.",
    ),
]
MachineOption = Annotated[
    str, typer.Option(metavar="MACHINE", help="Name of a machine, or path of its file.")
]
ReferenceFile = Annotated[
    Path, typer.Option(metavar="FILE", help="CSV of the reference motion about home.")
]
Layout = Annotated[
    LogLayout, typer.Option(help="csv, or thesis: bare count, 3 forces, 3 rates, as imuData.txt.")
]
Bandwidth = Annotated[
    float | None,
    typer.Option(metavar="HZ", help="Of the sensor; default: that of the machine's own."),
]
Numbers = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write rate, offset, correlation, lost, duration, and per channel rms values and "
        "lists of frequency, amplification, uncertainty, coherence.",
    ),
]


@app.command()
def imu(
    log: Log,
    machine: MachineOption,
    motion: ReferenceFile,
    layout: Layout = LogLayout.CSV,
    log_rate: Annotated[
        float, typer.Option(help="Messages per second of the thesis layout.")
    ] = 200.0,
    force_unit: Annotated[
        str, typer.Option(metavar="UNIT", help="Of forces in the thesis layout.")
    ] = "g",
    rate_unit: Annotated[
        str, typer.Option(metavar="UNIT", help="Of rates in the thesis layout.")
    ] = "deg/s",
    bandwidth: Bandwidth = None,
    resolution: Annotated[float, typer.Option(help="Of the spectra in Hz.")] = 1.0,
    phase: Annotated[
        bool, typer.Option("--phase", help="Compensate phases too, not amplitudes alone.")
    ] = False,
    configuration: Configuration = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the figures as one HTML page.")
    ] = None,
    compensated: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the motion with the amplification taken out."),
    ] = None,
    json: Numbers = None,
) -> None:
    """Hold an inertial log against the reference motion: amplification, coherence, compensation."""
    from twin.commands import imu as commands

    commands.imu(
        log,
        machine,
        configuration,
        motion,
        layout=layout.value,
        log_rate=log_rate,
        force_unit=force_unit,
        rate_unit=rate_unit,
        bandwidth=bandwidth,
        resolution=resolution,
        phase=phase,
        plot=plot,
        compensated=compensated,
        json=json,
    )
