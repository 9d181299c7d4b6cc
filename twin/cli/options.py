"""Arguments and options that several commands share, each with its type and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from twin.cli.quantities import quantity_option

EngineName = Literal["analytic", "mujoco", "bullet"]
FidelityName = Literal["accurate", "fast"]
ControllerName = Literal[
    "cascade",
    "observer",
    "feedforward",
    "computed_torque",
    "lqr",
    "loop_shaping",
    "iff",
    "dvf",
    "ilqr",
    "hac_lac",
]


def file_option(text: str, *names: str, metavar: str = "FILE") -> Any:
    """Return an option that is a file, with its help text and, where they differ, its names."""
    return typer.Option(*names, metavar=metavar, help=text)


MACHINE_HELP = "Name of a shipped machine, or path of a platform.toml."
Machine = Annotated[str, typer.Argument(metavar="MACHINE", help=MACHINE_HELP)]
OptionalMachine = Annotated[str | None, typer.Argument(metavar="[MACHINE]", help=MACHINE_HELP)]
Machines = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[MACHINE]...", help="Names or paths of platform.toml; default: all shipped."
    ),
]
Configuration = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Configuration of the machine's file, such as hardware."),
]

ReplaceFile = Annotated[bool, typer.Option("--replace", help="Replace a file that exists.")]

NoLimits = Annotated[
    bool,
    typer.Option("--no-limits", help="Actuators give any force at any speed, beyond their limits."),
]

ENGINES_HELP = f"{', '.join(get_args(EngineName))}; may be repeated"
Engine = Annotated[EngineName, typer.Option(help="Engine that computes the motion.")]
OptionalEngine = Annotated[
    EngineName | None, typer.Option(help="Engine that computes the motion; default: analytic.")
]
Fidelity = Annotated[
    FidelityName,
    typer.Option(help="Solver settings of the engine: most accurate, or faster and less accurate."),
]
Timestep = Annotated[
    float | None,
    quantity_option(
        "Engine's step in s; default: half a control period, or shorter.", "timestep", "s"
    ),
]
Controller = Annotated[ControllerName, typer.Option(help="Controller of the machine.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")]

Spreads = Annotated[
    list[str] | None,
    typer.Option(
        "--spread",
        metavar="PATH=QUANTITY",
        help="Standard deviation of what is known of a parameter, such as "
        "'platform.body.mass=5 kg'; may be repeated.",
    ),
]

MOTION_HELP = (
    "still, sine, step, lift, chirp, tank, or a file: a table of axes or of leg coordinates, a "
    "saved run, a log"
)
MotionName = Annotated[str, typer.Option(metavar="NAME|FILE", help=f"{MOTION_HELP}.")]
OptionalMotion = Annotated[
    str | None,
    typer.Option(metavar="NAME|FILE", help=f"{MOTION_HELP}; default: sine to draw, none to view."),
]
Axis = Annotated[str, typer.Option(help="Axis that moves: x, y, z, yaw, pitch or roll.")]
Amplitude = Annotated[
    float | None,
    quantity_option(
        "Amplitude in m or rad, or as '20 mm' or '3 deg'; default: a tenth of an actuator's range, "
        "or what its travel, speed and force allow.",
        "amplitude",
        "m",
        "rad",
    ),
]
FREQUENCY_OPTION = quantity_option(
    "Frequency of the sine in Hz; the highest of the chirp.", "frequency", "Hz"
)
DURATION_OPTION = quantity_option("Duration of the motion in s.", "duration", "s")
Frequency = Annotated[float, FREQUENCY_OPTION]
Duration = Annotated[
    float | None,
    quantity_option(
        "Duration of the motion in s; default: the whole of a file, else 4 s.", "duration", "s"
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="AXIS=TITLE",
        help="Title of the column of an axis, or of time, in a table, such as 'z=Heave [mm]'; may "
        "be repeated.",
    ),
]
Absolute = Annotated[
    bool,
    typer.Option("--absolute", help="A table's axes are in the base frame, not about home."),
]
Fade = Annotated[
    float | None,
    quantity_option(
        "Time in s over which a sine or a chirp rises from rest and falls to rest.", "fade", "s"
    ),
]
Pose = Annotated[
    str | None,
    typer.Option(
        metavar="POSE",
        help="Position and angles from home, as '0,0,900 mm,pitch=3 deg' or 'z=0.9,yaw=5 deg', "
        "or 7 numbers: position in m and unit quaternion, scalar first; default: home.",
    ),
]

Plot = Annotated[Path | None, file_option("Plot the result as one HTML page.")]
Json = Annotated[Path | None, file_option("Write the result as JSON.")]
SavedTrajectory = Annotated[
    Path | None,
    file_option("Save the trajectory: .npz, .csv, .parquet; .mcap is a log that Foxglove opens."),
]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Number of processes; default: one per core.")
]

Environment = Annotated[
    str,
    typer.Argument(metavar="ENV", help="Id of an environment, such as twin/PoseTracking-v0."),
]
EnvironmentMachine = Annotated[str | None, typer.Option(metavar="MACHINE", help=MACHINE_HELP)]
Randomisation = Annotated[
    str | None,
    typer.Option(metavar="NAME|FILE", help="Parameters that differ between episodes."),
]
EnvironmentOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="Option of the environment, its value as JSON or a text; may be repeated.",
    ),
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Only print the page's address.")]
Port = Annotated[
    int | None,
    typer.Option(
        min=0, max=65535, help="Port of the page; default: the first free one from 8080; 0: any."
    ),
]
