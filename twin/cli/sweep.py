"""The command `sweep`."""

from __future__ import annotations

import hashlib
import time as clock
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from twin.basics.toml import read_toml
from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, table
from twin.cli.options import argument, option
from twin.cli.values import check_files, settings_from, write_json
from twin.errors import InputError, ParameterError

if TYPE_CHECKING:
    from twin.sweep import Sweep

BackendName = Literal["loky", "ray", "serial"]

MAX_ROWS = 60
"""Maximum number of rows of the table; the files contain all runs."""

MAX_FAILURES = 5
"""Maximum number of failed runs that are printed."""


Subject = Annotated[
    str,
    argument(
        "A sweep's TOML file, or the name or platform.toml of a machine.", metavar="FILE|MACHINE"
    ),
]
OutFolder = Annotated[
    Path | None,
    option(
        "Folder of the results; the same command again computes what is missing there. "
        "Default: a folder here, named after the sweep.",
        metavar="FOLDER",
    ),
]
Settings = Annotated[
    list[str] | None,
    option(
        "A number of platform.toml, or motion.frequency or controller.OPTION, with values: "
        "1,2,5 or '0:4 ms:5' or start:stop:count:logarithmic; may be repeated.",
        "--set",
        metavar="PATH=VALUES",
    ),
]
Controller = Annotated[
    list[str] | None,
    option(
        "Controller of the machine; model=nominal designs it for the machine without "
        "values and payload. May be repeated.",
        metavar="NAME[:OPTION=VALUE,...]",
    ),
]
Payload = Annotated[
    list[str] | None,
    option(
        "Mass at the reference point, or a seated person's stature and mass; may be repeated.",
        metavar="KG|occupant:M:KG",
    ),
]
Seeds = Annotated[int | None, option("Number of seeds of the sensors' errors: 0, 1, ...", min=1)]
Samples = Annotated[
    int | None,
    option("Number of Latin-hypercube points in start:stop, instead of a grid.", min=1),
]
Engine = Annotated[
    list[str] | None,
    option(f"{options.ENGINES_HELP}.", metavar="NAME"),
]
Configuration = Annotated[
    list[str] | None,
    option("Configuration of the machine's file; may be repeated.", metavar="NAME"),
]
Fields = Annotated[
    list[str] | None,
    option(
        "Another field of a sweep's file, such as fidelity=fast, motion.name=chirp, "
        "motion.amplitude=0.01 or measure=module:function; may be repeated.",
        "--field",
        metavar="FIELD=VALUE",
    ),
]
Backend = Annotated[
    BackendName,
    option("Processes of this computer, a Ray cluster, or this process."),
]
Address = Annotated[
    str | None,
    option(
        "Address of a running Ray cluster, such as auto; default: one on this computer "
        "that ends with the command."
    ),
]
Retries = Annotated[int, option("Attempts to repeat a run whose worker has died.", min=1)]
New = Annotated[bool, option("Refuse a folder that holds results already.", "--new")]


@app.command()
def sweep(
    subject: Subject,
    *,
    out: OutFolder = None,
    set_: Settings = None,
    controller: Controller = None,
    payload: Payload = None,
    seeds: Seeds = None,
    samples: Samples = None,
    engine: Engine = None,
    configuration: Configuration = None,
    field: Fields = None,
    jobs: options.Jobs = None,
    backend: Backend = "loky",
    address: Address = None,
    retries: Retries = 2,
    new: New = False,
    json: options.Json = None,
) -> None:
    """Compute many closed loops and tabulate them; exit code 1 where a run has failed.

    The JSON file holds sweep (the description) and runs (column to value, null for none).
    """
    from twin.sweep import run_sweep
    from twin.sweep.folder import DONE_STATUS, STOPPED_STATUS

    check_files(json=json)
    changes = {"controllers": controller, "payloads": payload, "seeds": seeds}
    changes |= {"engines": engine, "configurations": configuration, "samples": samples}
    changes = {name: value for name, value in changes.items() if value}
    plan = described(subject, set_ or [], changes | settings_from(field, "field"))
    folder = default_folder(plan) if out is None else out
    start_time = clock.perf_counter()
    try:
        results = run_sweep(
            plan, folder, jobs, backend, not new, address=address, retries=retries
        ).to_pylist()
    except KeyboardInterrupt:
        line(f"interrupted; {folder} keeps what is finished, the same command computes the rest")
        raise
    run_time = clock.perf_counter() - start_time
    _print_means(plan, results)
    line(f"{len(results)} runs of {plan.machine} in {run_time:.3g} s: {folder / 'results.parquet'}")
    failed_runs = [row for row in results if row["status"] not in (DONE_STATUS, STOPPED_STATUS)]
    for row in failed_runs[:MAX_FAILURES]:
        line(f"run {row['run']} {row['status']}: {row['error']}", bold=True)
    if len(failed_runs) > MAX_FAILURES:
        line(f"and {len(failed_runs) - MAX_FAILURES} more: see the columns status and error")
    write_json(json, {"sweep": plan.model_dump(mode="json"), "runs": results})
    raise typer.Exit(int(bool(failed_runs)))


def described(subject: str, values: list[str], fields: dict[str, Any]) -> Sweep:
    """Return the sweep of a file or a machine, changed by the options of the command.

    Args:
        subject: a sweep's file, or a machine.
        values: texts `path=values` of parameters.
        fields: other fields of the sweep by name; those of tables as `table.name`.

    Raises:
        InputError: texts that are no values, or a sweep that cannot be.
        ParameterError: a file that cannot be used.
    """
    from twin.sweep import Sweep
    from twin.sweep.description import sweep_from

    file_content = read_toml(subject) if Path(subject).suffix == ".toml" else {}
    is_sweep_file = "machine" in file_content
    content: dict[str, Any] = file_content if is_sweep_file else {"machine": subject}
    changes = [(name.split(".", 1), value) for name, value in fields.items()]
    changes += [(["parameters", path], text) for path, text in map(_value, values)]
    for (name, *inner_name), value in changes:
        if not inner_name:
            content[name] = value
            continue
        table = content.setdefault(name, {})
        if not isinstance(table, dict):
            raise ParameterError(subject, [(name, f"must be a table such as [{name}]")])
        table[inner_name[0]] = value
    return sweep_from(content, subject) if is_sweep_file else Sweep(**content)


def default_folder(sweep: Sweep) -> Path:
    """Return the default folder of a sweep's results; its name contains a digest of the sweep."""
    digest = hashlib.sha256(sweep.model_dump_json().encode()).hexdigest()[:8]
    machine = Path(sweep.machine)
    names_machine = machine.stem != "platform"  # otherwise the folder names the machine
    return Path(
        f"sweep-{machine.stem if names_machine else machine.resolve().parent.name}-{digest}"
    )


def _value(text: str) -> tuple[str, str]:
    path, equal_sign, values = text.partition("=")
    if not (equal_sign and path.strip() and values.strip()):
        raise InputError("set", f"must look like leg.drive.delay=0:0.004:5, got {text!r}")
    return path.strip(), values.strip()


def _print_means(sweep: Sweep, rows: list[dict[str, Any]]) -> None:
    """Print the means over the seeds of all runs that reached their end."""
    from twin.analysis.platform import load
    from twin.sweep.folder import DONE_STATUS

    inputs = ("configuration", "engine", "controller", "payload")
    names = [name for name in inputs if len({row[name] for row in rows}) > 1]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        key = tuple(row[name] for name in (*names, *sweep.parameters))
        groups.setdefault(key, []).append(row)
    machine = load(sweep.machine)
    measures = {
        "position rms [mm]": (1e3, "position_rms"),
        "rotation rms [mrad]": (1e3, "rotation_rms"),
        "position peak [mm]": (1e3, "position_peak"),
        f"force peak [{machine.force_unit}]": (1.0, "force_peak"),
        f"rate peak [{machine.coordinate_unit}/s]": (1.0, "rate_peak"),
    }
    table_rows = []
    for key, members in [*groups.items()][:MAX_ROWS]:
        finished_rows = [row for row in members if row["status"] == DONE_STATUS]
        means = [
            factor * sum(row[name] for row in finished_rows) / len(finished_rows)
            if finished_rows
            else "-"
            for factor, name in measures.values()
        ]
        table_rows.append((*key, len(members), len(finished_rows), *means))
    parameters = (f"{path} [SI]" for path in sweep.parameters)
    title = f"{sweep.machine}, {sweep.motion.name}: means over seeds of finished runs"
    table((*names, *parameters, "runs", "finished", *measures), table_rows, title)
    if len(groups) > MAX_ROWS:
        line(f"and {len(groups) - MAX_ROWS} more rows")
