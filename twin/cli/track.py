"""The command `track`."""

from __future__ import annotations

import time as clock
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, paragraph, table
from twin.cli.motion import given_motion, motion_notes
from twin.cli.options import file_option
from twin.cli.values import TRAJECTORY_ENDINGS, check_files, save, write_plot
from twin.errors import InputError

if TYPE_CHECKING:
    from twin.analysis.platform import Platform
    from twin.plant.inertial_sensor import InertialLog
    from twin.simulation.simulate import Trajectory


Readings = Annotated[
    Path | None, file_option("Save the readings of the inertial sensor as CSV, for imu.")
]


@app.command()
def track(
    machine: options.Machine,
    *,
    motion: options.MotionName = "sine",
    axis: options.Axis = "z",
    amplitude: options.Amplitude = None,
    frequency: options.Frequency = 1.0,
    duration: options.Duration = None,
    fade: options.Fade = None,
    column: options.Columns = None,
    absolute: options.Absolute = False,
    controller: options.Controller = "cascade",
    engine: options.Engine = "analytic",
    timestep: options.Timestep = None,
    fidelity: options.Fidelity = "accurate",
    configuration: options.Configuration = None,
    no_limits: options.NoLimits = False,
    seed: options.Seed = 0,
    out: options.SavedTrajectory = None,
    report: options.Report = None,
    readings: Readings = None,
) -> None:
    """Drive a machine along a motion in closed loop; exit code 1 after a safe stop.

    \f
    Raises:
        InputError: options that cannot be used together, or an invalid value.
    """
    from twin.analysis.inertial import write_inertial_log
    from twin.analysis.platform import load
    from twin.analysis.tracking import tracking_figure
    from twin.cli.closed_loop import closed_loop, generic_note
    from twin.cli.tables.analysis import print_banner
    from twin.control import make_controller
    from twin.motion.specification import MotionSpecification

    check_files(
        reads=(motion,), out=(out, *TRAJECTORY_ENDINGS), readings=(readings, ".csv"), report=report
    )
    platform = load(machine, configuration, limits=not no_limits)
    if readings is not None and platform.parameters.imu is None:
        message = f"{platform.name} has no inertial sensor; add [imu] or choose a configuration"
        raise InputError("readings", message)
    specification = MotionSpecification(motion, axis, amplitude, frequency, duration, fade)
    reference, seconds = given_motion(platform, specification, column, absolute)
    for note in (*motion_notes(reference, seconds), *generic_note(platform)):
        line(note)
    print_banner(platform, reference)
    law = make_controller(controller, platform, reference)
    start_time = clock.perf_counter()
    run = closed_loop(
        platform, law, seconds, engine=engine, fidelity=fidelity, timestep=timestep, seed=seed
    )
    elapsed = clock.perf_counter() - start_time
    _print_errors(run, platform)
    line(
        f"{platform.name} in {run.engine}, {controller}: {float(run.time[-1]):.4g} s at "
        f"{1e3 * law.period:g} ms over {1e3 * run.timestep:g} ms, in {elapsed:.3g} s"
    )
    _print_end(run, platform)
    save(run, out)
    write_plot(report, lambda: tracking_figure(run))
    if readings is not None:
        line(f"wrote {write_inertial_log(_inertial_log(run, platform), readings)}")
    raise typer.Exit(int(bool(run.stopped)))


def _print_end(run: Trajectory, platform: Platform) -> None:
    """Print which limits the drives met, unusual errors, and why the run was stopped."""
    from twin.analysis.tracking import tracking_remark
    from twin.cli.closed_loop import saturated

    if remark := tracking_remark(platform, run):
        paragraph(remark)
    for sentence in saturated(run):
        line(sentence)
    if run.stopped:
        line(f"stopped: {run.stopped}", bold=True)


def _inertial_log(run: Trajectory, platform: Platform) -> InertialLog:
    """Return the readings of the inertial sensor, one row for each of its samples."""
    import numpy as np

    from twin.plant.inertial_sensor import InertialLog

    time, readings = run.signals["time"], run.signals["inertial"]
    sensor = platform.parameters.imu
    rate = None if sensor is None else sensor.output_rate
    is_sample = np.ones(len(time), dtype=bool)
    if rate is not None:
        # The sensor gives a new sample whenever its sample count, time times rate, rises by one.
        is_sample[1:] = np.diff(np.floor(time * rate + 1e-6)) > 0.0
    return InertialLog(time[is_sample], readings[is_sample, :3], readings[is_sample, 3:])


def _print_errors(run: Trajectory, platform: Platform) -> None:
    """Print root mean square and largest errors of the run."""
    import numpy as np

    from twin.analysis.tracking import TrackingErrors
    from twin.control.cascade import has_encoders, takes_positions

    errors = TrackingErrors(run)
    largest = (errors.position.max(), errors.rotation.max(), np.abs(errors.actuators).max())
    names, units = ("position", "rotation", "actuators"), ("m", "rad", platform.coordinate_unit)
    rows = [
        (name, 1e3 * rms_error, 1e3 * float(largest_error), f"m{unit}")
        for name, rms_error, largest_error, unit in zip(
            names, errors.root_mean_square(), largest, units, strict=True
        )
    ]
    if takes_positions(platform) and not has_encoders(platform):
        del rows[-1]
        line("the drives take positions and report none: the actuators' errors are not known")
    table(("error", "root mean square", "largest", "unit"), rows)
