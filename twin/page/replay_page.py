"""The page of a replayed recording."""

from __future__ import annotations

from html import escape
from math import floor, log10
from time import monotonic
from typing import Any

from twin.page.page import Page, Tab
from twin.page.panels.text import note
from twin.page.requests import Requests
from twin.simulation.live.replay import Replay

HELD = 1.0
"""[s] after a change by a person before the slider follows the recording again."""

FINENESS = 1000
"""Approximate number of the slider's steps."""


class ReplayPanel:
    """Controls of the replay: its time, and whether it loops."""

    def __init__(self, gui: Any, requests: Requests, replay: Replay) -> None:
        """Add the controls where the next ones come."""
        self._replay, self._used = replay, -HELD
        run = replay.trajectory
        span = max(replay.end - replay.start, replay.period)
        decimals = -floor(log10(span / FINENESS))
        # Ends with more digits than steps would give the field numbers that are too long for it.
        start, end = round(replay.start, decimals), round(replay.start + span, decimals)
        self._time = gui.add_slider(
            "Time [s]",
            start,
            end,
            10.0**-decimals,
            start,
            hint="Time of the recording; drag it or type to go there.",
        )
        self._shown = self._time.value
        self._loop = gui.add_checkbox("Loop", False, hint="Begin again at the end.")
        gui.add_html(
            note(
                f"{escape(run.machine)} in {escape(run.engine)} ({escape(run.fidelity)}), "
                f"{len(run)} samples in {span:.4g} s",
                "recording",
            )
        )
        self._text = gui.add_html("")
        requests.on(self._time.on_update, lambda _: self._seek())
        requests.on(self._loop.on_update, lambda _: setattr(replay, "loop", self._loop.value))

    def refresh(self) -> None:
        """Show the time of the recording; called on the run's thread."""
        self._text.content = note(self._replay.message)
        if self._time.value != self._shown:
            # Somebody has just changed it; the request follows.
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
        (Tab("Replay", lambda gui, requests, _: [ReplayPanel(gui, requests, replay)]),),
        label=lambda: f"replay \u00b7 {run.machine} \u00b7 {run.engine}",
    )
