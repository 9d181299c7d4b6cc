"""The commands `simulate` and `setpoints`."""

from __future__ import annotations

import time as clock
from pathlib import Path
from typing import Annotated

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, table
from twin.cli.motion import given_motion, motion_notes
from twin.cli.options import argument, file_option, option
from twin.cli.values import (
    HOLDING_FORCES,
    TRAJECTORY_ENDINGS,
    check_files,
    constant_forces,
    pose_of,
    quantities,
    quantity_option,
    save,
    write,
    write_plot,
)

Duration = Annotated[
    float, quantity_option("Simulated time in s, a multiple of the time step.", "s")
]
Timestep = Annotated[
    float | None,
    quantity_option("Time step in s; default: 1 ms, or shorter for stiff machines.", "s"),
]
Force = Annotated[
    str,
    option(
        "Constant actuator forces in N or N m: one number for all legs, one per leg "
        "separated by commas, or 'hold' for those that carry the machine at the start; "
        "default: hold."
    ),
]
Twist = Annotated[
    str | None,
    option(
        "Velocity in m/s and angular velocity in rad/s at the start, base axes; default: rest.",
        metavar="VX,VY,VZ,WX,WY,WZ",
    ),
]


@app.command()
def simulate(
    machine: options.Machine,
    *,
    duration: Duration = 1.0,
    engine: options.Engine = "analytic",
    timestep: Timestep = None,
    fidelity: options.Fidelity = "accurate",
    force: Force = HOLDING_FORCES,
    pose: options.Pose = None,
    twist: Twist = None,
    every: Annotated[int, option("Steps per instant that is kept.", min=1)] = 1,
    configuration: options.Configuration = None,
    out: options.SavedTrajectory = None,
    report: options.Report = None,
) -> None:
    """Simulate a machine from a pose under constant actuator forces; print the final state."""
    from twin.analysis.platform import load
    from twin.charts.panels import number
    from twin.engines.base import suitable_timestep

    check_files(reads=(machine,), out=(out, *TRAJECTORY_ENDINGS), report=report)
    platform = load(machine, configuration)
    initial_pose = pose_of(platform, pose)
    forces = constant_forces(platform, force, initial_pose)
    start_time = clock.perf_counter()
    motion = platform.simulate(
        duration,
        pose=initial_pose,
        twist=quantities(twist, "twist", *(["m/s"] * 3), "rad/s"),
        forces=forces,
        engine=engine,
        timestep=suitable_timestep(platform) if timestep is None else timestep,
        fidelity=fidelity,
        every=every,
    )
    computing_time = clock.perf_counter() - start_time
    names = [f"{axis} [m]" for axis in "xyz"] + [f"q{part} [1]" for part in "wxyz"]
    coordinate, unit_name = platform.parameters.leg.coordinate, platform.coordinate_unit
    names += [f"{coordinate} {k + 1} [{unit_name}]" for k in range(platform.n_actuators)]
    columns = [
        [f"{round(value, 6) + 0.0:.6f}" for value in (*motion.pose[k], *motion.lengths[k])]
        for k in (0, -1)
    ]
    times = [f"at {number(float(motion.time[k]))} s" for k in (0, -1)]
    table(("quantity", *times), zip(names, *columns, strict=True))
    steps = round(float(motion.time[-1]) / motion.timestep)
    line(f"{platform.name} in {motion.engine}: {steps} steps in {computing_time:.3g} s")
    # An engine's platform is off the constraints of its fixed foot by the loop gap.
    if not platform.within_limits(platform.constrain(motion.pose).pose).all():
        line("the actuators leave their limits on the way; the model has no end stops")
    save(motion, out)
    write_plot(report, motion.plot)


Motion = Annotated[str, argument(f"{options.MOTION_HELP}.", metavar="MOTION")]
Cycle = Annotated[float, quantity_option("Time between two rows in s.", "s")]
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
    from twin.analysis.platform import load
    from twin.basics.arrays import one_of
    from twin.basics.text_table import csv_text
    from twin.cli.tables.analysis import print_banner
    from twin.control.controller import sample_reference
    from twin.errors import InputError
    from twin.machine.quantity import UNITS
    from twin.motion.specification import MotionSpecification

    check_files(reads=(machine, motion), replace=replace, out=(out, ".csv"))
    platform = load(machine, configuration)
    units_in_si = UNITS[platform.coordinate_unit]
    unit = one_of(units or platform.coordinate_unit, "units", units_in_si)
    specification = MotionSpecification(motion, axis, amplitude, frequency, duration, fade)
    motion_to_sample, seconds = given_motion(platform, specification, column, absolute)
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
    zero = platform.minimum_coordinates if from_minimum else 0.0
    values = (reference.coordinates - zero) / units_in_si[unit]
    titles = ["time [s]", *(f"leg {k + 1} [{unit}]" for k in range(platform.n_actuators))]
    write(out, csv_text(titles, [reference.time, *values.T]))
