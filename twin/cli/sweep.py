"""The command `sweep`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from twin.cli.application import EngineName, FidelityName, app


class BackendName(StrEnum):
    """Who computes the runs."""

    LOKY = "loky"
    RAY = "ray"
    SERIAL = "serial"


Subject = Annotated[
    str,
    typer.Argument(
        metavar="FILE|MACHINE",
        help="A sweep's TOML file, or the name or platform.toml of a machine.",
    ),
]

Folder = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Where results go; the same command again computes what is missing there. "
        "Default: a folder here, named after the sweep.",
    ),
]

Values = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUES",
        help="A number of platform.toml, or motion.frequency or controller.OPTION, with values "
        "in SI: 1,2,5 or start:stop:count[:logarithmic]; may be repeated.",
    ),
]

Controllers = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[:OPTION=VALUE,...]",
        help="What drives the machine; model=nominal designs it for the machine without "
        "values and payload. May be repeated.",
    ),
]

Payloads = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KG|occupant:M:KG",
        help="Mass at the reference point, or a seated person's stature and mass; may be repeated.",
    ),
]

SeedCount = Annotated[
    int | None, typer.Option(min=1, help="How many seeds of the sensors' errors, from 0.")
]

SampleCount = Annotated[
    int | None,
    typer.Option(
        min=1, help="So many Latin-hypercube points between start:stop, instead of a grid."
    ),
]

Engines = Annotated[
    list[EngineName] | None,
    typer.Option(help="What computes the motion; may be repeated."),
]

Fidelity = Annotated[
    FidelityName | None, typer.Option(help="Most accurate, or faster and less accurate.")
]

Configurations = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Configuration of the machine's file; may be repeated."),
]

Timestep = Annotated[
    float | None,
    typer.Option(help="Engine's step in s; default: half a control period, or shorter."),
]

MotionName = Annotated[
    str | None,
    typer.Option(
        metavar="WORD|FILE",
        help="still, sine, step, lift, chirp, tank, or a CSV file with a recorded motion.",
    ),
]

Axis = Annotated[str | None, typer.Option(help="Axis that moves: x, y, z, yaw, pitch or roll.")]

Amplitude = Annotated[
    float | None,
    typer.Option(help="In m or rad; default: a tenth of an actuator's range."),
]

Frequency = Annotated[
    float | None, typer.Option(help="In Hz, of the sine; the highest of the chirp.")
]

Duration = Annotated[float | None, typer.Option(help="In s.")]

Measure = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE:FUNCTION",
        help="Called with trajectory and platform, returns more columns by name.",
    ),
]

Workers = Annotated[int | None, typer.Option(min=1, help="Runs at a time; default: one per core.")]

Backend = Annotated[
    BackendName,
    typer.Option(help="Processes of this computer, a Ray cluster, or this process."),
]

Address = Annotated[
    str | None,
    typer.Option(
        help="Of a running Ray cluster, such as auto; default: one on this computer that ends "
        "with the command."
    ),
]

Retries = Annotated[
    int, typer.Option(min=1, help="How often a run is tried again whose worker died.")
]

New = Annotated[bool, typer.Option("--new", help="Refuse a folder that holds results already.")]

Rows = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rows as JSON.")]


@app.command()
def sweep(
    subject: Subject,
    out: Folder = None,
    set_: Values = None,
    controller: Controllers = None,
    payload: Payloads = None,
    seeds: SeedCount = None,
    samples: SampleCount = None,
    engine: Engines = None,
    fidelity: Fidelity = None,
    configuration: Configurations = None,
    timestep: Timestep = None,
    motion: MotionName = None,
    axis: Axis = None,
    amplitude: Amplitude = None,
    frequency: Frequency = None,
    duration: Duration = None,
    measure: Measure = None,
    workers: Workers = None,
    backend: Backend = BackendName.LOKY,
    address: Address = None,
    retries: Retries = 2,
    new: New = False,
    json: Rows = None,
) -> None:
    """Compute many closed loops and tabulate them; exit code 1 where a run has failed."""
    from twin.commands import sweep as commands

    specification: dict[str, Any] = {"name": motion, "axis": axis, "amplitude": amplitude}
    specification |= {"frequency": frequency, "duration": duration}
    changes: dict[str, Any] = {"controllers": controller, "payloads": payload, "seeds": seeds}
    changes |= {"configurations": configuration, "timestep": timestep, "measure": measure}
    changes |= {"engines": [name.value for name in engine or ()] or None}
    changes |= {"fidelity": fidelity and fidelity.value}
    whole = commands.sweep(
        subject,
        out,
        json,
        values=set_ or [],
        samples=samples,
        motion=specification,
        changes=changes,
        resume=not new,
        workers=workers,
        backend=backend.value,
        address=address,
        retries=retries,
    )
    raise typer.Exit(0 if whole else 1)
