"""The command `frequency`."""

from __future__ import annotations

from typing import Annotated, Literal

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import show
from twin.cli.options import option
from twin.cli.values import check_files, given, quantity_option, renamed_fields, write_json

AxisName = Literal["x", "y", "z", "roll", "pitch", "yaw"]
MethodName = Literal["chirp", "stepped"]

FIELD_OPTIONS = {"length": "duration", "speed": "peak_speed", "speed, low": "peak_speed, low"}
"""Fields of errors of the measurement, and the options from which they come."""


Axis = Annotated[AxisName | None, option("Move the platform along or about this base axis.")]
Actuator = Annotated[int | None, option("Move this actuator by itself, from 1.", min=1)]
Method = Annotated[MethodName, option("One sweep, or one sine after the other.")]
Timestep = Annotated[
    float | None,
    quantity_option("Step of the engine in s; default: 0.25 ms.", "s"),
]
Low = Annotated[float | None, quantity_option("Lowest frequency in Hz; default: 1.", "Hz")]
High = Annotated[
    float | None,
    quantity_option(
        "Highest frequency in Hz; default: 300, of servos and steppers 0.4 of the rate at "
        "which they take positions.",
        "Hz",
    ),
]
Duration = Annotated[float | None, quantity_option("Duration of the sweep in s; default: 10.", "s")]
PeakSpeed = Annotated[
    float | None,
    quantity_option(
        "Peak speed in m/s or rad/s; default: far within the drives' limits.",
        "m/s",
        "rad/s",
    ),
]


@app.command()
def frequency(
    machine: options.Machine,
    *,
    axis: Axis = None,
    actuator: Actuator = None,
    method: Method = "chirp",
    controller: options.Controller = "cascade",
    engine: options.Engine = "analytic",
    fidelity: options.Fidelity = "accurate",
    timestep: Timestep = None,
    configuration: options.Configuration = None,
    low: Low = None,
    high: High = None,
    duration: Duration = None,
    peak_speed: PeakSpeed = None,
    json: options.Json = None,
    report: options.Report = None,
) -> None:
    """Measure how a controlled machine follows, over frequency, with coherence.

    One of --axis and --actuator; default: --axis z.
    """
    from functools import partial

    from twin.analysis.frequency.measured import measure_response
    from twin.analysis.platform import load
    from twin.cli.tables.analysis import response_content, response_results
    from twin.control import make_controller

    check_files(reads=(machine,), json=json, report=report)
    with renamed_fields(**FIELD_OPTIONS):
        response = measure_response(
            load(machine, configuration),
            controller=partial(make_controller, controller),
            axis="z" if axis is None and actuator is None else axis,
            actuator=actuator,
            method=method,
            engine=engine,
            fidelity=fidelity,
            progress=None,
            **given(timestep=timestep, low=low, high=high, length=duration, speed=peak_speed),
        )
    show(response_results(response), report)
    write_json(json, response_content(response))
