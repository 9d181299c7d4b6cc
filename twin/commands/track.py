"""Drive a machine along a motion with a controller, through its drives and sensors."""

from __future__ import annotations

import time as clock
from pathlib import Path

import numpy as np

from twin.basics.arrays import positive
from twin.charts.text import number
from twin.commands.console import Column, line, table
from twin.commands.engine_step import dividing_step
from twin.commands.options import PAGE, check_files
from twin.control import make_controller
from twin.control.reference import Reference
from twin.errors import InputError
from twin.motion.specification import MotionSpecification
from twin.plant.inertial_log import InertialLog
from twin.plant.plant import Plant
from twin.simulation.platform import Platform, load
from twin.simulation.trajectory import Trajectory


def track(
    machine: str,
    configuration: str | None,
    motion: str,
    axis: str,
    amplitude: float | None,
    frequency: float,
    duration: float,
    controller: str,
    engine: str,
    timestep: float | None,
    fidelity: str,
    seed: int,
    out: Path | None,
    plot: Path | None,
    log: Path | None,
) -> bool:
    """Run the closed loop, print its errors, write what was asked for; False after a safe stop.

    Raises:
        InputError: an argument that cannot be used, or a log of a machine without such a sensor.
    """
    _check_places(out, plot, log)
    platform = load(machine, configuration)
    if log is not None and platform.parameters.imu is None:
        raise InputError("log", f"{platform.name} has no inertial sensor; add [imu] or a fidelity")
    length = positive(duration, "duration")
    wanted = MotionSpecification(motion, axis, amplitude, frequency, length).motion_of(platform)
    law = make_controller(controller, platform, wanted)
    _print_reference(platform, law.reference)
    step = dividing_step(platform, law) if timestep is None else positive(timestep, "timestep")
    periods = max(1, round(length / law.period))
    began = clock.perf_counter()
    run = platform.simulate(
        periods * law.period,
        controller=law,
        plant=Plant(platform, seed=seed),
        engine=engine,
        timestep=step,
        fidelity=fidelity,
    )
    seconds = clock.perf_counter() - began
    _print_errors(run, platform.coordinate_unit)
    line(
        f"{platform.name} in {run.engine}, {controller}: {float(run.time[-1]):.4g} s at "
        f"{1e3 * law.period:g} ms over {1e3 * step:g} ms, in {seconds:.3g} s"
    )
    if run.stopped:
        line(f"stopped: {run.stopped}", bold=True)
    _write(run, platform, out, plot, log)
    return not run.stopped


def _check_places(out: Path | None, plot: Path | None, log: Path | None) -> None:
    check_files(out=(out, ".npz"), plot=(plot, PAGE), log=(log, ".csv"))
    if plot is not None:
        from twin.basics.optional import optional

        optional("plotly")


def _write(
    run: Trajectory, platform: Platform, out: Path | None, plot: Path | None, log: Path | None
) -> None:
    """Write what was asked for."""
    if out is not None:
        line(f"wrote {run.save(out)}")
    if plot is not None:
        from twin.analysis.tracking import tracking_figure
        from twin.charts.panels import write_figure

        line(f"wrote {write_figure(tracking_figure(run), plot)}")
    if log is not None:
        from twin.analysis.inertial.log_file import write_inertial_log

        line(f"wrote {write_inertial_log(_inertial_log(run, platform), log)}")


def _print_reference(platform: Platform, reference: Reference) -> None:
    """Say where a motion asks more of the actuators than they can do."""
    speeds = [leg.actuator.speed for leg in platform.parameters.legs]
    fastest = np.array([np.inf if speed is None else speed for speed in speeds])
    beyond = (np.abs(reference.rates) > fastest).any(axis=1)
    if beyond.any():
        unit = platform.coordinate_unit
        most = float(np.abs(reference.rates).max())
        line(
            f"the motion asks {most:.3g} {unit}/s of actuators that give {fastest.min():.3g}, "
            f"{100 * beyond.mean():.2g} % of the time; they cannot follow there"
        )
    if not reference.reachable.all():
        lost = float(reference.time[int(np.argmin(reference.reachable))])
        line(f"the motion leaves the workspace at {lost:.4g} s")


def _inertial_log(run: Trajectory, platform: Platform) -> InertialLog:
    """Return what the inertial sensor told, one row per reading of its own."""
    time, readings = run.signals["time"], run.signals["inertial"]
    sensor = platform.parameters.imu
    rate = None if sensor is None else sensor.output_rate
    kept = np.ones(len(time), dtype=bool)
    if rate is not None:
        kept[1:] = np.diff(np.floor(time * rate + 1e-6)) > 0.0
    return InertialLog(time[kept], readings[kept, :3], readings[kept, 3:])


def _print_errors(run: Trajectory, unit: str) -> None:
    from twin.analysis.tracking import TrackingErrors

    errors = TrackingErrors(run)
    means = errors.root_mean_square()
    largest = (errors.position.max(), errors.rotation.max(), np.abs(errors.actuators).max())
    rows = [
        (name, number(1e3 * mean, 4), number(1e3 * float(most), 4), f"m{kind}")
        for name, mean, most, kind in zip(
            ("position", "rotation", "actuators"), means, largest, ("m", "rad", unit), strict=True
        )
    ]
    titles = (Column("error"), Column("root mean square", True), Column("largest", True))
    table((*titles, Column("unit")), rows)
