"""Watch and drive a machine live: in the browser, or in a window."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twin.basics.optional import optional
from twin.commands.console import line
from twin.commands.options import told_as
from twin.errors import InputError
from twin.motion.specification import MotionSpecification
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.source import Source
from twin.simulation.platform import load
from twin.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from twin.page.page import Page


def view(
    machine: str | None,
    *,
    configuration: str | None,
    engine: str | None,
    controller: str | None,
    compare: str | None,
    replay: Path | None,
    environment: str | None,
    policy: str | None,
    host: str,
    port: int | None,
    browser: bool,
    desktop: bool,
    specification: MotionSpecification | None = None,
) -> None:
    """Show what was asked for until Ctrl-C; a motion is played again and again.

    Raises:
        InputError: arguments that cannot be used, or not together.
        MissingDependencyError: a library is missing.
        MachineNotFoundError: no such machine.
        ParameterError: a platform.toml that cannot be used.
        StateError: no free port, or no display for `desktop`.
    """
    live = {
        "configuration": configuration,
        "engine": engine,
        "controller": controller,
        "comparison": compare,
    }
    given = {name: value for name, value in live.items() if value is not None}
    _check(machine, given, replay, environment, policy)
    if specification is not None and (replay is not None or environment is not None):
        raise InputError("motion", "is for a live machine; leave it out, or --replay and --env")
    if not desktop:
        optional("viser")
    source, make = _shown(machine, given, replay, environment, policy)
    try:
        if specification is not None and isinstance(source, MachineSession):
            wanted = specification.motion_of(source.platform)
            if wanted is not None:
                source.play(wanted, loop=True)
        if desktop:
            from twin.commands.desktop import watch

            watch(source)
        else:
            _serve(make, source.platform.name, host, port, browser)
    finally:
        source.close()


def _check(
    machine: str | None,
    given: Mapping[str, str],
    replay: Path | None,
    environment: str | None,
    policy: str | None,
) -> None:
    """Refuse what does not go together."""
    if replay is not None and environment is not None:
        raise InputError("replay", "cannot be shown together with --env; give one of them")
    if replay is not None and not given.keys() <= {"configuration"}:
        raise InputError("replay", "has its engine and controller; leave these options out")
    if environment is not None and not given.keys() <= {"configuration", "engine"}:
        raise InputError("env", "has no controller and no second engine to choose; leave them out")
    if environment is None and policy is not None:
        raise InputError("policy", "is of an environment; give --env ID, too")
    if machine is None and replay is None and environment is None:
        raise InputError("machine", "give a machine, --replay FILE or --env ID")


def _shown(
    machine: str | None,
    given: Mapping[str, str],
    replay: Path | None,
    environment: str | None,
    policy: str | None,
) -> tuple[Source, Callable[[Any], Page]]:
    """Return what shall be shown, and what makes its page."""
    if replay is not None:
        from twin.page.replay_page import replay_page
        from twin.simulation.live.replay import Replay

        configuration = given.get("configuration")
        known = (
            machine if machine is None or configuration is None else load(machine, configuration)
        )
        with told_as(path="replay", trajectory="replay"):
            played = Replay(Trajectory.load(replay), known)
        return played, partial(replay_page, replay=played)
    if environment is not None:
        from twin.page.environment.page import environment_page
        from twin.page.environment.session import EnvironmentSession

        options = {"machine": machine, "configuration": given.get("configuration")}
        options |= {"engine": given.get("engine")}
        chosen: dict[str, Any] = {
            name: value for name, value in options.items() if value is not None
        }
        acted = EnvironmentSession(environment, policy, **chosen)
        return acted, partial(environment_page, session=acted)
    from twin.page.machine_page import machine_page

    assert machine is not None
    with told_as(comparison="compare"):
        live = MachineSession(machine, **given)
    return live, partial(machine_page, session=live)


def _serve(
    make: Callable[[Any], Page], title: str, host: str, port: int | None, browser: bool
) -> None:
    """Serve a page until it is interrupted."""
    from twin.page.server.page_server import PageServer

    with PageServer(host, port, title=title) as server, _interruption() as interrupted:
        page = make(server.viser)
        try:
            page.runner.start()
            line(f"{page.label()}: {server.url}", bold=True)
            if server.warning:
                line(server.warning)
            opened = browser and server.show()
            line(f"{'opened in the browser' if opened else 'open this address'}; Ctrl-C ends it")
            interrupted.wait()
        finally:
            page.close()
    line("ended")


@contextmanager
def _interruption() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C, or a request to terminate, sets."""
    interrupted = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: interrupted.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
