"""Arguments and options that several commands share, each with its type and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from twin.cli.values import quantity_option

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


def option(text: str, *names: str, **settings: Any) -> Any:
    """Return an option with its help text and, where they differ, its names."""
    return typer.Option(*names, help=text, **settings)


def argument(text: str, **settings: Any) -> Any:
    """Return an argument with its help text."""
    return typer.Argument(help=text, **settings)


def file_option(text: str, *names: str, metavar: str = "FILE") -> Any:
    """Return an option that is a file, with its help text and, where they differ, its names."""
    return typer.Option(*names, metavar=metavar, help=text)


MACHINE_HELP = "Name of a shipped machine, or path of a platform.toml."
Machine = Annotated[str, argument(MACHINE_HELP, metavar="MACHINE")]
OptionalMachine = Annotated[str | None, argument(MACHINE_HELP, metavar="[MACHINE]")]
Machines = Annotated[
    list[str] | None,
    argument("Names or paths of platform.toml; default: all shipped.", metavar="[MACHINE]..."),
]
Configuration = Annotated[
    str | None,
    option("Configuration of the machine's file, such as hardware.", metavar="NAME"),
]

ReplaceFile = Annotated[bool, option("Replace a file that exists.", "--replace")]

NoLimits = Annotated[
    bool,
    option("Actuators give any force at any speed, beyond their limits.", "--no-limits"),
]

ENGINES_HELP = f"{', '.join(get_args(EngineName))}; may be repeated"
Engine = Annotated[EngineName, option("Engine that computes the motion.")]
OptionalEngine = Annotated[
    EngineName | None, option("Engine that computes the motion; default: analytic.")
]
Fidelity = Annotated[
    FidelityName,
    option("Solver settings of the engine: most accurate, or faster and less accurate."),
]
Timestep = Annotated[
    float | None,
    quantity_option("Engine's step in s; default: half a control period, or shorter.", "s"),
]
Controller = Annotated[ControllerName, option("Controller of the machine.")]
Seed = Annotated[int, option("Seed of all random numbers.", min=0)]

MODEL_GROUPS = ("payload", "platform", "legs", "friction", "drives", "gravity", "sensors")
"""Groups of parameters that are numbers of a machine's file."""

TERM_GROUPS = (
    "cable",
    "motor_constants",
    "friction_drift",
    "load_friction",
    "lugre",
    "leads",
    "pendulum",
)
"""Groups of parameters of free terms."""

GROUPS_HELP = f"groups ({', '.join(MODEL_GROUPS)}; free terms: {', '.join(TERM_GROUPS)})"

Spreads = Annotated[
    list[str] | None,
    option(
        "Standard deviation of what is known of a parameter, such as "
        "'platform.body.mass=5 kg'; may be repeated.",
        "--spread",
        metavar="PATH=QUANTITY",
    ),
]

MOTION_HELP = (
    "still, sine, step, lift, chirp, tank, or a file: a table of axes or of leg coordinates, a "
    "saved run, a log"
)
MotionName = Annotated[str, option(f"{MOTION_HELP}.", metavar="NAME|FILE")]
OptionalMotion = Annotated[
    str | None,
    option(f"{MOTION_HELP}; default: sine to draw, none to view.", metavar="NAME|FILE"),
]
Axis = Annotated[str, option("Axis that moves: x, y, z, yaw, pitch or roll.")]
Amplitude = Annotated[
    float | None,
    quantity_option(
        "Amplitude in m or rad, or as '20 mm' or '3 deg'; default: a tenth of an actuator's range, "
        "or what its travel, speed and force allow.",
        "m",
        "rad",
    ),
]
Frequency = Annotated[
    float, quantity_option("Frequency of the sine in Hz; the highest of the chirp.", "Hz")
]
Duration = Annotated[
    float | None,
    quantity_option("Duration of the motion in s; default: the whole of a file, else 4 s.", "s"),
]
Columns = Annotated[
    list[str] | None,
    option(
        "Title of the column of an axis, or of time, in a table, such as 'z=Heave [mm]'; may "
        "be repeated.",
        "--column",
        metavar="AXIS=TITLE",
    ),
]
Absolute = Annotated[
    bool,
    option("A table's axes are in the base frame, not about home.", "--absolute"),
]
Fade = Annotated[
    float | None,
    quantity_option(
        "Time in s over which a sine or a chirp rises from rest and falls to rest.", "s"
    ),
]
Pose = Annotated[
    str | None,
    option(
        "Position and angles from home, as '0,0,900 mm,pitch=3 deg' or 'z=0.9,yaw=5 deg', "
        "or 7 numbers: position in m and unit quaternion, scalar first; default: home.",
        metavar="POSE",
    ),
]

Load = Annotated[
    str | None,
    option(
        "Payload in kg and its centre in m in the platform frame; default: none.",
        metavar="KG[,X,Y,Z]",
    ),
]

Report = Annotated[Path | None, file_option("Write the result as one HTML page.")]
Json = Annotated[Path | None, file_option("Write the result as JSON.")]
SavedTrajectory = Annotated[
    Path | None,
    file_option("Save the trajectory: .npz, .csv, .parquet; .mcap is a log that Foxglove opens."),
]
Jobs = Annotated[int | None, option("Number of processes; default: one per core.", min=1)]

Environment = Annotated[
    str,
    argument("Id of an environment, such as twin/PoseTracking-v0.", metavar="ENV"),
]
EnvironmentMachine = Annotated[str | None, option(MACHINE_HELP, metavar="MACHINE")]
Randomisation = Annotated[
    str | None,
    option("Parameters that differ between episodes.", metavar="NAME|FILE"),
]
EnvironmentOptions = Annotated[
    list[str] | None,
    option(
        "Option of the environment, its value as JSON or a text; may be repeated.",
        "--option",
        metavar="KEY=VALUE",
    ),
]
NoBrowser = Annotated[bool, option("Only print the page's address.", "--no-browser")]
Port = Annotated[
    int | None,
    option("Port of the page; default: the first free one from 8080; 0: any.", min=0, max=65535),
]
