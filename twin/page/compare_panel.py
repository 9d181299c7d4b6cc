"""A second engine beside the first, and how far apart they are."""

from __future__ import annotations

from html import escape
from typing import Any

from twin.basics.arrays import one_of
from twin.page.orders import Orders
from twin.simulation.live.machine_session import MachineSession

OFF = "off"

INPUTS = ("demand", "forces")

DRAWN = {"as it is": 1.0, "10 times": 10.0, "100 times": 100.0, "1000 times": 1000.0}
"""How the difference can be drawn."""

SAID = "padding: 0.2em 0.75em 0.4em; font-size: 0.9em; font-variant-numeric: tabular-nums"


class ComparePanel:
    """The second engine is drawn over the first, and the difference is a chart."""

    def __init__(self, gui: Any, orders: Orders, session: MachineSession) -> None:
        """Add the controls where the next ones come."""
        self._session = session
        self._engine = gui.add_dropdown(
            "Second engine",
            (OFF, *session.engines),
            hint="Computes the same machine from the same instant on, drawn over the first.",
        )
        self._input = gui.add_dropdown(
            "Same input",
            INPUTS,
            hint="demand: with drives and a controller of its own. forces: of the first machine.",
        )
        self._defaults = gui.add_checkbox(
            "MuJoCo defaults",
            False,
            hint="Give a second MuJoCo its own default constraint settings, which are softer than "
            "a machine's joints.",
        )
        self._drawn = gui.add_dropdown(
            "Difference drawn",
            tuple(DRAWN),
            hint="How many times the true difference the second machine is drawn away.",
        )
        self._said = gui.add_html("")
        self._largest = (0.0, 0.0)
        self._time = 0.0
        self._shown: Any = None
        self.refresh()
        for choice in (self._engine, self._input, self._defaults):
            # Taken when it is made: a refusal of an earlier choice sets the controls back.
            orders.on(choice.on_update, self._choose, lambda _: self._chosen())

        orders.on(self._drawn.on_update, self._exaggerate, lambda event: event.target.value)

    def refresh(self) -> None:
        """Show what runs beside, and the difference; called on the run's thread."""
        session = self._session
        if self._shown is not session.settings:
            self._show()
        if session.time < self._time:
            self._largest = (0.0, 0.0)
        self._time = session.time
        difference = session.difference
        if session.comparison_stopped:
            text = f"The second engine has stopped: {escape(session.comparison_stopped)}"
        elif difference is None:
            text = "Off. Choose an engine to see what it makes of the same input."
        else:
            now = 1e6 * difference
            self._largest = (max(self._largest[0], now[0]), max(self._largest[1], now[1]))
            text = (
                f"Difference now: <b>{_short(now[0])} \u00b5m</b>, {_short(now[1])} \u00b5rad<br>"
                f"Largest: {_short(self._largest[0])} \u00b5m, {_short(self._largest[1])} \u00b5rad"
            )
        self._said.content = f'<div class="twin-difference" style="{SAID}">{text}</div>'

    def _show(self) -> None:
        settings = self._shown = self._session.settings
        self._largest = (0.0, 0.0)
        self._engine.value = settings.comparison or OFF
        self._input.value = settings.comparison_input
        self._defaults.value = settings.comparison_defaults
        self._input.disabled = settings.comparison is None
        self._defaults.disabled = settings.comparison != "mujoco"

    def _exaggerate(self, chosen: str) -> None:
        self._session.exaggeration = DRAWN[one_of(chosen, "difference drawn", DRAWN)]

    def _chosen(self) -> dict[str, Any]:
        """Return what the controls say, as settings."""
        engine = self._engine.value
        return {
            "comparison": None if engine == OFF else engine,
            "comparison_input": self._input.value,
            "comparison_defaults": self._defaults.value,
        }

    def _choose(self, chosen: dict[str, Any]) -> None:
        try:
            self._session.configure(**chosen)
        finally:
            self._show()


def _short(value: float) -> str:
    """Return a number of at least zero with three digits, without exponents."""
    if value < 1e-3:
        return "0" if value == 0.0 else "&lt; 0.001"
    return f"{value:.3g}" if value < 100.0 else f"{value:.0f}"
