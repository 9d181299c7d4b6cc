"""Controls of a second engine beside the first, and the difference between both."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, get_args

import numpy as np

from twin.basics.arrays import one_of
from twin.page.panels.text import note
from twin.page.requests import Requests
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.settings import ComparisonInput

OFF = "off"

DRAWN = {"as it is": 1.0, "10 times": 10.0, "100 times": 100.0, "1000 times": 1000.0}
"""Factors by which the difference can be drawn."""


class ComparePanel:
    """The second engine is drawn over the first, and the difference is a chart."""

    def __init__(self, gui: Any, requests: Requests, session: MachineSession) -> None:
        """Add the controls where the next ones come."""
        self._session = session
        self._engine = gui.add_dropdown(
            "Second engine",
            (OFF, *session.engines),
            hint="Computes the same machine from now on, drawn over the first.",
        )
        self._input = gui.add_dropdown(
            "Same input",
            get_args(ComparisonInput),
            hint="setpoint: with its own drives and controller. forces: of the first machine.",
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
            hint="Factor by which the drawn difference exceeds the true one.",
        )
        self._text = gui.add_html("")
        self._largest = np.zeros(2)
        self._time = 0.0
        self._shown: Any = None
        self.refresh()
        for choice in (self._engine, self._input, self._defaults):
            # Read at once: a refusal of an earlier choice sets the controls back.
            requests.on(choice.on_update, self._choose, lambda _: self._chosen())

        requests.on(self._drawn.on_update, self._exaggerate, lambda event: event.target.value)

    def refresh(self) -> None:
        """Show the second engine and the difference; called on the run's thread."""
        session = self._session
        if self._shown is not session.settings:
            self._show()
        if session.time < self._time:
            self._largest = np.zeros(2)
        self._time = session.time
        difference = session.difference
        if session.comparison_stopped:
            text = f"The second engine has stopped: {escape(session.comparison_stopped)}"
        elif difference is None:
            text = "Off. Choose an engine to compare the two with the same input."
        else:
            now = 1e6 * np.asarray(difference)
            self._largest = np.maximum(self._largest, now)
            shown = [_three_digits(value) for value in (*now, *self._largest)]
            text = (
                "Difference now: <b>{} \u00b5m</b>, {} \u00b5rad<br>"
                "Largest: {} \u00b5m, {} \u00b5rad"
            ).format(*shown)
        self._text.content = note(text, "difference")

    @property
    def chosen(self) -> dict[str, float]:
        """The factor of the drawn difference, as a control of a `SetUp`."""
        factor = self._session.exaggeration
        return {} if factor == 1.0 else {"drawn": factor}

    def describe(self, controls: Mapping[str, Any]) -> None:
        """Draw the difference as a `SetUp` has it; called on the run's thread.

        Raises:
            InputError: none of the factors that can be chosen.
        """
        names = {f"{factor:g}": name for name, factor in DRAWN.items()}
        self._drawn.value = names[one_of(f"{controls.get('drawn', 1.0):g}", "drawn", names)]
        self._exaggerate(self._drawn.value)

    def _show(self) -> None:
        settings = self._shown = self._session.settings
        self._largest = np.zeros(2)
        self._engine.value = settings.comparison or OFF
        self._input.value = settings.comparison_input
        self._defaults.value = settings.comparison_defaults
        self._input.disabled = settings.comparison is None
        self._defaults.disabled = settings.comparison != "mujoco"

    def _exaggerate(self, chosen: str) -> None:
        self._session.exaggeration = DRAWN[one_of(chosen, "difference drawn", DRAWN)]

    def _chosen(self) -> dict[str, Any]:
        """Return the controls' values as settings."""
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


def _three_digits(value: float) -> str:
    """Return a number of at least zero with three digits and without exponent."""
    if value < 1e-3:
        return "0" if value == 0.0 else "&lt; 0.001"
    return f"{value:.3g}" if value < 100.0 else f"{value:.0f}"
