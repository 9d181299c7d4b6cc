"""The command `design`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, progress_bar, show
from twin.cli.motion import given_motion
from twin.cli.options import argument, option
from twin.cli.values import check_files, payload_of
from twin.errors import InputError

ObjectiveName = Literal["force", "stroke", "footprint", "condition", "price"]

FRONT_POINTS = 5
"""Machines of a front."""

VALIDATION_CASES = ("driven_motion", "free_fall", "constant_forces", "sinusoidal_forces")
"""Cases of `twin validate` in which MuJoCo and PyBullet move each machine that is found."""


@app.command()
def design(
    specification: Annotated[
        Path, argument("Specification: a TOML file.", metavar="FILE", show_default=False)
    ],
    *,
    out: Annotated[
        Path | None, option("File of the machine; default: NAME.toml.", metavar="FILE")
    ] = None,
    front: Annotated[
        ObjectiveName | None,
        option("Machines between the best and the best of another objective too."),
    ] = None,
    seed: options.Seed = 0,
    report: options.Report = None,
    replace: options.ReplaceFile = False,
) -> None:
    """Find the machine that meets a specification and needs the least of something.

    Each machine is validated in both engines; exit code 1 when a case fails.

    \f
    Raises:
        InputError: a file that cannot be read or written.
        ParameterError: unknown or missing fields of the specification, or contradictions.
        ImpossibleDesignError: no machine meets all demands.
    """
    from twin.basics.files import write_text
    from twin.design import design as designed
    from twin.design import front as front_of
    from twin.design import read_specification
    from twin.design.report import design_results
    from twin.validation.runner import run

    design_specification = read_specification(specification)
    target = Path(f"{design_specification.name}.toml") if out is None else out
    check_files(report=report)
    targets = [target]
    if front is not None:
        targets += [target.with_stem(f"{target.stem}_{n}") for n in range(2, FRONT_POINTS + 1)]
    for path in targets:
        check_files(reads=(specification,), replace=replace, out=(path, ".toml"))
    with progress_bar("design", None) as say:
        if front is None:
            machines = [designed(design_specification, seed=seed, progress=say)]
        else:
            machines = front_of(
                design_specification, front, points=FRONT_POINTS, seed=seed, progress=say
            )
    show(design_results(machines, front), report)
    failed = False
    # A front may have fewer machines than `FRONT_POINTS`.
    for path, machine in zip(targets, machines, strict=False):
        results = run(write_text(path, machine.to_toml()), VALIDATION_CASES, progress=False)
        verdicts = ", ".join(f"{result.case} {result.verdict}" for result in results)
        line(f"wrote {path}; validation in both engines: {verdicts}")
        failed |= any(result.verdict == "fail" for result in results)
    raise typer.Exit(int(failed))


@app.command()
def size(
    machine: options.Machine,
    *,
    drives: Annotated[
        Path, option("List of drive trains: a CSV file.", metavar="FILE", show_default=False)
    ],
    motion: Annotated[str, option(options.MOTION_HELP, metavar="NAME|FILE", show_default=False)],
    axis: options.Axis = "z",
    amplitude: options.Amplitude = None,
    frequency: options.Frequency = 1.0,
    duration: options.Duration = None,
    fade: options.Fade = None,
    column: options.Columns = None,
    absolute: options.Absolute = False,
    payload: options.Load = None,
    duty: Annotated[
        float, option("Fraction of the time that the motion runs; in between, the motors hold.")
    ] = 1.0,
    configuration: options.Configuration = None,
    report: options.Report = None,
) -> None:
    """Rank motors with their screws or gearboxes by their margin under a motion.

    \f
    Raises:
        InputError: options that cannot be used together, or a file that cannot be read.
    """
    from twin.analysis.platform import load
    from twin.design.sizing import read_drives, sizing_results
    from twin.design.sizing import size as sized
    from twin.motion.specification import MotionSpecification

    check_files(reads=(machine, motion, drives), report=report)
    platform = load(machine, configuration)
    specification = MotionSpecification(motion, axis, amplitude, frequency, duration, fade or 0.0)
    reference_motion, _ = given_motion(platform, specification, column, absolute)
    if reference_motion is None:
        raise InputError("motion", "drives are sized for a motion; name one that moves")
    trains = read_drives(drives, platform.coordinate_unit == "rad")
    sizing = sized(platform, reference_motion, trains, payload=payload_of(payload), duty=duty)
    show(sizing_results(sizing), report)
