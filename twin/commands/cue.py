"""Turn a manoeuvre into a motion of the platform, and say how it is perceived."""

from __future__ import annotations

from pathlib import Path

from twin.commands.console import Column, line, table
from twin.commands.numbers import numbers
from twin.commands.options import PAGE, check_files
from twin.errors import InputError
from twin.motion.cueing import (
    ALGORITHMS,
    Outcome,
    compare,
    make_manoeuvre,
    read_manoeuvre,
    standstill_error,
)
from twin.motion.cueing.predictive import PERIOD
from twin.simulation.platform import load

SENSED = ("surge", "sway", "heave", "roll rate", "pitch rate", "yaw rate")


def cue(
    machine: str,
    configuration: str | None,
    algorithm: str,
    manoeuvre_name: str | None,
    source: Path | None,
    out: Path | None,
    plot: Path | None,
    *,
    all_algorithms: bool = False,
    head: str | None = None,
    scale: float = 1.0,
) -> None:
    """Cue a built-in or recorded manoeuvre; print errors and limits, write what was asked for.

    Raises:
        InputError: neither a manoeuvre nor a file, or both.
    """
    check_files(out=(out, ".csv"), plot=(plot, PAGE))
    if (manoeuvre_name is None) == (source is None):
        raise InputError("input", "give either a manoeuvre or a file with a manoeuvre")
    platform = load(machine, configuration)
    if plot is not None:
        from twin.basics.optional import optional

        optional("plotly")
    manoeuvre = make_manoeuvre(manoeuvre_name) if source is None else read_manoeuvre(source)
    names = tuple(ALGORITHMS) if all_algorithms else (algorithm,)
    place = None if head is None else numbers(head, "head")
    outcomes = compare(platform, manoeuvre, names, head=place, scale=scale)
    still = standstill_error(manoeuvre)
    chosen = outcomes[algorithm]
    line(f"{platform.name}: {manoeuvre.name}, {manoeuvre.duration:g} s", bold=True)
    rows = [_row(name, one) for name, one in outcomes.items()]
    rows.append(("none: at rest", f"{still.total:.2f}", f"{still.total_correlation:.2f}"))
    rows[-1] = (*rows[-1], f"{still.total_false_cue:.2f}", "0", "0", "0", "1", "")
    titles = (
        "error",
        "correlation",
        "false cues",
        "length [%]",
        "speed [%]",
        "acceleration [%]",
        "shrunk to",
        "step [ms]",
    )
    table((Column("algorithm"), *(Column(title, True) for title in titles)), rows)
    line("errors and false cues: root mean square over six senses, in thresholds of perception")
    parts = zip(SENSED, chosen.error.relative, chosen.error.correlation, strict=True)
    senses = [(name, f"{error:.2f}", f"{same:.2f}") for name, error, same in parts]
    columns = (Column("sense"), Column("error", True), Column("correlation", True))
    table(columns, senses, algorithm)
    if "predictive" in outcomes:
        _say_speed(outcomes["predictive"])
    _write(platform.name, chosen, out)
    if plot is not None:
        from twin.analysis.cueing_figure import cueing_figure
        from twin.charts.panels import write_figure

        line(f"wrote {write_figure(cueing_figure(platform, outcomes), plot)}")


def _row(name: str, one: Outcome) -> tuple[str, ...]:
    error, use = one.error, one.use
    shares = (f"{100.0 * share:.1f}" for share in (use.length, use.speed, use.acceleration))
    return (
        name,
        f"{error.total:.2f}",
        f"{error.total_correlation:.2f}",
        f"{error.total_false_cue:.2f}",
        *shares,
        f"{one.cue.shrink:.2f}",
        f"{one.step_milliseconds:.2f}",
    )


def _say_speed(one: Outcome) -> None:
    longest, period = 1e3 * float(one.cue.step_time.max()), one.cue.motion.period
    word = "in real time" if longest < 1e3 * period else "not in real time at every step"
    line(
        f"predictive: {one.step_milliseconds:.1f} ms a step, at most {longest:.1f} ms, of "
        f"{1e3 * PERIOD:g} ms: {word}"
    )


def _write(machine: str, one: Outcome, out: Path | None) -> None:
    if out is not None:
        from twin.motion.cueing import write_motion

        written = write_motion(one.cue.motion, out)
        line(f"wrote {written}; read it with twin.motion.read_recording(path, {machine}'s home)")
