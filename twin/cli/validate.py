"""The command `validate`."""

from __future__ import annotations

from typing import Annotated

import typer

from twin.cli import options
from twin.cli.application import app, command_line
from twin.cli.console import line, table
from twin.cli.options import option
from twin.cli.values import check_files


@app.command()
def validate(
    machines: options.Machines = None,
    *,
    report: options.Report = None,
    json: options.Json = None,
    case: Annotated[
        list[str] | None,
        option("Run only this case; may be repeated.", metavar="NAME"),
    ] = None,
    jobs: options.Jobs = None,
) -> None:
    """Compare the engines with the analytic reference; exit code 1 when a case fails."""
    from twin.charts.panels import number
    from twin.machine.machine import machine_names
    from twin.validation.report.page import make_report
    from twin.validation.runner import raised_mass_notes

    check_files(report=report, json=json)
    names = machines or machine_names()
    content = make_report(names, case, report, json, jobs, command_line())
    # MuJoCo and Bullet take very light parts of legs with more mass than the file gives them.
    for note in raised_mass_notes(names):
        line(note)
    keys = ("verdict", "machine", "case", "title")
    rows = ([entry[key] for key in (*keys, "seconds")] for entry in content["cases"])
    table((*keys, "time [s]"), rows)
    for entry in content["cases"]:
        label = f"{entry['machine']}, {entry['case']}"
        if entry["error"]:
            line(f"fail: {label}: {entry['error']}")
        for measure in entry["measures"]:
            if measure["verdict"] == "fail":
                value, tolerance = number(measure["value"], 4), number(measure["tolerance"], 4)
                unit = "" if measure["unit"] == "1" else f" {measure['unit']}"
                bound = f"{measure['bound']} {tolerance}{unit}"
                line(f"fail: {label}: {measure['name']} is {value}, must be {bound}")
        for statement in entry["statements"]:
            if statement["verdict"] == "fail":
                verdicts = f"{statement['agreement']}, on record is {statement['recorded']}"
                line(f"fail: {label}: {statement['source']}: {verdicts}")
    counts = content["counts"]
    passed, failed = (counts["measures"][verdict] for verdict in ("pass", "fail"))
    line(
        f"{content['verdict']}: {counts['cases'] - counts['failed_cases']} of {counts['cases']} "
        f"cases, {passed} of {passed + failed} judged measures, "
        f"{content['seconds']:.1f} s",
        bold=True,
    )
    papers = counts["statements"]
    if any(papers.values()):
        line(
            f"published statements: {papers['reproduced']} reproduced, {papers['differs']} differ, "
            f"{papers['not_given']} not given; {papers['changed']} not as on record"
        )
    for path in (report, json):
        if path is not None:
            line(f"wrote {path}")
    raise typer.Exit(int(content["verdict"] == "fail"))
