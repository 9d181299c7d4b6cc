"""What runs: engine, configurations, controller and its gains, exchanged while it runs."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

from twin.model.engine import FIDELITIES
from twin.page.gain_numbers import GainNumbers
from twin.page.orders import Orders
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.payloads import Payload

AS_FILED = "none"
"""Choice of no configuration."""


class MachinePanel:
    """Choices take effect at once; one that is refused is told and taken back."""

    def __init__(self, gui: Any, orders: Orders, session: MachineSession) -> None:
        """Add the controls where the next ones come."""
        self._session = session
        configurations = (AS_FILED, *session.configurations)
        self._choices = {
            "engine": gui.add_dropdown(
                "Engine", session.engines, hint="What computes the motion; the machine goes on."
            ),
            "fidelity": gui.add_dropdown(
                "Fidelity", FIDELITIES, hint="Most accurate, or faster and less accurate."
            ),
            "configuration": gui.add_dropdown(
                "Configuration",
                configurations,
                hint="Of the machine's file, such as its drives and sensors; begins anew.",
                disabled=len(configurations) == 1,
            ),
            "payload": gui.add_dropdown(
                "Payload",
                get_args(Payload),
                hint="Who rides on the platform, sitting or in a wheelchair; begins anew.",
            ),
            "controller": gui.add_dropdown(
                "Controller", session.controllers, hint="What drives the machine."
            ),
        }
        self._gains = GainNumbers(gui, orders, session)
        self._shown: Any = None
        self.refresh()
        for name, choice in self._choices.items():
            orders.on(
                choice.on_update, partial(self._choose, name), lambda event: event.target.value
            )

    def refresh(self) -> None:
        """Show what runs; called on the run's thread."""
        if self._shown is not self._session.settings:
            self._show()
        self._gains.refresh()

    def _show(self) -> None:
        self._shown = self._session.settings
        for name, choice in self._choices.items():
            choice.value = getattr(self._shown, name) or AS_FILED

    def _choose(self, name: str, chosen: str) -> None:
        value = chosen if chosen != AS_FILED or name != "configuration" else None
        try:
            self._session.configure(**{name: value})
        finally:
            self._show()


def _value(event: Any) -> str:
    """Return what was chosen, when it was: what is shown later may be something else."""
    value: str = event.target.value
    return value
