"""The command `payload`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import progress_bar
from twin.cli.options import option
from twin.cli.quantities import in_unit, quantity_option
from twin.cli.values import PAGE_ENDING, check_files, renamed_fields, write_json, write_plot

if TYPE_CHECKING:
    from twin.analysis.payload.dynamic import DynamicPayload, WorstPhase
    from twin.analysis.platform import Platform

SenseName = Literal["magnitude", "signed"]

PLOT_FREQUENCIES = (2.0, 70.0, 24)
"""Lowest and highest frequency [Hz] of the plot under shaking, and the number of frequencies."""


Dynamic = Annotated[bool, option("Also search under shaking, 2 to 70 Hz.", "--dynamic")]
Limit = Annotated[
    float | None,
    quantity_option(
        "Largest force in N or torque in N m; default: the machine's own.", "limit", "N", "N m"
    ),
]
Start = Annotated[
    float | None, quantity_option("First total mass in kg; default: the step.", "start", "kg")
]
Step = Annotated[
    float | None,
    quantity_option(
        "Mass added each time in kg; default: about a thirtieth of what the machine holds at home.",
        "step",
        "kg",
    ),
]
Sense = Annotated[SenseName, option("Limit pushing and pulling forces, or pushing alone.")]
Unchecked = Annotated[
    bool,
    option("Shake even beyond the actuators' ends and speeds.", "--unchecked"),
]


@app.command()
def payload(
    machine: options.Machine,
    *,
    json: options.Json = None,
    plot: options.Plot = None,
    dynamic: Dynamic = False,
    limit: Limit = None,
    grid: Annotated[int, option("Positions per actuator.", min=2)] = 4,
    start: Start = None,
    step: Step = None,
    sense: Sense = "magnitude",
    unchecked: Unchecked = False,
    configuration: options.Configuration = None,
) -> None:
    """Find the largest payload that a machine holds at rest, and under shaking.

    Masses are total, of the platform with what it carries; the table gives what may be added, too.
    The plot shows the largest force over the mass; with --dynamic, the mass over frequency.
    """
    from twin.analysis.payload.dynamic import payload_record
    from twin.analysis.payload.static import static_payload
    from twin.analysis.platform import load
    from twin.cli.tables.payload import print_dynamic, print_static

    check_files(reads=(machine,), json=(json, ""), plot=(plot, PAGE_ENDING))
    platform = load(machine, configuration)
    in_unit(limit, "limit", platform.force_unit, f"the limit of {platform.name}")
    limits: dict[str, Any] = {"limit": limit, "sense": sense}
    search_options: dict[str, Any] = limits | {"start": start, "step": step}
    with renamed_fields(shares="grid"):
        static_result = static_payload(platform, grid=grid, **search_options)
    print_static(platform, static_result)
    shaken = None
    if dynamic:
        shaken = _shaken(platform, checked=not unchecked, **search_options)
        print_dynamic(platform, *shaken)
    write_json(json, payload_record(platform, static_result, shaken))

    def figure() -> Any:
        import numpy as np

        from twin.analysis.payload.dynamic import frequency_sweep, static_figure, sweep_figure

        if shaken is None:
            return static_figure(platform, static_result)
        frequencies = np.geomspace(*PLOT_FREQUENCIES)
        frequency_limits = frequency_sweep(platform, shaken[0], shaken[2], frequencies, **limits)
        return sweep_figure(platform, frequency_limits)

    write_plot(plot, figure)


def _shaken(
    platform: Platform, **options: Any
) -> tuple[DynamicPayload, DynamicPayload | None, WorstPhase]:
    """Return the payloads under shaking: in phase, rotations backwards, worst phases.

    Rotations run backwards in the thesis of one machine; for others there is no such search.
    """
    from twin.analysis.payload.dynamic import dynamic_payload, worst_phase
    from twin.analysis.payload.static import THESIS_CRITERION, THESIS_MACHINE

    with progress_bar("payload", 3) as show:
        show("in phase")
        forwards = dynamic_payload(platform, **options)
        show("rotations backwards")
        backwards = None
        if platform.name == THESIS_MACHINE:
            backwards = dynamic_payload(platform, THESIS_CRITERION.backwards(), **options)
        show("worst phases")
        return forwards, backwards, worst_phase(platform, **options)
