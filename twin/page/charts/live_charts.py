"""LiveCharts: the charts of a live run on the page, with controls to choose and scroll them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.page.charts.style import (
    SMALLEST,
    axes,
    legend_text,
    rounded,
    scales,
    series,
    since_last_gap,
    span,
    span_ends,
    thinned,
)
from twin.simulation.live.machine_charts import Chart, History
from twin.simulation.live.runner import KEPT

if TYPE_CHECKING:
    from viser import ViserServer

POINTS = 320
"""Largest number of samples in a chart, which is about as wide in pixels."""

PERIOD = 0.1
"""[s] Shortest time between two updates."""

SHORTEST, USUAL = 5.0, 10.0
"""[s] Time span of the charts: the shortest, and the usual one."""

FIRST = ("position", "forces")
"""Charts that are shown at first, if the run has them."""

COMPARED = "difference"
"""Chart that opens when a run begins to have it."""

HEIGHT = 180
"""[pixels] Height of a chart without its legend."""


class LiveCharts:
    """Charts of a history, one above the other, with their controls.

    Only charts that are shown are sent, at most ten times a second. The controls of the page only
    keep the choice; `update` draws it.

    Attributes:
        charts: all charts of the run.
    """

    def __init__(
        self,
        server: ViserServer,
        charts: Sequence[Chart],
        container: AbstractContextManager[Any],
    ) -> None:
        """Add controls and charts.

        Args:
            server: of the page.
            charts: of the histories to come.
            container: of the page for them: a tab or a folder.
        """
        self._server, self._container = server, container
        self._boxes: dict[str, Any] = {}
        self._plots: dict[str, Any] = {}
        self._legends: dict[str, Any] = {}
        self._styles: dict[str, tuple[bool, ...]] = {}
        self._drawn: tuple[Any, ...] = ()
        self._last = -np.inf
        self._held: float | None = None
        gui = server.gui
        with container:
            self._window = gui.add_slider("Shown [s]", SHORTEST, KEPT, 1.0, USUAL)
            self._back = gui.add_slider("Look back [s]", 0.0, KEPT - SHORTEST, 0.5, 0.0)
            self._hold = gui.add_checkbox(
                "Hold",
                False,
                hint="Stop the charts to read them; drag across one to zoom, double-click to go "
                "back",
            )
            self._chooser = gui.add_folder("Choose charts", expand_by_default=False)
        with self._chooser:
            self._fitted = gui.add_checkbox(
                "Fit to curves", True, hint="Leave out limits that are far away"
            )
        self._compared = False
        self._build(charts, FIRST)

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of the charts that are shown."""
        return tuple(name for name, box in self._boxes.items() if box.value)

    def show(self, names: Iterable[str]) -> None:
        """Show these charts and no others.

        Raises:
            InputError: no chart of that name; lists the known ones.
        """
        chosen = tuple(names)
        for name in chosen:
            if name not in self._boxes:
                raise InputError("charts", f"{name!r} is unknown; known: {', '.join(self._boxes)}")
        for name, box in self._boxes.items():
            box.value = name in chosen

    @property
    def chosen(self) -> dict[str, tuple[str, ...]]:
        """The shown charts, as a control of a `SetUp`; without the usual ones."""
        return {} if set(self.shown) == set(FIRST) else {"charts": self.shown}

    def describe(self, controls: Mapping[str, Any]) -> None:
        """Show the charts of a `SetUp`; called on the run's thread.

        Raises:
            InputError: as `show`.
        """
        self.show(controls.get("charts", FIRST))

    def update(self, history: History) -> bool:
        """Draw the history if it has changed; return whether anything was sent.

        May be called at any rate, also while the run pauses, so that scrolling goes on.

        Args:
            history: of the same charts, or of others, which then replace them.
        """
        if history.charts != self.charts:
            shown = self.shown
            self._clear()
            self._build(history.charts, shown)
        self._open_difference(history)
        chosen = (self._window.value, self._back.value, self._hold.value, self._fitted.value)
        state = (history.count, *chosen, self.shown)
        now = monotonic()
        if state == self._drawn or now - self._last < PERIOD or len(history) == 0:
            return False
        changed = self._drawn[1:] != state[1:]
        self._drawn, self._last = state, now
        time = history.time()
        newest = float(time[-1])
        if not self._hold.value:
            self._held = None
        elif self._held is None or self._held > newest:
            self._held = newest
        elif not changed:
            return False
        end = (newest if self._held is None else self._held) - self._back.value
        end = max(end, min(float(time[0]) + self._window.value, newest))
        for chart in self.charts:
            if self._boxes[chart.name].value:
                self._draw(chart, time, history.values(chart.name), end)
            for handle in (self._plots[chart.name], self._legends[chart.name]):
                handle.visible = self._boxes[chart.name].value
        return True

    def remove(self) -> None:
        """Remove controls and charts from the page; nothing may be called afterwards."""
        self._clear()
        for handle in (self._window, self._back, self._hold, self._chooser):
            handle.remove()

    def _build(self, charts: Sequence[Chart], shown: Sequence[str]) -> None:
        self.charts, self._drawn = tuple(charts), ()
        names = [chart.name for chart in self.charts]
        first = shown if set(shown) <= set(names) else names[:2]
        gui = self._server.gui
        with self._chooser:
            self._boxes = {
                chart.name: gui.add_checkbox(chart.title, chart.name in first)
                for chart in self.charts
            }
        with self._container:
            for chart in self.charts:
                self._plots[chart.name] = self._plot(chart)
                self._legends[chart.name] = self._server.gui.add_html("", visible=False)
        self._styles = dict.fromkeys(names, ())

    def _plot(self, chart: Chart) -> Any:
        curves = 3 + len(chart.series) + len(chart.limits)
        return self._server.gui.add_uplot(
            (np.zeros(0),) * curves,
            series(chart),  # type: ignore[arg-type]
            title=f"{chart.title} [{chart.unit}]" if chart.unit else chart.title,
            scales=scales(chart),
            axes=axes(chart),  # type: ignore[arg-type]
            cursor={"points": {"show": False}},
            height=HEIGHT,
            padding=(8, 14, 0, 0),
            visible=False,
        )

    def _open_difference(self, history: History) -> None:
        """Show the difference to a second engine while there is one; people may close it."""
        if COMPARED in self._boxes and len(history):
            compared = bool(np.isfinite(history.values(COMPARED)[-1]).any())
            if compared != self._compared:
                self._boxes[COMPARED].value = compared
            self._compared = compared

    def _draw(self, chart: Chart, time: FloatArray, values: FloatArray, end: float) -> None:
        time, values = span(time, values, end - self._window.value, end)
        begin = since_last_gap(values)
        time, values = thinned(time[begin:], values[begin:], POINTS)
        there: Any = np.isfinite(values).any(axis=0)
        plot, style = self._plots[chart.name], (self._fitted.value, *there.tolist())
        if self._styles[chart.name] != style:
            plot.series = series(chart, fitted=style[0], there=style[1:])
            self._styles[chart.name] = style
        values = chart.scale * values
        if chart.logarithmic:
            values = np.maximum(values, SMALLEST)
        else:
            values = rounded(values, chart.scale * chart.least)
        limits = [np.full(len(time), chart.scale * limit) for limit in chart.limits]
        ends = [np.full(len(time), end) for end in span_ends(chart, values)]
        plot.data = (np.round(time, 3), *values.T, *limits, *ends)
        last = values[-1] if len(values) else np.full(len(chart.series), np.nan)
        self._legends[chart.name].content = legend_text(chart, last)

    def _clear(self) -> None:
        for handles in (self._plots, self._legends, self._boxes):
            for handle in handles.values():
                handle.remove()
            handles.clear()
