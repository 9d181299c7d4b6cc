"""The application that commands register on, and the arguments that several of them take."""

from __future__ import annotations

from enum import StrEnum
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


class FidelityName(StrEnum):
    """fidelities."""

    ACCURATE = "accurate"
    FAST = "fast"


class ControllerName(StrEnum):
    """Controllers that closed loops take."""

    CASCADE = "cascade"
    OBSERVER = "observer"
    FEEDFORWARD = "feedforward"
    COMPUTED_TORQUE = "computed_torque"
    LQR = "lqr"
    LOOP_SHAPING = "loop_shaping"
    IFF = "iff"
    DVF = "dvf"
    HAC_LAC = "hac_lac"


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

Configuration = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Configuration of the machine's file, such as hardware."),
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
