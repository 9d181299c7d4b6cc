"""The command `view`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twin.cli.application import Configuration, ControllerName, EngineName, app
from twin.cli.motion import Amplitude, AxisName, Duration, Frequency, MotionName

OptionalMachine = Annotated[
    str | None,
    typer.Argument(
        metavar="[MACHINE]", help="Name of a shipped machine, or path of a platform.toml."
    ),
]

Environment = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Watch an environment, such as twin/PoseTracking-v0."),
]

PolicyName = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|NAME",
        help="Of the environment: random, zero, a controller, or a trained policy's name or "
        "file; default: zero.",
    ),
]


@app.command()
def view(
    machine: OptionalMachine = None,
    configuration: Configuration = None,
    engine: Annotated[
        EngineName | None, typer.Option(help="What computes the motion; default: mujoco.")
    ] = None,
    controller: Annotated[
        ControllerName | None, typer.Option(help="What drives the machine; default: cascade.")
    ] = None,
    compare: Annotated[
        EngineName | None, typer.Option(help="Second engine beside the first.")
    ] = None,
    motion: MotionName = None,
    axis: AxisName = "z",
    amplitude: Amplitude = None,
    frequency: Frequency = 1.0,
    duration: Duration = 4.0,
    replay: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Play a saved trajectory, .npz.")
    ] = None,
    env: Environment = None,
    policy: PolicyName = None,
    host: Annotated[
        str,
        typer.Option(help="Address to listen on; others than this computer's need the token."),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Default: the first free one from 8080; 0: any."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the page's address.")
    ] = False,
    desktop: Annotated[
        bool, typer.Option("--desktop", help="In a window of its own instead of a browser.")
    ] = False,
) -> None:
    """Watch and drive a machine live in the browser, or play a recording; Ctrl-C ends it."""
    from twin.commands import view as commands
    from twin.motion.specification import MotionSpecification

    commands.view(
        machine,
        configuration=configuration,
        engine=None if engine is None else engine.value,
        controller=None if controller is None else controller.value,
        compare=None if compare is None else compare.value,
        replay=replay,
        environment=env,
        policy=policy,
        host=host,
        port=port,
        browser=not no_browser,
        desktop=desktop,
        specification=None
        if motion is None
        else MotionSpecification(motion, axis, amplitude, frequency, duration),
    )
