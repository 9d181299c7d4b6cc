"""The command `simulate`."""

from __future__ import annotations

import time as clock
from typing import Annotated

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, table
from twin.cli.options import option
from twin.cli.values import (
    HOLDING_FORCES,
    PAGE_ENDING,
    TRAJECTORY_ENDINGS,
    check_files,
    constant_forces,
    pose_of,
    quantities,
    quantity_option,
    save,
    write_plot,
)

Duration = Annotated[
    float, quantity_option("Simulated time in s, a multiple of the time step.", "duration", "s")
]
Timestep = Annotated[
    float | None,
    quantity_option(
        "Time step in s; default: 1 ms, or shorter for stiff machines.", "timestep", "s"
    ),
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
        "Velocity in m/s and angular velocity in rad/s at the start; default: rest.",
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
    plot: options.Plot = None,
) -> None:
    """Simulate a machine from a pose under constant actuator forces; print the final state."""
    from twin.analysis.platform import load
    from twin.charts.panels import number
    from twin.engines.base import suitable_timestep

    check_files(reads=(machine,), out=(out, *TRAJECTORY_ENDINGS), plot=(plot, PAGE_ENDING))
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
    first_and_last = ([*motion.pose[k], *motion.lengths[k]] for k in (0, -1))
    columns = [
        [f"{round(value, 6) + 0.0:.6f}" for value in values_at_end]
        for values_at_end in first_and_last
    ]
    times = [f"at {number(float(motion.time[k]))} s" for k in (0, -1)]
    table(("quantity", *times), zip(names, *columns, strict=True))
    steps = round(float(motion.time[-1]) / motion.timestep)
    line(f"{platform.name} in {motion.engine}: {steps} steps in {computing_time:.3g} s")
    # An engine's platform is off the constraints of its fixed foot by the loop gap.
    if not platform.within_limits(platform.constrain(motion.pose).pose).all():
        line("the actuators leave their limits on the way; the model has no end stops")
    save(motion, out)
    write_plot(plot, motion.plot)
