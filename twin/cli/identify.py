"""The command `identify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twin.cli import options
from twin.cli.application import app
from twin.cli.quantities import quantity_option

if TYPE_CHECKING:
    from twin.analysis.platform import Platform
    from twin.identification.result.identification import Source
    from twin.logs import Log

Logs = Annotated[
    list[Path],
    typer.Argument(metavar="LOG...", help="Logs of the machine: .csv, .parquet, .mcap, bags."),
]
Names = Annotated[
    str,
    typer.Option(
        "--parameters",
        metavar="GROUP|PATH,...",
        help="Groups (payload, platform, legs, friction, drives, gravity, sensors), paths of "
        "platform.toml, tilt.x, or errors of signals, such as signal.forces.scale (the torque "
        "constant), signal.pose.delay and signal.coordinates.bias.0.",
    ),
]
ForcePerCurrent = Annotated[
    float | None,
    quantity_option(
        "Force of a leg's motor per current in N/A or N m/A, for logs with currents.",
        "force_per_current",
        "N/A",
        "N m/A",
    ),
]
Mapping = Annotated[
    Path | None, options.file_option("Which channels of the logs are which signals, as TOML.")
]
Out = Annotated[
    Path | None, options.file_option("Write the identified machine: a file on top of the old one.")
]
Report = Annotated[Path | None, options.file_option("Write the result as one HTML page.")]
Unseen = Annotated[
    str,
    typer.Option(
        metavar="refuse|prior|hold",
        help="What the logs do not show: refuse, keep the prior, or hold the file's value.",
    ),
]
Window = Annotated[str, typer.Option(metavar="QUANTITY", help="Time of predictions in s.")]
Robust = Annotated[
    bool, typer.Option("--robust", help="Large errors count less than their square.")
]
WINDOW = 20.0
"""[s] of a log that are read at once."""


@app.command()
def identify(
    machine: options.Machine,
    logs: Logs,
    *,
    parameters: Names,
    mapping: Mapping = None,
    out: Out = None,
    report: Report = None,
    configuration: options.Configuration = None,
    spread: options.Spreads = None,
    force_per_current: ForcePerCurrent = None,
    unseen: Unseen = "refuse",
    window: Window = "0.1",
    robust: Robust = False,
    replace: options.ReplaceFile = False,
) -> None:
    """Find a machine's parameters in logs of its motion.

    \f
    Raises:
        InputError: logs or options that cannot be used, or parameters that the logs do not show.
    """
    from twin.analysis.platform import load
    from twin.basics.optional import optional
    from twin.basics.progress import Progress
    from twin.cli.console import line
    from twin.cli.quantities import in_unit, quantities
    from twin.cli.tables.identify import print_identification
    from twin.cli.values import check_files, settings_from
    from twin.identification.result.identify import EVALUATIONS, identify, write_identified

    check_files(
        reads=(machine, mapping, *logs),
        replace=replace,
        out=(out, ".toml"),
        report=(report, ".html"),
    )
    if report is not None:
        optional("jinja2")
    platform = load(machine, configuration)
    (span,) = quantities(window, "window", "s") or (0.1,)
    unit = f"{platform.force_unit}/A"
    factor = in_unit(force_per_current, "force_per_current", unit, "that of this machine's motors")
    read = [_read(path, mapping, platform) for path in logs]
    with Progress(f"identifying {platform.name}", EVALUATIONS, every=1) as progress:
        found = identify(
            platform,
            [log for log, _ in read],
            parameters,
            spreads=settings_from(spread or (), "spread"),
            force_per_current=factor,
            unseen=unseen,  # type: ignore[arg-type]
            window=span,
            robust=robust,
            sources=[source for _, source in read],
            tick=progress.tick,
        )
    print_identification(found)
    if out is not None:
        line(f"wrote {write_identified(found, machine, out, replace=replace)}")
    if report is not None:
        from twin.identification.result.report import write_report

        line(f"wrote {write_report(found, report)}")


def _read(path: Path, mapping: Path | None, platform: Platform) -> tuple[Log, Source]:
    """Return a log in signals of the machine, and where it is from.

    Only the signals that are needed stay in memory.
    """
    from twin.cli.console import line
    from twin.identification.result.identification import Source
    from twin.identification.result.identify import BESIDE, SIGNALS
    from twin.logs import Log, LogMapping, check_log, join, read_windows

    rule = None if mapping is None else LogMapping.read(mapping)
    log = join(
        Log(tuple(each for each in window.channels if each.name in (*SIGNALS, *BESIDE)))
        for window in read_windows(path, WINDOW, rule, platform)
    )
    for finding in check_log(log, platform):
        line(f"{path}: {finding}")
    start, stop = log.span
    return log, Source(path.name, _sha256(path), stop - start)


def _sha256(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files of a folder in the order of their paths."""
    import hashlib

    from twin.errors import InputError

    digest = hashlib.sha256()
    try:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                with file.open("rb") as stream:
                    hashlib.file_digest(stream, lambda: digest)
    except OSError as error:
        raise InputError("log", f"{path} cannot be read ({error.strerror})") from None
    return digest.hexdigest()
