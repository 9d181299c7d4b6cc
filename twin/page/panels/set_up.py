"""The set-up of a machine's page as a link that brings it back, and as a text to copy and paste."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from twin.basics.arrays import one_of
from twin.errors import InputError
from twin.page.page import SavedControls
from twin.page.panels.motion import MotionPanel
from twin.page.panels.state import note
from twin.page.requests import Requests, TypingPause
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.settings import SetUp, Value, as_set_up, set_up_text

FILE_MOTION_NOTE = "The motion from a file is not in the link: send the file along."


class SetUpPanel:
    """Machine, settings, target and controls of the page; what is pasted takes their place."""

    def __init__(
        self,
        gui: Any,
        requests: Requests,
        session: MachineSession,
        motions: MotionPanel,
        saved_controls: Sequence[SavedControls],
    ) -> None:
        """Add the controls where the next ones come.

        Args:
            gui: viser's.
            requests: to the run.
            session: of the machine.
            motions: the described motion.
            saved_controls: other controls that belong to the set-up; may grow until the page is
                open.
        """
        self._session, self._motions, self._saved_controls = session, motions, saved_controls
        self._link = gui.add_html("")
        self.missing = gui.add_html("")
        self._text = gui.add_text(
            "Set-up",
            "",
            hint="All that the link restores; a motion from a file is not part of it. Paste "
            "another one to use it.",
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
        controls: dict[str, Value] = dict(self._motions.chosen)
        for panel in self._saved_controls:
            controls |= panel.chosen
        present_set_up = SetUp(session.machine, session.settings, target, controls)
        text = set_up_text(present_set_up)
        if text != self._shown and not self._typing.waiting:
            self._shown = self._text.value = text
            name = f'data-machine="{escape(session.machine)}" href="#{escape(text)}"'
            link = f'<a class="twin-link" {name}>Copy the link to this set-up</a>'
            self._link.content = note(link, "set-up")
            self.missing.content = "" if "motion" in controls else note(FILE_MOTION_NOTE)

    def restore(self, text: str) -> None:
        """Bring back a set-up; called on the run's thread.

        Raises:
            InputError: a text that is none, or what the machine cannot use.
            TwinError: as `MachineSession.exchange`.
        """
        try:
            set_up, session = as_set_up(text), self._session
            one_of(set_up.machine, "machine", session.machines)
            if set_up.machine != session.machine:
                session.exchange(set_up.machine, **set_up.settings.model_dump())
            else:
                session.configure(**set_up.settings.model_dump())
            names = [axis.name for axis in session.axes]
            for axis in set_up.target:
                if axis not in names:
                    raise InputError(axis, f"is no axis of {set_up.machine}: {', '.join(names)}")
            for panel in (self._motions, *self._saved_controls):
                panel.restore(set_up.controls)
            session.move_to([set_up.target.get(axis, 0.0) for axis in names])
            if set_up.controls.get("playing"):
                self._motions.play()
        finally:
            self._shown = ""
