"""A machine that runs behind a page, for tests of the page in a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from twin.page.machine_page import machine_page
from twin.page.server.page_server import PageServer
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.settings import Settings

T = TypeVar("T")


class Live:
    """A session, its page and its server.

    Attributes:
        session: of the machine.
        page: that shows it.
        url: of the page.
    """

    def __init__(self, machine: str) -> None:
        """Let the machine run; `close` it."""
        self.session = MachineSession(machine)
        self.server = PageServer(port=0, title=machine)
        self.page = machine_page(self.server.viser, self.session)
        self.url = self.server.url
        self.page.runner.start()

    def close(self) -> None:
        """End the run, then the server."""
        self.page.close()
        self.server.close()

    def ask(self, function: Callable[[], T]) -> T:
        """Return what a function returns on the run's thread."""
        found: T = self.page.requests.result(function)
        return found

    def begin_anew(self) -> None:
        """Run as at the beginning, whatever was changed."""

        def begin() -> None:
            self.session.configure(**Settings().model_dump())
            self.session.reset()
            self.page.runner.paused = False

        self.ask(begin)

    def pause_when(self, holds: Callable[[], bool]) -> None:
        """Let the run pause after the first advance with which something holds: none is missed."""
        advance = self.session.advance

        def advance_and_look(duration: float) -> None:
            advance(duration)
            if holds():
                self.page.runner.paused = True
                self.session.advance = advance  # type: ignore[method-assign]

        self.session.advance = advance_and_look  # type: ignore[method-assign]

    @property
    def clients(self) -> int:
        """Browser windows that are connected."""
        return len(self.server.viser.get_clients())

    @property
    def height(self) -> float:
        """Of the platform above home [mm]."""
        pose: Any = self.ask(lambda: self.session.scene.pose.copy())
        return float(1e3 * (pose[2] - self.session.platform.home[2]))

    @property
    def lowest(self) -> float:
        """Least height of the platform above home since the last reset [mm]."""
        run = self.ask(self.session.trajectory)
        return float(1e3 * (run.pose[:, 2].min() - self.session.platform.home[2]))

    @property
    def time(self) -> float:
        """Of the run [s]."""
        return float(self.ask(lambda: self.session.time))

    @property
    def difference(self) -> float:
        """Between first and second engine [mm], NaN where there is none."""
        found = self.ask(lambda: self.session.difference)
        return float("nan") if found is None else float(1e3 * np.asarray(found)[0])
