"""The page of a live run: scene, controls and charts around one source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from twin.page.charts import LiveCharts
from twin.page.layout import lay_out
from twin.page.orders import Orders
from twin.page.run_panel import RunPanel
from twin.page.scene_view import SceneView
from twin.page.status import Status
from twin.page.view_panel import ViewPanel
from twin.simulation.live.runner import Runner
from twin.simulation.live.source import Source

EVERY = 6
"""Frames from one look at texts and numbers to the next: five times a second."""

USUAL_VIEW = "overview"
"""From which a page looks at first."""


class Panel(Protocol):
    """Controls that follow the run."""

    def refresh(self) -> None:
        """Show how the run is; called on the run's thread."""
        ...


class Tab(NamedTuple):
    """One tab of the controls."""

    title: str
    make: Callable[[Any, Orders, Page], Sequence[Panel]]
    """makes the tab's panels: viser's gui, orders to the run, the page"""


class Page:
    """Shows a source in every browser that opens the page, and lets people work with it.

    Everything that touches the source happens on the runner's thread: controls only leave orders
    there, and what is shown is sent from there after every advance.

    Attributes:
        server: viser's.
        runner: of the source.
        label: returns what runs.
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
            source: what runs.
            tabs: of the controls.
            label: returns what runs, for the top of the page.
            warning: returns what to heed while it runs, empty for nothing.
            home: what brings the machine home; None where nothing does.
        """
        self.server, self.label, self._warning = server, label, warning
        self.runner = Runner(source, shown=self.show)
        self.orders = Orders(self.runner.do)
        charts = lay_out(server, self._look)
        self.view = SceneView(server, source.platform, **self._riding())
        self._hash = source.platform.hash
        self._status = Status(server.gui)
        self._panels: list[Panel] = [RunPanel(server.gui, self.orders, self.runner, home)]
        group = server.gui.add_tab_group()
        for tab in tabs:
            with group.add_tab(tab.title):
                self._panels += tab.make(server.gui, self.orders, self)
        with group.add_tab("View"):
            self._viewing = ViewPanel(server.gui, self.orders, source, self.view)
        self._panels.append(self._viewing)
        self._charts = LiveCharts(server, source.history.charts, charts)
        self._frames = 0

    def show(self) -> None:
        """Send what has changed since the last time; called on the run's thread."""
        source = self.runner.source
        self._draw()
        self._charts.update(source.history)
        if self._frames % EVERY == 0:
            self._say()
            for panel in self._panels:
                panel.refresh()
        self._frames += 1

    def close(self) -> None:
        """End the run; the server stays."""
        self.runner.close()

    def _riding(self) -> dict[str, Any]:
        """Return what is on the platform."""
        source = self.runner.source
        return {"ball": source.ball, "payload": getattr(source, "payload", None)}

    def _look(self, client: Any) -> None:
        """Turn the camera of a page that is opened to the machine."""
        self.runner.do(lambda: self.view.look(USUAL_VIEW, [client]))

    def _draw(self) -> None:
        """Show the source as it is now; another machine in it is drawn anew."""
        source = self.runner.source
        if source.platform.hash != self._hash:
            self.view.replace(source.platform, **self._riding())
            self._hash = source.platform.hash
        other = getattr(source, "comparison_scene", None)
        self.view.update(source.scene, source.time, other)
        self._viewing.draw()

    def _say(self) -> None:
        source, runner = self.runner.source, self.runner
        state = "stopped" if source.stopped else "paused" if runner.paused else "running"
        said = source.stopped or ("" if self._warning is None else self._warning())
        self._status.show(self.label(), state, source.time, runner.real_time_factor, said)
