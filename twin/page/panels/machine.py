"""Controls of engine, configuration, payload, controller and gains, exchanged while it runs."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

from twin.machine.file.configuration import IDEAL
from twin.model.engine import FIDELITIES
from twin.page.panels.gains import GainNumbers
from twin.page.requests import Requests
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.settings import Payload


class MachinePanel:
    """Choices take effect at once; one that is refused is taken back."""

    def __init__(self, gui: Any, requests: Requests, session: MachineSession) -> None:
        """Add the controls where the next ones come."""
        self._session = session
        configurations = (IDEAL, *session.configurations)
        self._choices = {
            "engine": gui.add_dropdown(
                "Engine", session.engines, hint="Solver of the motion; the machine goes on."
            ),
            "fidelity": gui.add_dropdown(
                "Fidelity", FIDELITIES, hint="Most accurate, or faster and less accurate."
            ),
            "configuration": gui.add_dropdown(
                "Configuration",
                configurations,
                hint="Parameters of the machine, such as its drives and sensors; begins anew.",
                disabled=len(configurations) == 1,
            ),
            "payload": gui.add_dropdown(
                "Payload",
                get_args(Payload),
                hint="A person on the platform, seated or in a wheelchair; begins anew.",
            ),
            "controller": gui.add_dropdown(
                "Controller", session.controllers, hint="Control law of the machine."
            ),
        }
        self._gains = GainNumbers(gui, requests, session)
        self._shown: Any = None
        self.refresh()
        for name, choice in self._choices.items():
            requests.on(
                choice.on_update, partial(self._choose, name), lambda event: event.target.value
            )

    def refresh(self) -> None:
        """Show the present settings; called on the run's thread."""
        if self._shown is not self._session.settings:
            self._show()
        self._gains.refresh()

    def _show(self) -> None:
        self._shown = self._session.settings
        for name, choice in self._choices.items():
            choice.value = getattr(self._shown, name) or IDEAL

    def _choose(self, name: str, chosen: str) -> None:
        try:
            self._session.configure(**{name: None if chosen == IDEAL else chosen})
        finally:
            self._show()
