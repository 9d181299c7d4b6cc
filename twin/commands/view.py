"""Watch and drive a machine live: in the browser, or in a window."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from twin.commands.options import told_as
from twin.console import line
from twin.errors import InputError
from twin.session.machine_session import MachineSession


def view(
    machine: str | None,
    *,
    machine_preset: str | None,
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
) -> None:
    """Show what was asked for until Ctrl-C.

    Raises:
        InputError: arguments that cannot be used, or not together.
        MissingDependencyError: a library is missing.
        MachineNotFoundError: no such machine.
        ParameterError: a platform.toml that cannot be used.
        StateError: no free port, or no display for `desktop`.
    """
    live = {
        "machine_preset": machine_preset,
        "engine": engine,
        "controller": controller,
        "comparison": compare,
    }
    given = {name: value for name, value in live.items() if value is not None}
    _check(machine, given, replay, environment, policy)
    with told_as(comparison="compare"):
        source = _source(machine, given, replay, environment, policy)
    try:
        if desktop:
            from twin.commands.desktop import watch

            watch(source)
        else:
            _serve(source, replay, host, port, browser)
    finally:
        source.close()


def _check(
    machine: str | None,
    given: dict[str, str],
    replay: Path | None,
    environment: str | None,
    policy: str | None,
) -> None:
    if replay is not None and environment is not None:
        raise InputError("replay", "cannot be shown together with --env; give one of them")
    if replay is not None and (machine is not None or given):
        raise InputError("replay", "knows its machine, engine and controller; leave them out")
    if environment is not None and not given.keys() <= {"engine", "machine_preset"}:
        raise InputError("env", "has no controller and no second engine; leave them out")
    if environment is None and policy is not None:
        raise InputError("policy", "is of an environment; give --env, too")
    if machine is None and replay is None and environment is None:
        raise InputError("machine", "give a machine, --replay FILE or --env ID")


def _source(
    machine: str | None,
    given: dict[str, str],
    replay: Path | None,
    environment: str | None,
    policy: str | None,
) -> Any:
    """Return what shall be shown."""
    if machine is not None and environment is None:
        return MachineSession(machine, **given)
    raise NotImplementedError


def _serve(source: Any, replay: Path | None, host: str, port: int | None, browser: bool) -> None:
    """Serve the page of a source until it is interrupted."""
    from twin.browser.machine_page import machine_page
    from twin.browser.server import PageServer

    with PageServer(host, port) as server:
        page = machine_page(server.viser, source)
        with _interruption() as interrupted:
            page.runner.start()
            line(f"{page.label()}: {server.url}", bold=True)
            if server.warning:
                line(server.warning)
            opened = browser and server.show()
            line(f"{'opened in the browser' if opened else 'open this address'}; Ctrl-C ends it")
            interrupted.wait()
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
