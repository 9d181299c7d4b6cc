"""Pause, single steps, a new beginning, slow motion: what every page has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twin.page.orders import Orders
from twin.simulation.live.runner import Runner

SLOWEST = 0.01

PAUSE, RUN = "Pause", "Run"


class RunPanel:
    """The controls of the run itself."""

    def __init__(
        self, gui: Any, orders: Orders, runner: Runner, home: Callable[[], object] | None = None
    ) -> None:
        """Add the controls where the next ones come.

        Args:
            gui: viser's.
            orders: to the run.
            runner: of the run.
            home: what brings the machine home; None where nothing does.
        """
        self._runner, self._home = runner, home
        self._again = gui.add_button("Reset and run", color="red", visible=False)
        self._others = ("Step", "Reset") if home is None else ("Step", "Reset", "Home")
        self._buttons = gui.add_button_group(
            "Run",
            (PAUSE, *self._others),
            hint=f"Pause or go on; advance by one step of {1e3 * runner.source.period:g} ms; begin "
            "anew" + ("." if home is None else "; bring the platform home."),
        )
        self._speed = gui.add_slider(
            "Speed",
            SLOWEST,
            1.0,
            0.01,
            1.0,
            hint="Run's time per real time: 1 is real time, 0.1 ten times slower.",
        )
        orders.on(self._buttons.on_click, self._pressed, lambda event: event.target.value)
        orders.on(self._again.on_click, lambda _: self._reset())
        orders.on(self._speed.on_update, lambda _: self._set_speed())

    def refresh(self) -> None:
        """Show how the run is; called on the run's thread."""
        stopped = bool(self._runner.source.stopped)
        options = (RUN if self._runner.paused else PAUSE, *self._others)
        if self._buttons.options != options:
            self._buttons.options = options
        if self._again.visible != stopped:
            self._again.visible = stopped

    def _pressed(self, button: str) -> None:
        if button in (PAUSE, RUN):
            self._runner.paused = button == PAUSE
        elif button == "Step":
            self._runner.single_step()
        elif button == "Reset":
            self._runner.source.reset()
        elif self._home is not None:
            self._home()
        self.refresh()

    def _reset(self) -> None:
        self._runner.source.reset()
        self._runner.paused = False

    def _set_speed(self) -> None:
        # While a number is typed it can lie outside the range.
        self._runner.set_speed(min(max(self._speed.value, SLOWEST), 1.0))
