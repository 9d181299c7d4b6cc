"""The command `feasible`."""

from __future__ import annotations

from typing import Annotated

import typer

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line
from twin.cli.motion import given_motion, motion_notes
from twin.cli.options import option
from twin.cli.values import check_files, payload_of, write_json, write_plot

Motion = Annotated[
    str | None,
    option(f"{options.MOTION_HELP}; default: at rest at home.", metavar="NAME|FILE"),
]
Range = Annotated[bool, option("At rest at the ends of the machine's own ranges.", "--range")]


@app.command()
def feasible(
    machine: options.Machine,
    *,
    motion: Motion = None,
    axis: options.Axis = "z",
    amplitude: options.Amplitude = None,
    frequency: options.Frequency = 1.0,
    duration: options.Duration = None,
    fade: options.Fade = None,
    column: options.Columns = None,
    absolute: options.Absolute = False,
    payload: options.Load = None,
    over_range: Range = False,
    configuration: options.Configuration = None,
    report: options.Report = None,
    json: options.Json = None,
) -> None:
    """Judge whether a machine does a motion with a load, and what is missing; exit code 1 if not.

    \f
    Raises:
        InputError: options that cannot be used together, or an invalid value.
    """
    from twin.analysis.feasibility.feasibility import (
        feasibility,
        feasibility_figure,
        feasibility_record,
        range_feasibility,
    )
    from twin.analysis.platform import load
    from twin.cli.tables.analysis import print_feasibility
    from twin.errors import InputError
    from twin.motion.specification import MotionSpecification

    check_files(reads=(machine, motion), report=report, json=json)
    if over_range and motion is not None:
        raise InputError("range", "poses at rest have no motion; leave one of the two out")
    if report is not None and motion is None:
        raise InputError("report", "margins over time need a motion; give --motion")
    platform, payload_body = load(machine, configuration), payload_of(payload)
    if over_range:
        verdict = range_feasibility(platform, payload=payload_body)
    else:
        motion_to_judge = None
        if motion is not None:
            # Without a fade the motion is judged at its full size from the start.
            specification = MotionSpecification(
                motion, axis, amplitude, frequency, duration, fade or 0.0
            )
            motion_to_judge, seconds = given_motion(platform, specification, column, absolute)
            for note in motion_notes(motion_to_judge, seconds):
                line(note)
        verdict = feasibility(platform, motion_to_judge, payload=payload_body)
    print_feasibility(verdict)
    write_json(json, feasibility_record(verdict))
    write_plot(report, lambda: feasibility_figure(verdict))
    raise typer.Exit(int(not verdict.feasible))
