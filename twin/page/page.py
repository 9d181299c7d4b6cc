"""The page of a live run: scene, controls and charts around one source.

Controls, scene and charts are side by side; on a narrow page the charts are below the controls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple, Protocol

from twin.page.charts import LiveCharts
from twin.page.panels.machine import RunPanel
from twin.page.panels.state import Status
from twin.page.panels.view import ViewPanel
from twin.page.requests import Requests, on_arrival
from twin.page.scene.scene_view import FIRST_VIEW, SceneView
from twin.page.server.page_server import stack_above
from twin.simulation.live.runner import Runner, Source
from twin.simulation.live.settings import Value

PANEL_WIDTH = 360
"""[pixels] Width of controls and charts; all tabs fit in a row."""

STACKING_ASPECT = 0.45
"""Width over height of the scene below which the charts go below the controls. A limit in pixels
would not work, as the size of a pixel is unknown.
"""

FIT_TIME = 10.0
"""[s] Time after the first resize in which the machine is fitted to the scene."""


def lay_out(server: Any, look: Callable[[Any], object]) -> Any:
    """Place the parts of a page, in each browser by its window; return the charts' tab.

    Narrow pages have the controls above the charts, to the right of the scene. People can move
    everything.

    Args:
        server: viser's.
        look: turns the camera of a client to the machine.
    """
    gui = server.gui
    panel = gui.add_panel()
    charts = panel.add_tab("Charts")
    panel.dock_right()
    panel.set_width(PANEL_WIDTH)
    gui.main_panel.dock_left()
    gui.main_panel.set_width(PANEL_WIDTH)

    def fit(client: Any) -> None:
        aspect, until, stacked, turn_lock = client.camera.aspect, inf, False, Lock()

        def resized(_: Any) -> None:
            nonlocal aspect, until, stacked
            with turn_lock:  # viser calls from several threads; controls that move close their tab
                previous_aspect, aspect = aspect, client.camera.aspect
                stack = aspect < STACKING_ASPECT and not stacked
                stacked |= stack
            if stack:
                stack_above(client, panel)
            if abs(aspect - previous_aspect) > 0.01 * previous_aspect and monotonic() < until:
                until = min(until, monotonic() + FIT_TIME)
                look(client)

        client.camera.on_update(resized)
        resized(client)  # slow browsers lay the page out before they are known here

    server.on_client_connect(fit)
    return charts


FRAMES_PER_UPDATE = 6
"""Frames between two updates of texts and numbers, which come five times a second."""


class Panel(Protocol):
    """Controls that follow the run."""

    def refresh(self) -> None:
        """Show the state of the run; called on the run's thread."""
        ...


class SavedControls(Protocol):
    """Controls that are part of a `SetUp`."""

    @property
    def chosen(self) -> Mapping[str, Value]:
        """Values of the controls by name; default values may be left out."""
        ...

    def restore(self, controls: Mapping[str, Any]) -> None:
        """Apply the values of a `SetUp`, default values where it has none.

        Raises:
            InputError: values that cannot be used.
        """
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
        kept: controls that are part of the set-up of the run.
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
        strip: Callable[[Any], Panel] | None = None,
        restore: Callable[[str], object] | None = None,
    ) -> None:
        """Build the page; `runner.start()` lets it live.

        Args:
            server: viser's.
            source: of the page.
            tabs: of the controls.
            label: returns the name of the run, for the top of the page.
            warning: returns a warning while it runs, empty for none.
            home: brings the machine home; None for a run without it.
            strip: makes a panel between the state of the run and its controls, from viser's gui.
            restore: uses the set-up that a page's address ends in; None where there is none.
        """
        self.server, self.label, self._warning = server, label, warning
        self.runner = Runner(
            source, after_advance=self.show, is_watched=lambda: bool(server.get_clients())
        )
        self.requests = Requests(self.runner.do)
        charts = lay_out(server, self._look)
        self.view = SceneView(server, source.platform, **self._carried())
        self._hash = source.platform.hash
        self._status = Status(server.gui)
        self._panels: list[Panel] = [] if strip is None else [strip(server.gui)]
        run_panel = RunPanel(server.gui, self.requests, self.runner, home)
        self._panels.append(run_panel)
        self.saved_controls: list[SavedControls] = [run_panel]
        tab_group = server.gui.add_tab_group()
        for tab in tabs:
            with tab_group.add_tab(tab.title):
                self._panels += tab.make(server.gui, self.requests, self)
        with tab_group.add_tab("View"):
            self._view_panel = ViewPanel(server.gui, self.requests, source, self.view)
        self._panels.append(self._view_panel)
        self._charts = LiveCharts(server, source.history.charts, charts)
        self.saved_controls += [self._view_panel, self._charts]
        self._frames = 0
        told_settings = {"scheme": self._view_panel.follow_system}
        on_arrival(
            server,
            self.requests,
            told_settings if restore is None else told_settings | {"set-up": restore},
        )

    def show(self) -> None:
        """Send all changes to the browsers; called on the run's thread."""
        source = self.runner.source
        self._draw()
        self._charts.update(source.history)
        if self._frames % FRAMES_PER_UPDATE == 0:
            self._show_status()
            for panel in self._panels:
                panel.refresh()
        self._frames += 1

    def close(self, **options: Any) -> bool:
        """End the run, as `Runner.close` does; the server stays."""
        return self.runner.close(**options)

    def _carried(self) -> dict[str, Any]:
        """Return the ball and the payload on the platform."""
        source = self.runner.source
        return {"ball": source.ball, "payload": getattr(source, "payload", None)}

    def _look(self, client: Any) -> None:
        """Turn the camera of a newly opened page to the machine, unless a link has placed it."""

        def look() -> None:
            if client.client_id not in self._view_panel.placed:
                self.view.look(FIRST_VIEW, [client])

        self.runner.do(look)

    def _draw(self) -> None:
        """Draw the source's present scene; another machine is built from scratch."""
        source = self.runner.source
        if source.platform.hash != self._hash:
            self.view.replace(source.platform, **self._carried())
            self._hash = source.platform.hash
            self.view.look(FIRST_VIEW)
        comparison = getattr(source, "comparison_scene", None)
        self.view.update(source.scene, source.time, comparison)
        self._view_panel.draw()

    def _show_status(self) -> None:
        source, runner = self.runner.source, self.runner
        state = "stopped" if source.stopped else "paused" if runner.paused else "running"
        reason = source.stopped or ("" if self._warning is None else self._warning())
        self._status.show(self.label(), state, source.time, runner.real_time_factor, reason)
