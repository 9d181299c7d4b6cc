"""The command `view`."""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from twin.basics.optional import optional
from twin.cli import options
from twin.cli.application import app
from twin.cli.console import interruption, line, paragraph
from twin.cli.motion import given_motion, refuse_motion_options
from twin.cli.options import file_option, option
from twin.cli.values import given, renamed_fields
from twin.errors import InputError

if TYPE_CHECKING:
    from twin.page.page import Page
    from twin.simulation.live.runner import Source


Engine = Annotated[
    options.EngineName | None,
    option("Engine that computes the motion; default: mujoco."),
]
Controller = Annotated[
    options.ControllerName | None, option("Controller of the machine; default: cascade.")
]
Compare = Annotated[options.EngineName | None, option("Second engine beside the first.")]
Environment = Annotated[
    str | None,
    option("Watch an environment, such as twin/PoseTracking-v0.", metavar="ID"),
]
Policy = Annotated[
    str | None,
    option(
        "Policy in the environment: random, zero, a controller, or a trained policy's "
        "name or file; default: zero.",
        metavar="FILE|NAME",
    ),
]
Host = Annotated[
    str,
    option("Address to listen on; others than this computer's need the token."),
]
UploadLimit = Annotated[
    float, option("Largest recording that the page takes.", metavar="MB", min=0.001)
]
Desktop = Annotated[bool, option("Open a window of its own instead of a browser.", "--desktop")]

Dark = Annotated[bool, option("Draw ground and sky of the window of --desktop dark.", "--dark")]


@app.command()
def view(
    context: typer.Context,
    machine: options.OptionalMachine = None,
    *,
    configuration: options.Configuration = None,
    no_limits: options.NoLimits = False,
    engine: Engine = None,
    controller: Controller = None,
    compare: Compare = None,
    motion: options.OptionalMotion = None,
    axis: options.Axis = "z",
    amplitude: options.Amplitude = None,
    frequency: options.Frequency = 1.0,
    duration: options.Duration = None,
    fade: options.Fade = None,
    replay: Annotated[Path | None, file_option("Play a saved trajectory.")] = None,
    environment: Environment = None,
    policy: Policy = None,
    host: Host = "127.0.0.1",
    port: options.Port = None,
    upload_limit: UploadLimit = 20.0,
    no_browser: options.NoBrowser = False,
    desktop: Desktop = False,
    dark: Dark = False,
) -> None:
    """Watch and drive a machine live in the browser, or play a recording; Ctrl-C ends it.

    \f
    Raises:
        InputError: options that cannot be used together, or an invalid value.
    """
    limits = False if no_limits else None
    given_settings = given(engine=engine, controller=controller, comparison=compare, limits=limits)
    _check(context, given_settings)
    if not desktop:
        optional("viser")
    if replay is not None:
        source, make_page = _replay(machine, configuration, replay)
    elif environment is not None:
        source, make_page = _environment(
            environment, policy, machine, configuration, given_settings
        )
    else:
        from twin.motion.specification import MotionSpecification
        from twin.page.machine_page import machine_page
        from twin.simulation.live.machine_session import MachineSession

        assert machine is not None
        with renamed_fields(comparison="compare"):
            source = live = MachineSession(machine, configuration=configuration, **given_settings)
        make_page = partial(machine_page, session=live, upload_limit=upload_limit)
    try:
        if motion is not None:
            specification = MotionSpecification(motion, axis, amplitude, frequency, duration, fade)
            reference, _ = given_motion(live.platform, specification)
            if reference is not None:
                live.play(reference, loop=True)
        if desktop:
            from twin.cli.desktop import watch

            watch(source, dark=dark)
        else:
            serve(make_page, source.platform.name, host, port, browser=not no_browser)
    finally:
        source.close()


def _check(context: typer.Context, options: dict[str, Any]) -> None:
    """Refuse options that cannot be used together; `options` are those of a live machine."""
    exclusive_options = ("machine", "replay", "environment", "policy", "motion")
    machine, replay, environment, policy, motion = (
        context.params[name] for name in exclusive_options
    )
    if replay is not None and environment is not None:
        raise InputError("replay", "cannot be shown together with --environment; give one of them")
    if replay is not None and options:
        raise InputError("replay", "has its engine and controller; leave these options out")
    if environment is not None and not options.keys() <= {"engine", "limits"}:
        raise InputError(
            "environment", "has no controller and no second engine to choose; leave them out"
        )
    if environment is None and policy is not None:
        raise InputError("policy", "is of an environment; give --environment ID, too")
    if machine is None and replay is None and environment is None:
        raise InputError("machine", "give a machine, --replay FILE or --environment ID")
    if motion is None:
        refuse_motion_options(context)
    elif replay is not None or environment is not None:
        raise InputError(
            "motion", "is for a live machine; leave out --motion, or --replay and --environment"
        )
    if context.params["dark"] and not context.params["desktop"]:
        raise InputError("dark", "is for --desktop; the page has a choice of its own")


STOP_TIMEOUT = 1.0
"""[s] Longest wait for the end of a run."""

POLL_INTERVAL = 0.1
"""[s] Interval between two checks for Ctrl-C."""

Shown = tuple["Source", Callable[[Any], "Page"]]
"""Source of states, and the function that makes the page of it."""


def _replay(machine: str | None, configuration: str | None, file: Path) -> Shown:
    """Return a saved run and its page."""
    from twin.analysis.platform import load
    from twin.page.machine_page import replay_page
    from twin.simulation.live.runner import Replay
    from twin.simulation.simulate import Trajectory

    platform = load(machine, configuration) if machine and configuration else machine
    with renamed_fields(path="replay", trajectory="replay"):
        replay = Replay(Trajectory.load(file), platform)
    return replay, partial(replay_page, replay=replay)


def _environment(
    name: str,
    policy: str | None,
    machine: str | None,
    configuration: str | None,
    settings: dict[str, Any],
) -> Shown:
    """Return an environment under a policy and its page."""
    from twin.page.environment import EnvironmentSession, environment_page

    options = given(machine=machine, configuration=configuration) | settings
    session = EnvironmentSession(name, policy, **options)
    if session.changes:
        paragraph(session.changes, bold=True)
    return session, partial(environment_page, session=session)


def serve(
    make_page: Callable[[Any], Page], title: str, host: str, port: int | None, *, browser: bool
) -> None:
    """Serve a page until it is interrupted."""
    from twin.page.server.page_server import PageServer

    with PageServer(host, port, title=title) as server:
        page = make_page(server.viser)
        with interruption() as is_interrupted:
            try:
                page.runner.start()
                line(f"{page.label()}: {server.url}", bold=True)
                if server.warning:
                    line(server.warning)
                is_opened = browser and server.show()
                state = "opened in the browser" if is_opened else "open this address"
                line(f"{state}; Ctrl-C ends it")
                while not is_interrupted():
                    time.sleep(POLL_INTERVAL)
            finally:
                if not page.close(patience=STOP_TIMEOUT):
                    # The run compiles, which nothing stops: the process ends without it.
                    atexit.register(os._exit, 0)
    line("ended")
