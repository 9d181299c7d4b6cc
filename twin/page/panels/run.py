"""Controls of the run on every page: pause, single steps, reset, slow motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twin.page.requests import Requests
from twin.simulation.live.runner import Runner

SLOWEST = 0.01

PAUSE, RUN = "Pause", "Run"


class RunPanel:
    """The controls of the run itself."""

    def __init__(
        self, gui: Any, requests: Requests, runner: Runner, home: Callable[[], object] | None = None
    ) -> None:
        """Add the controls where the next ones come.

        Args:
            gui: viser's.
            requests: to the run.
            runner: of the run.
            home: brings the machine home; None for a run without it.
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
            "Speed [\u00d7]",
            SLOWEST,
            1.0,
            0.01,
            1.0,
            hint="Simulated time per real time: 1 is real time, 0.1 ten times slower.",
        )
        requests.on(self._buttons.on_click, self._pressed, lambda event: event.target.value)
        requests.on(self._again.on_click, lambda _: self._reset())
        requests.on(self._speed.on_update, lambda _: self._set_speed())

    def refresh(self) -> None:
        """Show the state of the run; called on the run's thread."""
        stopped = bool(self._runner.source.stopped)
        options = (RUN if self._runner.paused else PAUSE, *self._others)
        if self._buttons.options != options:
            self._buttons.options = options
        if self._again.visible != stopped:
            self._again.visible = stopped

    @property
    def chosen(self) -> dict[str, float]:
        """The speed, as a control of a `SetUp`."""
        return {} if self._runner.speed == 1.0 else {"speed": self._runner.speed}

    def describe(self, controls: Mapping[str, Any]) -> None:
        """Go on at the speed of a `SetUp`; called on the run's thread."""
        self._speed.value = min(max(controls.get("speed", 1.0), SLOWEST), 1.0)
        self._set_speed()

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
