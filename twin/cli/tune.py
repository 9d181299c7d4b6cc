"""The command `tune`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, table
from twin.cli.options import file_option, option
from twin.cli.values import (
    check_files,
    given,
    in_unit,
    quantities,
    quantity_option,
    renamed_fields,
    write,
    write_plot,
)

if TYPE_CHECKING:
    from twin.analysis.platform import Platform
    from twin.analysis.tuning.tuning import Trial, Tuning

LoopName = Literal["velocity", "position"]

GAIN_UNITS = (
    "N s/m (cranks: N m s/rad) and s of the velocity loop, 1/s and 1/s2 of the position loop"
)
"""Units of gain and integral time, or of gain and integral gain."""


def _seconds(bound: str) -> Any:
    text = f"Longest {bound} allowed in s; default: that of the loop's specification."
    return quantity_option(text, "s")


def _gains(text: str) -> Any:
    return option(text, metavar="GAIN,TIME")


Size = Annotated[
    float | None,
    quantity_option(
        "Size of the step: speed of the actuators in m/s or rad/s for the velocity loop, height in "
        "m for the position loop; default: a round number that suits the machine.",
        "m/s",
        "rad/s",
        "m",
    ),
]
Carried = Annotated[
    bool,
    option(
        "Let the velocity loop's integral carry the weight before the step; else the loop takes "
        "up the weight during the step.",
        "--carried",
    ),
]
Loop = Annotated[LoopName, option("Loop of the cascade whose gains are searched for.")]
Overshoot = Annotated[
    float | None,
    option(
        "Largest overshoot allowed, as a fraction of the step; default: that of the loop's "
        "specification."
    ),
]
FirstGains = Annotated[str | None, _gains(f"Gains from which the search starts, in {GAIN_UNITS}.")]

LowestGains = Annotated[
    str | None, _gains("Smallest gains that the search may try; units as for --first-gains.")
]
HighestGains = Annotated[
    str | None, _gains("Largest gains that the search may try; units as for --first-gains.")
]


@app.command()
def tune(
    machine: options.Machine,
    *,
    loop: Loop = "velocity",
    engine: options.Engine = "analytic",
    fidelity: options.Fidelity = "accurate",
    configuration: options.Configuration = None,
    size: Size = None,
    carried: Carried = False,
    rise_time: Annotated[float | None, _seconds("rise time")] = None,
    settling_time: Annotated[float | None, _seconds("settling time")] = None,
    overshoot: Overshoot = None,
    first_gains: FirstGains = None,
    low: LowestGains = None,
    high: HighestGains = None,
    out: Annotated[Path | None, file_option("Write the table of gains as .toml.")] = None,
    report: options.Report = None,
    replace: options.ReplaceFile = False,
) -> None:
    """Find gains whose step response meets a specification; exit code 1 when there are none.

    \f
    Raises:
        InputError: options that cannot be used together, or an invalid value.
    """
    from dataclasses import replace as changed

    from twin.analysis.platform import load
    from twin.analysis.tuning.steps import PositionStudy, VelocityStudy
    from twin.analysis.tuning.tuning import control_snippet, tuning_figure
    from twin.errors import InputError

    check_files(reads=(machine,), report=report)
    check_files(reads=(machine,), replace=replace, out=(out, ".toml"))
    platform = load(machine, configuration)
    units = _units(platform, loop)
    gains = (first_gains, low, high)
    first, lowest, highest = (
        quantities(text, name, *units[1:])
        for name, text in zip(("first_gains", "low", "high"), gains, strict=True)
    )
    in_unit(size, "size", units[0], f"the step of this loop of {platform.name}")
    if carried and loop == "position":
        raise InputError("carried", "is for the velocity loop")
    study_type = VelocityStudy if loop == "velocity" else PositionStudy
    step = given(size=size, carried=carried or None)
    study = study_type(engine=engine, fidelity=fidelity, **step)
    bounds = given(rise_time=rise_time, settling_time=settling_time, overshoot=overshoot)
    title = f"tuning the {loop} loop of {platform.name}"
    with renamed_fields(start="first_gains"), _iterations(title) as watch:
        tuning = study.tune(
            platform,
            specification=changed(study.specification, **bounds),
            watch=watch,
            **given(start=first, low=lowest, high=highest),
        )
    _print(tuning)
    snippet = control_snippet(platform, tuning)
    line(snippet.rstrip())
    write(out, snippet)
    write_plot(report, lambda: tuning_figure(tuning))
    raise typer.Exit(int(not tuning.search.met))


def _units(platform: Platform, loop: str) -> tuple[str, str, str]:
    """Return the SI units of the step, of the gain and of its time or integral."""
    if loop == "position":
        return "m", "1/s", "1/s2"
    if platform.coordinate_unit == "rad":
        return "rad/s", "N m s/rad", "s"
    return "m/s", "N s/m", "s"


@contextmanager
def _iterations(title: str) -> Iterator[Callable[[Trial], None]]:
    """Show the last iteration of a search on a terminal."""
    with Console(stderr=True).status(title) as status:

        def watch(trial: Trial) -> None:
            gains = ", ".join(f"{value:.4g}" for value in trial.parameters)
            status.update(f"{title}: {gains}; violation {100.0 * trial.violation:.3g} %")

        yield watch


def _print(tuning: Tuning) -> None:
    """Print every iteration, and whether the specification is met."""
    from twin.analysis.tuning.tuning import gains_text

    rows = []
    for k, trial in enumerate(tuning.search.trials):
        figures = tuning.figures(trial)
        times = (1e3 * figures.rise_time, 1e3 * figures.settling_time)
        percents = (100.0 * trial.violation, *times, 100.0 * figures.overshoot)
        rows.append((k, gains_text(tuning, trial.parameters), *percents, trial.responses))
    figure_names = ("violation [%]", "rise [ms]", "settling [ms]", "overshoot [%]", "responses")
    title = f"{tuning.machine} on {tuning.engine}: {tuning.loop} loop"
    table(("iteration", "gains", *figure_names), rows, title)
    verdict = "met" if tuning.search.met else "not met"
    line(f"specification {verdict}: {tuning.search.reason}", bold=True)
