"""The command `cue`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from twin.charts.results import Cell
from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, table
from twin.cli.options import file_option, option
from twin.cli.values import check_files, quantities, write_plot

if TYPE_CHECKING:
    from twin.motion.cueing import Outcome

AlgorithmName = Literal["classical", "adaptive", "predictive"]
SENSED_MOTIONS = ("surge", "sway", "heave", "roll rate", "pitch rate", "yaw rate")


Algorithm = Annotated[AlgorithmName, option("Algorithm that makes the platform's motion.")]
Manoeuvre = Annotated[
    str | None,
    option(
        "Manoeuvre of a built-in vehicle, 12 s: step_steer, double_lane_change, slalom, "
        "braking (default), acceleration or coordinated_turn; files are for --input.",
        metavar="NAME",
    ),
]
Input = Annotated[
    Path | None,
    file_option(
        "Manoeuvre as CSV: time [s],fx [m/s2],fy,fz (specific force at the head, fz = +g at "
        "rest) and optionally wx [rad/s],wy,wz; x forward, y left, z up.",
        "--input",
    ),
]
CompareAll = Annotated[
    bool, option("Show all three algorithms beside each other.", "--compare-all")
]
Head = Annotated[
    str | None,
    option(
        "Driver's head in m from the platform's reference point; default: there, on "
        "driving_simulator 1.1 m above.",
        metavar="X,Y,Z",
    ),
]
Scale = Annotated[float, option("Factor of the manoeuvre's departure from rest.")]


@app.command()
def cue(
    machine: options.Machine,
    *,
    algorithm: Algorithm = "predictive",
    manoeuvre: Manoeuvre = None,
    source: Input = None,
    out: Annotated[Path | None, file_option("Write the platform's motion as CSV.")] = None,
    report: options.Report = None,
    compare_all: CompareAll = False,
    head: Head = None,
    scale: Scale = 1.0,
    configuration: options.Configuration = None,
) -> None:
    """Cue a manoeuvre: the platform's motion that lets a driver perceive it, within the limits.

    \f
    Raises:
        InputError: options that cannot be used together, or an invalid value.
    """
    from twin.analysis.cueing_figure import cueing_figure
    from twin.analysis.platform import load
    from twin.errors import InputError
    from twin.motion import cueing

    check_files(reads=(machine, source), out=(out, ".csv"), report=report)
    if manoeuvre is not None and source is not None:
        raise InputError("input", "takes the place of --manoeuvre: give one of the two")
    if manoeuvre not in (None, *cueing.MANOEUVRES):
        names = ", ".join(cueing.MANOEUVRES)
        raise InputError(
            "manoeuvre", f"must be one of {names}, not {manoeuvre!r}; --input takes a file"
        )
    drive = (
        cueing.read_manoeuvre(source) if source else cueing.make_manoeuvre(manoeuvre or "braking")
    )
    platform = load(machine, configuration)
    algorithms = tuple(cueing.ALGORITHMS) if compare_all else (algorithm,)
    outcomes = cueing.compare(
        platform, drive, algorithms, head=quantities(head, "head", "m"), scale=scale
    )
    rest_error = cueing.standstill_error(drive)
    outcome = outcomes[algorithm]
    line(f"{platform.name}: {drive.name}, {drive.duration:g} s", bold=True)
    rows = [_row(*item) for item in outcomes.items()]
    errors = (rest_error.total, rest_error.total_correlation, rest_error.total_false_cue)
    rows.append(("at rest", *errors, 0, 0, 0, 1, ""))
    titles = (
        *("error [1]", "correlation [1]", "false cues [1]", "length [%]", "speed [%]"),
        *("acceleration [%]", "shrunk to [1]", "step [ms]"),
    )
    table(("algorithm", *titles), rows)
    line("errors and false cues: root mean square over six senses, in thresholds of perception")
    senses = zip(SENSED_MOTIONS, outcome.error.relative, outcome.error.correlation, strict=True)
    table(("sense", "error [1]", "correlation [1]"), senses, algorithm)
    if "predictive" in outcomes:
        _print_speed(outcomes["predictive"])
    if out is not None:
        motion_file = cueing.write_motion(outcome.cue.motion, out)
        reader = f"twin.motion.read_recording(path, {platform.name}'s home)"
        line(f"wrote {motion_file}; read it with {reader}")
    write_plot(report, lambda: cueing_figure(platform, outcomes))


def _row(name: str, one: Outcome) -> tuple[Cell, ...]:
    """Return the row of one algorithm: errors, use of the limits, time per step."""
    error, use = one.error, one.use
    errors = (error.total, error.total_correlation, error.total_false_cue)
    percents = (100.0 * fraction for fraction in (use.length, use.speed, use.acceleration))
    return (name, *errors, *percents, one.cue.shrink, one.step_milliseconds)


def _print_speed(one: Outcome) -> None:
    """Print whether the predictive algorithm keeps up with real time."""
    from twin.motion.cueing.predictive import DEFAULT_PERIOD

    longest_step, period = 1e3 * float(one.cue.step_time.max()), one.cue.motion.period
    verdict = "in real time" if longest_step < 1e3 * period else "not in real time at every step"
    line(
        f"predictive: {one.step_milliseconds:.1f} ms a step, at most {longest_step:.1f} ms, of "
        f"{1e3 * DEFAULT_PERIOD:g} ms: {verdict}"
    )
