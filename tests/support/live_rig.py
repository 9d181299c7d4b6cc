"""A machine that runs behind a page, for tests of the page in a browser."""

from typing import TypeVar

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

    def __init__(self, machine):
        """Let the machine run; `close` it."""
        self.session = MachineSession(machine)
        self.server = PageServer(port=0, title=machine)
        self.page = machine_page(self.server.viser, self.session)
        self.url = self.server.url
        self.page.runner.start()

    def close(self):
        """End the run, then the server."""
        self.page.close()
        self.server.close()

    def ask(self, function):
        """Return what a function returns on the run's thread."""
        return self.page.requests.result(function)

    def begin_anew(self):
        """Run as at the beginning, whatever was changed."""

        def begin():
            self.session.configure(**Settings().model_dump())
            self.session.reset()
            self.page.runner.paused = False

        self.ask(begin)

    def pause_when(self, holds):
        """Let the run pause after the first advance with which something holds: none is missed."""
        advance = self.session.advance

        def advance_and_look(duration):
            advance(duration)
            if holds():
                self.page.runner.paused = True
                self.session.advance = advance

        self.session.advance = advance_and_look

    @property
    def clients(self):
        """Browser windows that are connected."""
        return len(self.server.viser.get_clients())

    @property
    def height(self):
        """Of the platform above home [mm]."""
        pose = self.ask(lambda: self.session.scene.pose.copy())
        return float(1e3 * (pose[2] - self.session.platform.home[2]))

    @property
    def lowest(self):
        """Least height of the platform above home since the last reset [mm]."""
        run = self.ask(self.session.trajectory)
        return float(1e3 * (run.pose[:, 2].min() - self.session.platform.home[2]))

    @property
    def time(self):
        """Of the run [s]."""
        return float(self.ask(lambda: self.session.time))

    @property
    def difference(self):
        """Between first and second engine [mm], NaN where there is none."""
        found = self.ask(lambda: self.session.difference)
        return float("nan") if found is None else float(1e3 * np.asarray(found)[0])
