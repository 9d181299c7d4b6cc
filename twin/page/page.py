"""The page of a live run: scene, controls and charts around one source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from twin.page.charts.live_charts import LiveCharts
from twin.page.layout import lay_out
from twin.page.panels.run import RunPanel
from twin.page.panels.text import Status
from twin.page.panels.view import ViewPanel
from twin.page.requests import Requests
from twin.page.scene.scene_view import SceneView
from twin.simulation.live.runner import Runner, Source

EVERY = 6
"""Frames between two updates of texts and numbers, which come five times a second."""

USUAL_VIEW = "overview"
"""View in which a page opens."""


class Panel(Protocol):
    """Controls that follow the run."""

    def refresh(self) -> None:
        """Show the state of the run; called on the run's thread."""
        ...


class Tab(NamedTuple):
    """A tab of the controls."""

    title: str
    make: Callable[[Any, Requests, Page], Sequence[Panel]]
    """makes the tab's panels: viser's gui, requests to the run, the page"""


class Page:
    """Shows a source in every browser that opens the page, and lets people work with it.

    Everything that touches the source happens on the runner's thread. Controls leave requests
    there, and after every advance the page is updated from there.

    Attributes:
        server: viser's.
        runner: of the source.
        requests: of the people at the page.
        label: returns the name of the run.
        view: the scene.
    """

    def __init__(
        self,
        server: Any,
        source: Source,
        tabs: Sequence[Tab],
        *,
        label: Callable[[], str],
        warning: Callable[[], str] | None = None,
        home: Callable[[], object] | None = None,
    ) -> None:
        """Build the page; `runner.start()` lets it live.

        Args:
            server: viser's.
            source: of the page.
            tabs: of the controls.
            label: returns the name of the run, for the top of the page.
            warning: returns a warning while it runs, empty for none.
            home: brings the machine home; None for a run without it.
        """
        self.server, self.label, self._warning = server, label, warning
        self.runner = Runner(source, shown=self.show)
        self.requests = Requests(self.runner.do)
        charts = lay_out(server, self._look)
        self.view = SceneView(server, source.platform, **self._carried())
        self._hash = source.platform.hash
        self._status = Status(server.gui)
        self._panels: list[Panel] = [RunPanel(server.gui, self.requests, self.runner, home)]
        group = server.gui.add_tab_group()
        for tab in tabs:
            with group.add_tab(tab.title):
                self._panels += tab.make(server.gui, self.requests, self)
        with group.add_tab("View"):
            self._viewing = ViewPanel(server.gui, self.requests, source, self.view)
        self._panels.append(self._viewing)
        self._charts = LiveCharts(server, source.history.charts, charts)
        self._frames = 0

    def show(self) -> None:
        """Send all changes to the browsers; called on the run's thread."""
        source = self.runner.source
        self._draw()
        self._charts.update(source.history)
        if self._frames % EVERY == 0:
            self._show_status()
            for panel in self._panels:
                panel.refresh()
        self._frames += 1

    def close(self) -> None:
        """End the run; the server stays."""
        self.runner.close()

    def _carried(self) -> dict[str, Any]:
        """Return the ball and the payload on the platform."""
        source = self.runner.source
        return {"ball": source.ball, "payload": getattr(source, "payload", None)}

    def _look(self, client: Any) -> None:
        """Turn the camera of a newly opened page to the machine."""
        self.runner.do(lambda: self.view.look(USUAL_VIEW, [client]))

    def _draw(self) -> None:
        """Draw the source's present scene; another machine is built anew."""
        source = self.runner.source
        if source.platform.hash != self._hash:
            self.view.replace(source.platform, **self._carried())
            self._hash = source.platform.hash
        other = getattr(source, "comparison_scene", None)
        self.view.update(source.scene, source.time, other)
        self._viewing.draw()

    def _show_status(self) -> None:
        source, runner = self.runner.source, self.runner
        state = "stopped" if source.stopped else "paused" if runner.paused else "running"
        reason = source.stopped or ("" if self._warning is None else self._warning())
        self._status.show(self.label(), state, source.time, runner.real_time_factor, reason)
