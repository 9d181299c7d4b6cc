"""The command `setpoints`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line
from twin.cli.motion import given_motion, motion_notes, motion_specification
from twin.cli.options import argument, file_option, option
from twin.cli.values import check_files, quantity_option, write

Motion = Annotated[str, argument(f"{options.MOTION_HELP}.", metavar="MOTION")]
Cycle = Annotated[float, quantity_option("Time between two rows in s.", "cycle", "s")]
Units = Annotated[
    str | None,
    option("Unit of the coordinates, such as mm or deg; default: m, or rad of cranks."),
]
Zero = Annotated[
    bool, option("Count from the shortest length or smallest angle.", "--from-minimum")
]
Out = Annotated[Path, file_option("CSV file with a column per leg.")]


@app.command()
def setpoints(
    machine: options.Machine,
    motion: Motion,
    *,
    out: Out,
    cycle: Cycle = 1e-3,
    units: Units = None,
    from_minimum: Zero = False,
    axis: options.Axis = "z",
    amplitude: options.Amplitude = None,
    frequency: options.Frequency = 1.0,
    duration: options.Duration = None,
    fade: options.Fade = None,
    column: options.Columns = None,
    absolute: options.Absolute = False,
    configuration: options.Configuration = None,
    replace: options.ReplaceFile = False,
) -> None:
    """Write the leg coordinates of a motion as a table, for the controller of a machine.

    \f
    Raises:
        InputError: a motion that the machine cannot do, an invalid value, or a file that exists.
    """
    import numpy as np

    from twin.analysis.platform import load
    from twin.cli.tables.analysis import print_banner
    from twin.control.controller import sample_reference
    from twin.errors import InputError
    from twin.machine.quantity import UNITS

    check_files(reads=(machine, motion), replace=replace, out=(out, ".csv"))
    platform = load(machine, configuration)
    units_in_si = UNITS[platform.coordinate_unit]
    unit = units or platform.coordinate_unit
    if unit not in units_in_si:
        raise InputError("units", f"must be one of {', '.join(units_in_si)}, not {unit!r}")
    specification = motion_specification(motion, axis, amplitude, frequency, duration, fade)
    motion_to_sample, seconds = given_motion(specification, platform, column, absolute)
    if motion_to_sample is None:
        raise InputError("motion", "'still' has no setpoints; give a motion or a file")
    for note in motion_notes(motion_to_sample, seconds):
        line(note)
    print_banner(platform, motion_to_sample)
    reference = sample_reference(
        platform, motion_to_sample, cycle, min(seconds, motion_to_sample.duration)
    )
    out_of_range = reference.reachable < 1.0
    if out_of_range.any():
        first_time = float(reference.time[out_of_range.argmax()])
        raise InputError(
            "motion", f"leaves the actuators' ranges at {first_time:.4g} s: see twin feasible"
        )
    zero_coordinates = (
        platform.minimum_coordinates if from_minimum else np.zeros(platform.n_actuators)
    )
    values = (reference.coordinates - zero_coordinates) / units_in_si[unit]
    titles = ["time [s]", *(f"leg {k + 1} [{unit}]" for k in range(platform.n_actuators))]
    rows = (
        ",".join([f"{time:.9g}", *(f"{value:.9g}" for value in row)])
        for time, row in zip(reference.time, values, strict=True)
    )
    write(out, "\n".join([",".join(titles), *rows]) + "\n")
