"""The commands `logs` and `imu`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from twin.charts.results import Cell
from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, show, table
from twin.cli.options import argument, file_option, option
from twin.cli.values import check_files, quantity_option, write, write_json

File = Annotated[Path, argument("Log: .csv, .parquet, .mcap, a saved run, a bag.", metavar="FILE")]
Map = Annotated[
    Path | None,
    file_option("Write a mapping to check and edit, for --mapping of identify and others."),
]
TimeName = Annotated[
    str | None, option("Column with the times of a table.", "--time", metavar="NAME")
]


@app.command()
def logs(
    file: File, *, map: Map = None, time: TimeName = None, replace: options.ReplaceFile = False
) -> None:
    """List the channels of a log, and guess which signals of a machine they are.

    \f
    Raises:
        InputError: a file that cannot be read or written, or a mapping that exists.
    """
    from twin.charts.panels import number
    from twin.logs import read_log
    from twin.logs.mapping import guessed_mapping

    check_files(reads=(file,), replace=replace, map=(map, ".toml"))
    log = read_log(file, time=time or "time")
    rows: list[tuple[Cell, ...]] = []
    for channel in log.channels:
        for column, unit in enumerate(channel.units):
            values = channel.values[:, column]
            name = channel.name if channel.width == 1 else f"{channel.name} {column + 1}"
            extremes = (values.min(), values.max()) if len(values) else (float("nan"),) * 2
            rows.append((name, unit, len(values), *(number(float(end), 5) for end in extremes)))
    table(("channel", "unit", "samples", "smallest", "largest"), rows)
    start, stop = log.span
    line(f"{file}: {stop - start:.6g} s from {start:.6f} s on")
    write(map, guessed_mapping(log, time))


LayoutName = Literal["csv", "thesis"]


Log = Annotated[
    Path,
    argument(
        "Log of the sensor: CSV of time, fx to fz, wx to wz, units in its header.", metavar="LOG"
    ),
]
Layout = Annotated[
    LayoutName, option("csv; thesis: columns count, 3 forces, 3 rates, as in the Stewart thesis.")
]
ForceUnit = Annotated[str, option("Unit of forces in the thesis layout.", metavar="UNIT")]
RateUnit = Annotated[str, option("Unit of angular rates in the thesis layout.", metavar="UNIT")]
Resolution = Annotated[float, quantity_option("Resolution of the spectra in Hz.", "Hz")]
Phase = Annotated[bool, option("Compensate phases too, not amplitudes alone.", "--phase")]
Compensated = Annotated[
    Path | None, file_option("Write the motion with the amplification taken out.")
]


@app.command()
def imu(
    machine: options.Machine,
    log: Log,
    *,
    motion: Annotated[Path, file_option("CSV of the reference motion about home.")],
    layout: Layout = "csv",
    force_unit: ForceUnit = "g",
    rate_unit: RateUnit = "deg/s",
    resolution: Resolution = 1.0,
    phase: Phase = False,
    configuration: options.Configuration = None,
    report: options.Report = None,
    compensated: Compensated = None,
    json: options.Json = None,
) -> None:
    """Compare an inertial log with the reference motion: amplification, coherence, compensation.

    The JSON file holds rate, offset, correlation, lost, duration, and per channel rms values and
    lists of frequency, amplification, uncertainty, coherence.
    """
    from twin.analysis.inertial import (
        compare_log,
        compensate,
        inertial_results,
        read_inertial_log,
        read_thesis_log,
        summary,
        write_compensation,
    )
    from twin.analysis.platform import load
    from twin.machine.hardware.drive import InertialSensor
    from twin.motion import read_recording

    check_files(
        reads=(machine, motion, log),
        report=report,
        compensated=(compensated, ""),
        json=json,
    )
    platform = load(machine, configuration)
    machine_sensor = platform.parameters.imu
    sensor = machine_sensor or InertialSensor(source="assumed: the machine's file has no [imu]")
    reference = read_recording(motion, platform.home)
    readings = (
        read_thesis_log(log, force_unit=force_unit, rate_unit=rate_unit)
        if layout == "thesis"
        else read_inertial_log(log)
    )
    comparison = compare_log(platform, reference, readings, sensor, resolution=resolution)
    compensation = compensate(reference, comparison, phase=phase) if compensated or report else None
    if machine_sensor is None:
        line("the machine has no [imu]: taken to be at the reference point along the platform")
    show(inertial_results(platform.name, comparison, compensation), report)
    if compensated is not None and compensation is not None:
        line(f"wrote {write_compensation(compensation, compensated)}")
    write_json(json, summary(comparison, compensation))
