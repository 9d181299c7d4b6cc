"""The page of a machine that is driven live."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import floor, log10
from time import monotonic
from typing import Any

from twin.analysis.feasibility.course import Margin
from twin.machine.file.configuration import IDEAL_CONFIGURATION
from twin.page.page import Page, Tab
from twin.page.panels.machine import MachinePanel, SavePanel
from twin.page.panels.motion import UPLOAD_LIMIT, AxisSliders, MotionPanel
from twin.page.panels.set_up import SetUpPanel
from twin.page.panels.state import FeasibilityPanel, PushPanel, StatePanel, note
from twin.page.panels.view import ComparePanel
from twin.page.requests import Requests
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.runner import Replay

SLIDER_HOLD_TIME = 1.0
"""[s] Time after a change by a person before the slider follows the recording again."""

SLIDER_STEPS = 1000
"""Approximate number of the slider's steps."""


def machine_page(server: Any, session: MachineSession, upload_limit: float = UPLOAD_LIMIT) -> Page:
    """Return the page of a session, for viser's `server`; uploads have at most a limit [MB]."""

    def label() -> str:
        settings = session.settings
        configuration = settings.configuration or IDEAL_CONFIGURATION
        title_parts = [session.platform.name, configuration, settings.engine, settings.controller]
        return " \u00b7 ".join(title_parts if settings.limits else [*title_parts, "without limits"])

    def file_name() -> str:
        return f"{session.platform.name.replace(' ', '_')}.npz"

    def save(gui: Any, requests: Any, page: Page) -> list[Any]:
        set_ups.append(SetUpPanel(gui, requests, session, motions[0], page.saved_controls))
        return [SavePanel(gui, requests, file_name, session.trajectory), set_ups[0]]

    def push(gui: Any, requests: Any, page: Page) -> list[Any]:
        page.saved_controls.append(panel := PushPanel(gui, requests, session, page.view))
        return [panel]

    sliders = []
    motions = []
    set_ups: list[SetUpPanel] = []
    verdicts = []

    def drive(gui: Any, requests: Any, _: Page) -> list[Any]:
        sliders.append(AxisSliders(gui, requests, session))
        motions.append(MotionPanel(gui, requests, session, upload_limit))
        verdicts.append(FeasibilityPanel(gui, session, motions[0]))
        return [sliders[0], motions[0], verdicts[0]]

    def closest() -> Mapping[str, Margin | None]:
        return verdicts[0].closest if verdicts else {}

    def home() -> None:
        session.home()
        sliders[0].release()

    return Page(
        server,
        session,
        (
            Tab("Drive", drive),
            Tab("Push", push),
            Tab("Machine", lambda gui, requests, _: [MachinePanel(gui, requests, session)]),
            Tab("Compare", lambda gui, requests, _: [ComparePanel(gui, requests, session)]),
            Tab("Save", save),
        ),
        label=label,
        warning=lambda: session.message,
        home=home,
        strip=lambda gui: StatePanel(gui, session, closest),
        restore=lambda text: set_ups[0].restore(text),
    )


class ReplayPanel:
    """Controls of the replay: its time, and whether it loops."""

    def __init__(self, gui: Any, requests: Requests, replay: Replay) -> None:
        """Add the controls where the next ones come."""
        self._replay, self._last_used = replay, -SLIDER_HOLD_TIME
        run = replay.trajectory
        # A recording of one instant lasts one sampling period.
        duration = max(replay.end - replay.start, replay.period)
        decimals = -floor(log10(duration / SLIDER_STEPS))
        # Ends with more digits than steps would give the field numbers that are too long for it.
        start, end = round(replay.start, decimals), round(replay.start + duration, decimals)
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
                f"{len(run)} samples in {duration:.4g} s",
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
            self._shown, self._last_used = self._time.value, monotonic()
        if monotonic() - self._last_used >= SLIDER_HOLD_TIME:
            time_shown = round(self._replay.time, self._time.precision)
            self._shown = min(max(time_shown, self._time.min), self._time.max)
            self._time.value = self._shown

    def _seek(self) -> None:
        self._last_used = monotonic()
        self._shown = self._time.value
        self._replay.seek(self._shown)


def replay_page(server: Any, replay: Replay) -> Page:
    """Return the page of a recording, for viser's `server`."""
    trajectory = replay.trajectory
    return Page(
        server,
        replay,
        (Tab("Replay", lambda gui, requests, _: [ReplayPanel(gui, requests, replay)]),),
        label=lambda: f"replay \u00b7 {trajectory.machine} \u00b7 {trajectory.engine}",
    )
