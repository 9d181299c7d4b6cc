"""Drive a machine along a motion with a controller, through its drives and sensors."""

from __future__ import annotations

import time as clock
from pathlib import Path

import numpy as np

from twin.arrays import positive
from twin.catalogue import load
from twin.commands.motions import motion_of
from twin.console import Column, line, table
from twin.control import make_controller
from twin.engines.stability import suitable_timestep
from twin.files import check_place
from twin.plant.plant import Plant
from twin.trajectory import Trajectory
from twin.viewer.text import number

FINEST_RATIO = 0.5
"""Engine's step in parts of the control period, unless a stiff machine needs a shorter one."""


def track(
    machine: str,
    machine_preset: str | None,
    motion: str,
    axis: str,
    amplitude: float | None,
    frequency: float,
    duration: float,
    controller: str,
    engine: str,
    timestep: float | None,
    preset: str,
    seed: int,
    out: Path | None,
    plot: Path | None,
) -> bool:
    """Run the closed loop, print its errors, write what was asked for; False after a safe stop."""
    for path, ending in ((out, ".npz"), (plot, "")):
        if path is not None:
            check_place(path, ending)
    if plot is not None:
        from twin.viewer.extra import report_library

        report_library("plotly", "Plotting")
    platform = load(machine, machine_preset)
    length = positive(duration, "duration")
    wanted = motion_of(platform, motion, axis, amplitude, frequency, length)
    law = make_controller(controller, platform, wanted)
    if timestep is None:
        step = _step(law.period, suitable_timestep(platform))
    else:
        step = positive(timestep, "timestep")
    periods = max(1, round(length / law.period))
    began = clock.perf_counter()
    run = platform.simulate(
        periods * law.period,
        controller=law,
        plant=Plant(platform, seed=seed),
        engine=engine,
        timestep=step,
        preset=preset,
    )
    seconds = clock.perf_counter() - began
    _print_errors(run, platform.coordinate_unit)
    line(
        f"{platform.name} in {run.engine}, {controller}: {float(run.time[-1]):.4g} s at "
        f"{1e3 * law.period:g} ms over {1e3 * step:g} ms, in {seconds:.3g} s"
    )
    if run.stopped:
        line(f"stopped: {run.stopped}", bold=True)
    if out is not None:
        line(f"wrote {run.save(out)}")
    if plot is not None:
        from twin.viewer.panels import write_figure
        from twin.viewer.tracking import tracking_figure

        line(f"wrote {write_figure(tracking_figure(run), plot)}")
    return not run.stopped


def _print_errors(run: Trajectory, unit: str) -> None:
    from twin.viewer.tracking import TrackingErrors

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


def _step(period: float, longest: float) -> float:
    """Return the longest step that divides the control period and suits engine and drives."""
    most = min(longest, FINEST_RATIO * period)
    return period / int(np.ceil(period / most - 1e-9))
