"""The set-up of a machine's page as a link that brings it back, and as a text to copy and paste."""

from __future__ import annotations

from html import escape
from typing import Any

from twin.basics.arrays import one_of
from twin.errors import InputError
from twin.page.panels.motion import MotionPanel
from twin.page.panels.text import note
from twin.page.requests import Requests, TypingPause
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.set_up import SetUp, as_set_up, written


class SetUpPanel:
    """Machine, settings, target and described motion; what is pasted takes their place."""

    def __init__(
        self, gui: Any, requests: Requests, session: MachineSession, motions: MotionPanel
    ) -> None:
        """Add the controls where the next ones come."""
        self._session, self._motions = session, motions
        self._link = gui.add_html("")
        self._text = gui.add_text(
            "Set-up", "", hint="All that the link restores. Paste another one to use it."
        )
        self._shown = ""
        self._typing = TypingPause(requests, lambda: self.restore(self._text.value))
        self._typing.watch(self._text)
        self.refresh()

    def refresh(self) -> None:
        """Show the present set-up; called on the run's thread."""
        self._typing.refresh()
        session = self._session
        values = (round(float(value), 6) for value in session.target)
        target = dict(zip((axis.name for axis in session.axes), values, strict=True))
        now = SetUp(session.machine, session.settings, target, self._motions.chosen)
        text = written(now)
        if text != self._shown and not self._typing.waiting:
            self._shown = self._text.value = text
            name = f'data-machine="{escape(session.machine)}" href="#{escape(text)}"'
            link = f'<a class="twin-link" {name}>Copy the link to this set-up</a>'
            self._link.content = note(link, "set-up")

    def restore(self, text: str) -> None:
        """Bring back a set-up; called on the run's thread.

        Raises:
            InputError: a text that is none, or what the machine cannot use.
            TwinError: as `MachineSession.exchange`.
        """
        try:
            found, session = as_set_up(text), self._session
            one_of(found.machine, "machine", session.machines)
            if found.machine != session.machine:
                session.exchange(found.machine, **found.settings.model_dump())
            else:
                session.configure(**found.settings.model_dump())
            names = [axis.name for axis in session.axes]
            for axis in found.target:
                if axis not in names:
                    raise InputError(axis, f"is no axis of {found.machine}: {', '.join(names)}")
            self._motions.describe(found.motion)
            session.move_to([found.target.get(axis, 0.0) for axis in names])
            if found.motion.get("playing"):
                self._motions.play()
        finally:
            self._shown = ""
