"""Controls of machine, engine, configuration, payload, controller and gains.

A gain of the controller is used as soon as it is typed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import floor, log10
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

from twin.errors import InputError
from twin.logs import log_of, write_log
from twin.machine.file.configuration import IDEAL_CONFIGURATION
from twin.model.engine import FIDELITIES
from twin.page.panels.state import note
from twin.page.requests import Requests, TypingPause
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.runner import Runner
from twin.simulation.live.settings import Payload, gain_unit
from twin.simulation.simulate import Trajectory

MAX_NAME_LENGTH = 100
"""Maximum number of letters of a file name."""

MIN_SPEED = 0.01

GAIN_DIGITS = 6
"""Number of digits of a gain on the page."""


class SavePanel:
    """Downloads a run as a `Trajectory`."""

    def __init__(
        self,
        gui: Any,
        requests: Requests,
        name: Callable[[], str],
        trajectory: Callable[[], Trajectory],
    ) -> None:
        """Add the controls where the next ones come.

        Args:
            gui: viser's.
            requests: to the run.
            name: returns the proposed name of the file.
            trajectory: returns the run; called on the run's thread.
        """
        self._requests, self._trajectory = requests, trajectory
        self._propose, self._proposed = name, name()
        self._name = gui.add_text(
            "File name",
            self._proposed,
            hint="Name of the downloaded file; ends in .npz, or in .mcap for a log.",
        )
        self._button = gui.add_button("Save run", icon="download")
        gui.add_html(
            note(
                "The last minutes since the last reset or change of engine, at every control "
                "period. Play it again with <code>twin view --replay FILE</code>, or read it with "
                "<code>twin.Trajectory.load</code>. Foxglove opens "
                "a name that ends in .mcap."
            )
        )
        self._text = gui.add_html("")
        # The page's own script does what these are named after, in the browser alone.
        gui.add_button("Save picture", icon="camera", color="gray")
        gui.add_button("Record film", icon="video", color="gray")
        requests.on(self._button.on_click, self._hand_over, self._file)

    def refresh(self) -> None:
        """Propose the name of another machine, unless somebody has typed one."""
        previous_proposal, self._proposed = self._proposed, self._propose()
        if self._name.value == previous_proposal != self._proposed:
            self._name.value = self._proposed

    def _file(self, event: Any) -> tuple[Any, str, bytes]:
        """Return the client, the file's name and its content.

        Raises:
            InputError: a name that no file can have.
            MissingDependencyError: an .mcap without the package mcap.
        """
        name = self._name.value.strip()
        if not name or len(name) > MAX_NAME_LENGTH or any(letter in name for letter in '/\\:"\0'):
            raise InputError("file name", "must be a name without folders, such as run.npz")
        ending = ".mcap" if name.endswith(".mcap") else ".npz"
        name = name if name.endswith(ending) else f"{name}{ending}"
        trajectory = self._requests.result(self._trajectory)
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"run{ending}"
            written_path = (
                write_log(log_of(trajectory), path) if ending == ".mcap" else trajectory.save(path)
            )
            content = written_path.read_bytes()
        return event.client, name, content

    def _hand_over(self, run_file: tuple[Any, str, bytes]) -> None:
        client, name, content = run_file
        client.send_file_download(name, content, save_immediately=True)
        self._text.content = note(f"Saved {len(content) / 1e6:.1f} MB.", "record")


PAUSE_LABEL = "Pause"
"""Label of the button that pauses a run."""

RUN_LABEL = "Run"
"""Label of the button that continues a run."""


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
        self._reset_and_run = gui.add_button("Reset and run", color="red", visible=False)
        self._others = ("Step", "Reset") if home is None else ("Step", "Reset", "Home")
        self._buttons = gui.add_button_group(
            "Run",
            (PAUSE_LABEL, *self._others),
            hint=f"Pause or go on; advance by one step of {1e3 * runner.source.period:g} ms; begin "
            "anew" + ("." if home is None else "; bring the platform home."),
        )
        self._speed = gui.add_slider(
            "Speed [\u00d7]",
            MIN_SPEED,
            1.0,
            0.01,
            1.0,
            hint="Simulated time per real time: 1 is real time, 0.1 ten times slower.",
        )
        requests.on(self._buttons.on_click, self._pressed, lambda event: event.target.value)
        requests.on(self._reset_and_run.on_click, lambda _: self._reset())
        requests.on(self._speed.on_update, lambda _: self._set_speed())

    def refresh(self) -> None:
        """Show the state of the run; called on the run's thread."""
        stopped = bool(self._runner.source.stopped)
        options = (RUN_LABEL if self._runner.paused else PAUSE_LABEL, *self._others)
        if self._buttons.options != options:
            self._buttons.options = options
        if self._reset_and_run.visible != stopped:
            self._reset_and_run.visible = stopped

    @property
    def chosen(self) -> dict[str, float]:
        """The speed, as a control of a `SetUp`."""
        return {} if self._runner.speed == 1.0 else {"speed": self._runner.speed}

    def restore(self, controls: Mapping[str, Any]) -> None:
        """Apply the speed of a `SetUp`; called on the run's thread."""
        self._speed.value = min(max(controls.get("speed", 1.0), MIN_SPEED), 1.0)
        self._set_speed()

    def _pressed(self, button: str) -> None:
        if button in (PAUSE_LABEL, RUN_LABEL):
            self._runner.paused = button == PAUSE_LABEL
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
        self._runner.set_speed(min(max(self._speed.value, MIN_SPEED), 1.0))


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
        """Apply typed gains and show those in use; called on the run's thread."""
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
            self._numbers[name].value = rounded_gain(value)

    def _make(self, gains: dict[str, float]) -> None:
        for control in self._numbers.values():
            control.remove()
        with self._folder:
            self._numbers = {
                name: self._gui.add_number(
                    self._label(name),
                    rounded_gain(value),
                    step=step(value),
                    hint=f"{name} of the controller; where actuators differ, the mean of all.",
                )
                for name, value in gains.items()
            }
        for control in self._numbers.values():
            control.precision = 2 * GAIN_DIGITS
            self._typing.watch(control)

    def _label(self, name: str) -> str:
        session = self._session
        unit = gain_unit(session.settings.controller, name, session.platform)
        return f"{name} [{unit}]" if unit else name

    def _apply(self) -> None:
        """Apply the typed numbers that differ from the gains in use."""
        typed_values = {name: control.value for name, control in self._numbers.items()}
        changed_gains = {
            name: value
            for name, value in typed_values.items()
            if value != rounded_gain(self._values[name])
        }
        try:
            self._session.configure(gains={**self._session.settings.gains, **changed_gains})
        finally:
            self._show(self._session.gains)


def rounded_gain(value: float) -> float:
    """Return a gain rounded to the digits that are shown."""
    return float(f"{value:.{GAIN_DIGITS}g}")


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
                (IDEAL_CONFIGURATION, *session.configurations),
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
        for name, dropdown in self._choices.items():
            requests.on(
                dropdown.on_update, partial(self._choose, name), lambda event: event.target.value
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
        if configurations.options != (
            known_options := (IDEAL_CONFIGURATION, *session.configurations)
        ):
            configurations.options = known_options
        configurations.disabled = len(known_options) == 1
        for name, dropdown in self._choices.items():
            dropdown.value = getattr(self._shown, name) or IDEAL_CONFIGURATION

    def _exchange(self, machine: str) -> None:
        try:
            self._session.exchange(machine)
        finally:
            self._show()

    def _choose(self, name: str, chosen: str) -> None:
        try:
            self._session.configure(**{name: None if chosen == IDEAL_CONFIGURATION else chosen})
        finally:
            self._show()
