"""Tune a machine's loops by optimisation."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Any

from twin.analysis.tuning.figures import gains_text, tuning_figure
from twin.analysis.tuning.position import PositionStudy
from twin.analysis.tuning.search import Trial
from twin.analysis.tuning.snippet import control_snippet
from twin.analysis.tuning.specification import StepSpecification
from twin.analysis.tuning.study import StepStudy
from twin.analysis.tuning.tuning import Tuning
from twin.analysis.tuning.velocity import VelocityStudy
from twin.basics.files import write_text
from twin.charts.text import number
from twin.commands.console import Column, line, table
from twin.commands.options import PAGE, check_files
from twin.errors import InputError
from twin.simulation.platform import load

SEARCH = ("start", "low", "high", "margin")
"""Options of the search; the others are of the step."""


def tune(
    machine: str,
    configuration: str | None,
    loop: str,
    engine: str,
    specification: dict[str, float | None],
    out: Path | None,
    plot: Path | None,
    **options: Any,
) -> bool:
    """Tune a loop, print every iteration and the gains; returns whether the specification is met.

    Args:
        machine: name or path.
        configuration: of its file.
        loop: "velocity" or "position".
        engine: name.
        specification: fields of `StepSpecification`; None keeps the default of the loop.
        out: TOML file for the [control] table.
        plot: HTML file for the responses.
        options: of the study and of `StepStudy.tune`; None keeps their default.

    Raises:
        InputError: an argument that cannot be used.
    """
    check_files(out=(out, ".toml"), plot=(plot, PAGE))
    if plot is not None:
        from twin.basics.optional import optional

        optional("plotly")
    platform = load(machine, configuration)
    given = {name: value for name, value in options.items() if value is not None}
    search = {name: given.pop(name) for name in SEARCH if name in given}
    if loop == "position" and given.pop("carried", False):
        raise InputError("carried", "is for the velocity loop")
    kind: type[StepStudy] = VelocityStudy if loop == "velocity" else PositionStudy
    study = kind(engine=engine, **given)
    rule = _specification(study.specification, specification)
    with _Display(platform.name, loop) as display:
        tuning = study.tune(platform, specification=rule, watch=display.show, **search)
    _print(tuning)
    snippet = control_snippet(platform, tuning)
    line(snippet.rstrip())
    if out is not None:
        line(f"wrote {write_text(out, snippet)}")
    if plot is not None:
        from twin.charts.panels import write_figure

        line(f"wrote {write_figure(tuning_figure(tuning), plot)}")
    return tuning.search.met


def _specification(default: StepSpecification, given: dict[str, float | None]) -> StepSpecification:
    from dataclasses import replace

    return replace(default, **{name: value for name, value in given.items() if value is not None})


def _print(tuning: Tuning) -> None:
    rows = []
    for k, trial in enumerate(tuning.search.trials):
        figures = tuning.figures(trial)
        rows.append(
            (
                str(k),
                gains_text(tuning, trial.parameters),
                number(100.0 * trial.violation, 3),
                _milliseconds(figures.rise_time),
                _milliseconds(figures.settling_time),
                number(100.0 * figures.overshoot, 3),
                str(trial.responses),
            )
        )
    names = ("violation [%]", "rise [ms]", "settling [ms]", "overshoot [%]", "responses")
    table(
        (Column("iteration", True), Column("gains"), *(Column(name, True) for name in names)),
        rows,
        f"{tuning.machine} on {tuning.engine}: {tuning.loop} loop",
    )
    verdict = "specification met" if tuning.search.met else "specification not met"
    line(f"{verdict}: {tuning.search.reason}", bold=True)


def _milliseconds(seconds: float) -> str:
    """Return a time as a text; a dash where the response never gets there."""
    return number(1e3 * seconds, 4) if isfinite(seconds) else "-"


class _Display:
    """A line on the terminal with the last iteration while the search runs."""

    def __init__(self, machine: str, loop: str) -> None:
        self._title = f"tuning the {loop} loop of {machine}"
        self._count = 0
        self._status: Any = None

    def __enter__(self) -> _Display:
        from rich.console import Console

        console = Console(stderr=True)
        if console.is_terminal:
            self._status = console.status(self._title)
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, trial: Trial) -> None:
        """Tell about an iteration."""
        gains = ", ".join(f"{value:.4g}" for value in trial.parameters)
        text = f"iteration {self._count}: {gains}; violation {100.0 * trial.violation:.3g} %"
        self._count += 1
        if self._status is not None:
            self._status.update(f"{self._title}, {text}")
