"""Controls of machine, engine, configuration, payload, controller and gains.

Controls of the controller's gains, used as soon as they are typed.
"""

from __future__ import annotations

from functools import partial
from math import floor, log10
from typing import Any, get_args

from twin.machine.file.configuration import IDEAL
from twin.model.engine import FIDELITIES
from twin.page.requests import Requests, TypingPause
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.settings import Payload, gain_unit

DIGITS = 6
"""Digits of a gain on the page."""


class GainNumbers:
    """One number per gain; another controller brings its own."""

    def __init__(self, gui: Any, requests: Requests, session: MachineSession) -> None:
        """Add the numbers where the next controls come."""
        self._gui, self._requests, self._session = gui, requests, session
        self._folder = gui.add_folder("Gains")
        self._numbers: dict[str, Any] = {}
        self._values: dict[str, float] = {}
        self._controller = ""
        self._typing = TypingPause(requests, self._apply)

    def refresh(self) -> None:
        """Use typed gains and show those in use; called on the run's thread."""
        gains, controller = self._session.gains, self._session.settings.controller
        if controller != self._controller or set(gains) != set(self._numbers):
            # A number that is being typed was meant for the controller before.
            self._controller = controller
            self._make(gains)
            self._show(gains)
        self._typing.refresh()
        gains = self._session.gains
        if not self._typing.waiting and gains != self._values:
            self._show(gains)

    def _show(self, gains: dict[str, float]) -> None:
        self._values = gains
        for name, value in gains.items():
            self._numbers[name].value = shown(value)

    def _make(self, gains: dict[str, float]) -> None:
        for number in self._numbers.values():
            number.remove()
        with self._folder:
            self._numbers = {
                name: self._gui.add_number(
                    self._label(name),
                    shown(value),
                    step=step(value),
                    hint=f"{name} of the controller; where actuators differ, the mean of all.",
                )
                for name, value in gains.items()
            }
        for number in self._numbers.values():
            number.precision = 2 * DIGITS
            self._typing.watch(number)

    def _label(self, name: str) -> str:
        session = self._session
        unit = gain_unit(session.settings.controller, name, session.platform)
        return f"{name} [{unit}]" if unit else name

    def _apply(self) -> None:
        """Use the numbers that differ from the gains in use."""
        typed = {name: number.value for name, number in self._numbers.items()}
        changed = {
            name: value for name, value in typed.items() if value != shown(self._values[name])
        }
        try:
            self._session.configure(gains={**self._session.settings.gains, **changed})
        finally:
            self._show(self._session.gains)


def shown(value: float) -> float:
    """Return a gain rounded to the digits that are shown."""
    return float(f"{value:.{DIGITS}g}")


def step(value: float) -> float:
    """Return the change of a gain by one click on its arrow: its second digit."""
    return 0.1 if value == 0.0 else 10.0 ** (floor(log10(abs(value))) - 1)


class MachinePanel:
    """Choices take effect at once; one that is refused is taken back."""

    def __init__(self, gui: Any, requests: Requests, session: MachineSession) -> None:
        """Add the controls where the next ones come."""
        self._session = session
        self._machine = gui.add_dropdown(
            "Machine", tuple(session.machines), hint="Another machine begins anew at home."
        )
        self._choices = {
            "engine": gui.add_dropdown(
                "Engine", session.engines, hint="Solver of the motion; the machine goes on."
            ),
            "fidelity": gui.add_dropdown(
                "Fidelity", FIDELITIES, hint="Most accurate, or faster and less accurate."
            ),
            "configuration": gui.add_dropdown(
                "Configuration",
                (IDEAL, *session.configurations),
                hint="Parameters of the machine, such as its drives and sensors; begins anew.",
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
        requests.on(self._machine.on_update, self._exchange, lambda event: event.target.value)
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
        session = self._session
        self._shown = session.settings
        self._machine.value = session.machine
        configurations = self._choices["configuration"]
        if configurations.options != (known := (IDEAL, *session.configurations)):
            configurations.options = known
        configurations.disabled = len(known) == 1
        for name, choice in self._choices.items():
            choice.value = getattr(self._shown, name) or IDEAL

    def _exchange(self, machine: str) -> None:
        try:
            self._session.exchange(machine)
        finally:
            self._show()

    def _choose(self, name: str, chosen: str) -> None:
        try:
            self._session.configure(**{name: None if chosen == IDEAL else chosen})
        finally:
            self._show()
