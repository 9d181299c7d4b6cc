"""The command `identify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from twin.cli import options
from twin.cli.application import app
from twin.cli.options import argument, file_option, option
from twin.cli.values import quantity_option

if TYPE_CHECKING:
    from twin.analysis.platform import Platform
    from twin.identification.result.identification import Source
    from twin.logs import Log

Logs = Annotated[
    list[Path],
    argument("Logs of the machine: .csv, .parquet, .mcap, bags.", metavar="LOG..."),
]
Names = Annotated[
    str,
    option(
        f"Parameters to find: {options.GROUPS_HELP}, paths of platform.toml, tilt.x, or errors of "
        "signals, such as signal.forces.scale (the torque constant), signal.pose.delay and "
        "signal.coordinates.bias.0.",
        "--parameters",
        metavar="GROUP|PATH,...",
    ),
]
ForcePerCurrent = Annotated[
    float | None,
    quantity_option(
        "Force of a leg's motor per current in N/A or N m/A, for logs with currents.",
        "N/A",
        "N m/A",
    ),
]
Mapping = Annotated[
    Path | None, file_option("Which channels of the logs are which signals, as TOML.")
]
Out = Annotated[
    Path | None, file_option("Write the identified machine: a file that extends the old one.")
]
IfUnobservable = Annotated[
    str,
    option(
        "What the logs do not show: refuse, keep the prior, or hold the file's value.",
        metavar="refuse|prior|hold",
    ),
]
Window = Annotated[str, option("Length of each prediction in s.", metavar="QUANTITY")]
Robust = Annotated[bool, option("Outliers weigh less than by their square.", "--robust")]

Suggest = Annotated[
    bool, option("Add the free terms that reduce the errors on held-out data.", "--suggest")
]


@app.command()
def identify(
    machine: options.Machine,
    logs: Logs,
    *,
    parameters: Names,
    mapping: Mapping = None,
    out: Out = None,
    report: options.Report = None,
    configuration: options.Configuration = None,
    spread: options.Spreads = None,
    force_per_current: ForcePerCurrent = None,
    if_unobservable: IfUnobservable = "refuse",
    window: Window = "0.1",
    robust: Robust = False,
    suggest: Suggest = False,
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
    from twin.cli.console import line, show
    from twin.cli.values import check_files, in_unit, quantities, settings_from
    from twin.identification.result.identify import (
        TYPICAL_EVALUATIONS,
        identify,
        suggested,
        write_identified,
    )
    from twin.identification.result.report import identification_results

    check_files(
        reads=(machine, mapping, *logs),
        replace=replace,
        out=(out, ".toml"),
        report=report,
    )
    if report is not None:
        optional("jinja2")
    platform = load(machine, configuration)
    (window_time,) = quantities(window, "window", "s") or (0.1,)
    factor_unit = f"{platform.force_unit}/A"
    factor = in_unit(
        force_per_current, "force_per_current", factor_unit, "that of this machine's motors"
    )
    signal_logs, sources = _read_logs(logs, mapping, platform)
    with Progress(f"identifying {platform.name}", TYPICAL_EVALUATIONS, every=1) as progress:
        settings = {
            "spreads": settings_from(spread, "spread"),
            "force_per_current": factor,
            "if_unobservable": if_unobservable,
            "window": window_time,
            "robust": robust,
            "sources": sources,
            "tick": progress.tick,
        }
        result = (suggested if suggest else identify)(platform, signal_logs, parameters, **settings)  # type: ignore[arg-type]
    show(identification_results(result), report)
    if out is not None:
        line(f"wrote {write_identified(result, machine, out, replace=replace)}")


def _read_logs(
    paths: list[Path], mapping: Path | None, platform: Platform
) -> tuple[list[Log], list[Source]]:
    """Return logs with signals of the machine, and their sources; print faults of the logs."""
    from twin.cli.console import line
    from twin.identification.result.identification import Source
    from twin.identification.result.identify import AUXILIARY_SIGNALS, INPUT_SIGNALS
    from twin.logs import LogMapping, check_log, read_log, sha256_of

    rules = None if mapping is None else LogMapping.read(mapping)
    signals = (*INPUT_SIGNALS, *AUXILIARY_SIGNALS)
    logs = [read_log(path, rules, platform if rules else None, signals=signals) for path in paths]
    for path, log in zip(paths, logs, strict=True):
        for finding in check_log(log, platform):
            line(f"{path}: {finding}")
    paths_with_logs = zip(paths, logs, strict=True)
    return logs, [Source(path.name, sha256_of(path), log.duration) for path, log in paths_with_logs]
