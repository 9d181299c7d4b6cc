"""The command `excite`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from twin.charts.results import Cell
from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, paragraph, table
from twin.cli.options import file_option, option
from twin.cli.values import check_files, in_unit, quantity_option, settings_from, write

if TYPE_CHECKING:
    from twin.analysis.platform import Platform
    from twin.identification.excitation import Excitation
    from twin.identification.parameters import Parameter

Parameters = Annotated[
    str,
    option(
        f"Parameters to show: {options.GROUPS_HELP}, or paths of platform.toml.",
        "--parameters",
        metavar="GROUP|PATH,...",
    ),
]
Noise = Annotated[
    float | None,
    quantity_option(
        "Noise of the forces below 10 Hz in N or N m; default: 0.5 % of the largest force.",
        "N",
        "N m",
    ),
]
High = Annotated[float, quantity_option("Highest frequency in Hz.", "Hz")]
Out = Annotated[Path | None, file_option("Write the motion as CSV, for --motion.")]


@app.command()
def excite(
    machine: options.Machine,
    *,
    parameters: Parameters = "payload",
    duration: Annotated[float, quantity_option("Duration of the motion in s.", "s")] = 20.0,
    spread: options.Spreads = None,
    noise: Noise = None,
    high: High = 3.0,
    configuration: options.Configuration = None,
    seed: options.Seed = 0,
    out: Out = None,
    replace: options.ReplaceFile = False,
) -> None:
    """Make the motion that shows parameters of a machine best, within all its limits.

    \f
    Raises:
        InputError: parameters that the machine does not have, an invalid value, or a file that
            exists.
    """
    from twin.analysis.platform import load
    from twin.identification.excitation import excite as make
    from twin.identification.excitation import motion_table
    from twin.identification.parameters import select

    check_files(reads=(machine,), replace=replace, out=(out, ".csv"))
    platform = load(machine, configuration)
    selected = select(platform, parameters, settings_from(spread, "spread"))
    force_noise = in_unit(noise, "noise", platform.force_unit, "a force of this machine")
    excitation = make(platform, selected, duration, noise=force_noise, high=high, seed=seed)
    _print_errors(excitation, platform.name)
    for reason in excitation.visibility.sentences:
        paragraph(f"{reason[0].upper()}{reason[1:]}.", "- ")
    if excitation.unpredicted:
        _print_trial(platform, excitation, selected)
    line(excitation.feasibility.summary)
    if out is not None:
        write(out, motion_table(excitation.motion))
        configuration_option = f" --configuration {configuration}" if configuration else ""
        line(f"play it: twin track {machine}{configuration_option} --motion {out}")


def _print_trial(
    platform: Platform, excitation: Excitation, parameters: Sequence[Parameter]
) -> None:
    """Print the errors, in a simulated run, of parameters that forces alone do not show."""
    from twin.errors import InputError
    from twin.identification.excitation import trial
    from twin.identification.linear.model import FORCE_ERROR_PREFIX

    trial_parameters = [
        parameter for parameter in parameters if not parameter.path.startswith(FORCE_ERROR_PREFIX)
    ]
    try:
        trial_result = trial(platform, excitation.motion, trial_parameters)
    except InputError as error:
        names = ", ".join(parameter.label for parameter in excitation.unpredicted)
        paragraph(f"Not predicted: {names} ({error}).")
        return
    errors = zip(trial_result.parameters, trial_result.expected_errors, strict=True)
    rows = [
        _row(parameter, error) for parameter, error in errors if parameter in excitation.unpredicted
    ]
    columns = ("parameter", "unit", "spread", "this motion", "of spread")
    table(columns, rows, "the same from a simulated run, with all parameters unknown")


def _print_errors(excitation: Excitation, name: str) -> None:
    """Print the expected error of every parameter under this motion and a random one."""
    columns = ("parameter", "unit", "spread", "random motion", "this motion", "of spread")
    visibility = excitation.visibility
    errors = (excitation.random.expected_errors, visibility.expected_errors)
    rows = map(_row, visibility.parameters, *errors)
    title = f"{name}: standard errors to expect from {excitation.motion.duration:.4g} s"
    table(columns, rows, title)


def _row(parameter: Parameter, *errors: float) -> tuple[Cell, ...]:
    """Return the row of a parameter with its standard errors, the last also in percent."""
    percent = f"{100.0 * errors[-1] / parameter.prior_std:.3g} %"
    return (parameter.label, parameter.unit, parameter.prior_std, *errors, percent)
