"""The console command `twin`: argument parsing only; the work is in `twin.commands`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from twin import __version__
from twin.errors import TwinError

WRONG_USAGE = 2


class EngineName(StrEnum):
    """Engines that `simulate` takes."""

    ANALYTIC = "analytic"
    MUJOCO = "mujoco"
    BULLET = "bullet"


class PresetName(StrEnum):
    """Engine presets."""

    VALIDATION = "validation"
    FAST = "fast"


class Format(StrEnum):
    """Model formats that `export` writes."""

    MJCF = "mjcf"
    URDF = "urdf"


class LegKind(StrEnum):
    """Kinds of legs that `new` has a template for."""

    UPS = "ups"
    RSS = "rss"
    STRUT = "strut"
    VISCOELASTIC = "viscoelastic"
    PILLAR = "pillar"


class Group(TyperGroup):
    """Commands whose TwinErrors end in one line instead of a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a TwinError ends with exit code 2."""
        try:
            return super().invoke(ctx)
        except TwinError as error:
            typer.echo(f"twin: {one_line(error)}", err=True)
            raise typer.Exit(WRONG_USAGE) from None


def one_line(error: TwinError) -> str:
    """Return the message of an error on one line, its parts separated by semicolons."""
    head, *parts = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    return f"{head} {'; '.join(parts)}".strip()


app = typer.Typer(
    cls=Group,
    name="twin",
    help="Digital twins of parallel motion platforms: analytic reference, engines, validation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Machine = Annotated[
    str,
    typer.Argument(
        metavar="MACHINE", help="Name of a shipped machine, or path of a platform.toml."
    ),
]

MachinePreset = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Preset of the machine's file, such as hardware."),
]

ConstantForce = Annotated[
    str,
    typer.Option(
        help="Constant actuator forces in N or N m: one number for all legs, one per leg separated "
        "by commas, or 'hold' for those that carry the machine at the start."
    ),
]

Machines = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[MACHINE]...", help="Names or paths of platform.toml; default: all shipped."
    ),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"platform-twin {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and stop.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Read the options before the command."""


@app.command("list")
def list_machines() -> None:
    """List the shipped machines."""
    from twin import commands

    commands.list_machines()


@app.command()
def info(machine: Machine, machine_preset: MachinePreset = None) -> None:
    """Show a machine: parameters with unit and source, figures at home, ranges of motion."""
    from twin import commands

    commands.info(machine, machine_preset)


@app.command()
def validate(
    machines: Machines = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report as one HTML page.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report's content as JSON.")
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Run only this case; may be repeated."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Processes to use; default: one per core."),
    ] = None,
) -> None:
    """Hold the engines against the reference; ends with exit code 1 when a case fails."""
    from twin import commands

    command = " ".join(["twin", *sys.argv[1:]])
    passed = commands.validate(machines, case, out, json, jobs, command)
    raise typer.Exit(0 if passed else 1)


@app.command()
def simulate(
    machine: Machine,
    duration: Annotated[
        float, typer.Option(help="Time to simulate in s, a multiple of the time step.")
    ] = 1.0,
    engine: Annotated[EngineName, typer.Option(help="What computes the motion.")] = (
        EngineName.ANALYTIC
    ),
    timestep: Annotated[
        float | None,
        typer.Option(help="Time step in s; default: 1 ms, or shorter for stiff machines."),
    ] = None,
    preset: Annotated[
        PresetName, typer.Option(help="Most accurate, or faster and less accurate.")
    ] = PresetName.VALIDATION,
    force: ConstantForce = "0",
    pose: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z,QW,QX,QY,QZ",
            help="Start: position in m and unit quaternion, scalar first; default: home.",
        ),
    ] = None,
    twist: Annotated[
        str | None,
        typer.Option(
            metavar="VX,VY,VZ,WX,WY,WZ",
            help="Velocity in m/s and angular velocity in rad/s at the start; default: rest.",
        ),
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="Keep every so many steps.")] = 1,
    machine_preset: MachinePreset = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the trajectory as .npz.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot the trajectory as one HTML page.")
    ] = None,
) -> None:
    """Simulate a machine under constant actuator forces and say where it ends."""
    from twin import commands

    commands.simulate(
        machine,
        machine_preset,
        force,
        pose,
        twist,
        out,
        plot,
        duration=duration,
        engine=engine.value,
        timestep=timestep,
        preset=preset.value,
        every=every,
    )


@app.command()
def new(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="File to write, such as my_platform.toml.")
    ],
    legs: Annotated[LegKind, typer.Option(help="Kind of the legs.")] = LegKind.UPS,
) -> None:
    """Write a commented platform.toml to begin your own machine with; replaces no file."""
    from twin import commands

    commands.new(path, legs.value)


@app.command()
def export(
    machine: Machine,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the files; made if need be.")
    ],
    form: Annotated[
        Format,
        typer.Option("--format", help="mjcf: robot.xml and scene.xml; urdf: robot.urdf."),
    ] = Format.MJCF,
    machine_preset: MachinePreset = None,
) -> None:
    """Write a machine's engine models; replaces files of the same names, nothing else."""
    from twin import commands

    commands.export(machine, machine_preset, form.value, out)


@app.command()
def bench(
    machines: Machines = None,
) -> None:
    """Time the main functions and the engines' steps on this computer."""
    from twin import commands

    commands.bench(machines)


def main() -> None:
    """Run the console command."""
    app(prog_name="twin")
