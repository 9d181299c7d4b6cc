"""The page of a recording that is played again."""

from __future__ import annotations

from html import escape
from math import floor, log10
from time import monotonic
from typing import Any

from twin.page.orders import Orders
from twin.page.page import Page, Tab
from twin.simulation.live.replay import Replay

HELD = 1.0
"""[s] after a change by a person before the slider follows the recording again."""

FINENESS = 1000
"""Steps of the slider, about."""


class ReplayPanel:
    """Where the recording is, and whether it begins anew at its end."""

    def __init__(self, gui: Any, orders: Orders, replay: Replay) -> None:
        """Add the controls where the next ones come."""
        self._replay, self._used = replay, -HELD
        run = replay.trajectory
        span = max(replay.end - replay.start, replay.period)
        self._time = gui.add_slider(
            "Time [s]",
            replay.start,
            replay.start + span,
            10.0 ** floor(log10(span / FINENESS)),
            replay.start,
            hint="Of the recording; drag it or type to go there.",
        )
        self._shown = self._time.value
        self._loop = gui.add_checkbox("Loop", False, hint="Begin again at the end.")
        gui.add_html(
            '<div class="twin-recording" style="padding: 0.2em 0.75em; font-size: 0.9em">'
            f"{escape(run.machine)} in {escape(run.engine)} ({escape(run.fidelity)}), "
            f"{len(run)} rows in {span:.4g} s</div>"
        )
        self._said = gui.add_html("")
        orders.on(self._time.on_update, lambda _: self._seek())
        orders.on(self._loop.on_update, lambda _: setattr(replay, "loop", self._loop.value))

    def refresh(self) -> None:
        """Show where the recording is; called on the run's thread."""
        self._said.content = (
            f'<div style="padding: 0 0.75em; font-size: 0.9em">{self._replay.message}</div>'
        )
        if self._time.value != self._shown:
            # Somebody has just changed it, and the order to go there is on its way.
            self._shown, self._used = self._time.value, monotonic()
        if monotonic() - self._used >= HELD:
            shown = round(self._replay.time, self._time.precision)
            self._shown = min(max(shown, self._time.min), self._time.max)
            self._time.value = self._shown

    def _seek(self) -> None:
        self._used = monotonic()
        self._shown = self._time.value
        self._replay.seek(self._shown)


def replay_page(server: Any, replay: Replay) -> Page:
    """Return the page of a recording, for viser's `server`."""
    run = replay.trajectory
    return Page(
        server,
        replay,
        (Tab("Replay", lambda gui, orders, _: [ReplayPanel(gui, orders, replay)]),),
        label=lambda: f"replay \u00b7 {run.machine} \u00b7 {run.engine}",
    )
