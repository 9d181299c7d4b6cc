"""Controls of the scene: its layers, colours, trace and viewpoint."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any, get_args

import numpy as np

from twin.basics.arrays import one_of
from twin.page.panels.state import columns, note
from twin.page.requests import Requests, TypingPause
from twin.page.scene.machine_scene import legend
from twin.page.scene.scene_view import LAYERS, SceneView, Viewpoint
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.runner import Source
from twin.simulation.live.settings import ComparisonInput
from twin.viewer.camera import VIEWS

NO_ENGINE = "off"

COLOURING_CHOICES = {"own": "none", "force": "force", "stroke left": "stroke"}
"""Choices of the legs' colours -> colouring."""

DEFAULT_LAYERS = tuple(name for name, layer in LAYERS.items() if layer.shown)
"""Layers that are shown at first."""

COLOURING_SOURCES = {"none": "scene", "force": "utilisation", "stroke": "stroke_margin"}
"""Colouring -> attribute of a source that holds its values."""

UNKNOWN_FORCE_NOTE = note("No largest force of these legs is known: the machine's file has none.")

REFERENCE_POINT = "reference point"


class ComparePanel:
    """The second engine is drawn over the first, and the difference is a chart."""

    def __init__(self, gui: Any, requests: Requests, session: MachineSession) -> None:
        """Add the controls where the next ones come."""
        self._session = session
        self._engine = gui.add_dropdown(
            "Second engine",
            (NO_ENGINE, *session.engines),
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
        self._text = gui.add_html("")
        self.largest = np.zeros(2)
        self._time = 0.0
        self._shown: Any = None
        self.refresh()
        for control in (self._engine, self._input, self._defaults):
            # Read at once: a refusal of an earlier choice sets the controls back.
            requests.on(control.on_update, self._choose, lambda _: self._chosen())

    def refresh(self) -> None:
        """Show the second engine and the difference; called on the run's thread."""
        session = self._session
        if self._shown is not session.settings:
            self._show()
        if session.time < self._time:
            self.largest = np.zeros(2)
        self._time = session.time
        difference = session.difference
        if session.comparison_stopped:
            text = f"The second engine has stopped: {escape(session.comparison_stopped)}"
        elif difference is None:
            text = "Off. Choose an engine to compare the two with the same input."
        else:
            micrometres = 1e6 * np.asarray(difference)
            self.largest = np.maximum(self.largest, micrometres)
            texts_shown = [_three_digits(value) for value in (*micrometres, *self.largest)]
            text = (
                "Difference now: <b>{} \u00b5m</b>, {} \u00b5rad<br>"
                "Largest: {} \u00b5m, {} \u00b5rad"
            ).format(*texts_shown)
        self._text.content = note(text, "difference")

    def _show(self) -> None:
        settings = self._shown = self._session.settings
        self.largest = np.zeros(2)
        self._engine.value = settings.comparison or NO_ENGINE
        self._input.value = settings.comparison_input
        self._defaults.value = settings.comparison_defaults
        self._input.disabled = settings.comparison is None
        self._defaults.disabled = settings.comparison != "mujoco"

    def _chosen(self) -> dict[str, Any]:
        """Return the controls' values as settings."""
        engine = self._engine.value
        return {
            "comparison": None if engine == NO_ENGINE else engine,
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


class ViewPanel:
    """Switches of the scene. They act on every browser; viewpoints act on one.

    Attributes:
        placed: numbers of the clients whose cameras are where a `SetUp` has placed them.
    """

    def __init__(self, gui: Any, requests: Requests, source: Source, view: SceneView) -> None:
        """Add the controls where the next ones come."""
        self._source, self._view, self._dark_chosen = source, view, False
        self._camera: Viewpoint | None = None
        self.placed: set[int] = set()
        self._looks = gui.add_button_group("Look from", tuple(VIEWS))
        self._colours = gui.add_dropdown(
            "Leg colour",
            [
                name
                for name, kind in COLOURING_CHOICES.items()
                if hasattr(source, COLOURING_SOURCES.get(kind, "time"))
            ],
            hint="By force: share of the largest force. By stroke left: share of the stroke to the "
            "nearest limit.",
        )
        self._legend = gui.add_html("")
        self._points = gui.add_dropdown(
            "Trace of", self._names(), hint="Point whose path is drawn while the trace is on."
        )
        gui.add_html(columns("x", "y", "z"))
        self._point = gui.add_vector3(
            "Trace point [mm]",
            (0.0, 0.0, 0.0),
            step=1.0,
            hint="Point whose path is drawn, in millimetres along the platform's axes.",
        )
        self._point.precision = 6
        self._boxes = {
            name: gui.add_checkbox(layer.title, view.shown(name)) for name, layer in LAYERS.items()
        }
        for name, box in self._boxes.items():
            requests.on(box.on_update, partial(self._switch, name))
        self._typing = TypingPause(requests, self._follow)
        self._typing.watch(self._point)
        requests.on(
            self._looks.on_click, self._look, lambda event: (event.target.value, event.client)
        )
        requests.on(self._colours.on_update, lambda _: self._colour())
        requests.on(self._points.on_update, lambda _: self._choose())

    def follow_system(self, scheme: str) -> None:
        """Follow the dark or light setting of a page's system, unless the switch was used."""
        if not self._dark_chosen:
            self._boxes["dark"].value = scheme == "dark"
            self._view.show("dark", scheme == "dark")

    @property
    def chosen(self) -> dict[str, Any]:
        """Layers, colour, trace and camera, as controls of a `SetUp`; without the defaults."""
        layers = tuple(name for name in LAYERS if self._view.shown(name))
        switched = self._dark_chosen or set(layers) - {"dark"} != set(DEFAULT_LAYERS)
        camera = self._view.camera
        choices = {
            "layers": layers if switched else None,
            "colour": None if self._colours.value == "own" else self._colours.value,
            "trace": self._point.value if any(self._point.value) else None,
            "camera": None if camera is None else (*camera.position, *camera.target),
        }
        return {name: value for name, value in choices.items() if value is not None}

    def restore(self, controls: Mapping[str, Any]) -> None:
        """Show the scene as a `SetUp` has it; called on the run's thread.

        Raises:
            InputError: names that are unknown.
        """
        default = (*DEFAULT_LAYERS, "dark") if self._boxes["dark"].value else DEFAULT_LAYERS
        layers = [one_of(name, "layers", LAYERS) for name in controls.get("layers", default)]
        self._colours.value = one_of(controls.get("colour", "own"), "colour", COLOURING_CHOICES)
        self._colour()
        self._dark_chosen |= "layers" in controls
        for name, box in self._boxes.items():
            box.value = name in layers
            self._view.show(name, name in layers)
        self._points.value, self._point.value = (
            REFERENCE_POINT,
            controls.get("trace", (0.0, 0.0, 0.0)),
        )
        self._follow()
        if "camera" in controls:
            self._camera = Viewpoint(*np.reshape(controls["camera"], (2, 3)))

    def draw(self) -> None:
        """Colour the legs by their present loads; called on the run's thread."""
        if self._camera is not None:
            # Another machine has turned the cameras to itself before.
            self.placed |= self._view.place(self._camera)
            self._camera = None
        kind: Any = COLOURING_CHOICES.get(self._colours.value, "none")
        if kind == "none":
            return
        values = getattr(self._source, COLOURING_SOURCES[kind])
        self._view.colour_legs(kind, values)
        self._legend.content = UNKNOWN_FORCE_NOTE if np.isnan(values).all() else legend(kind)

    def refresh(self) -> None:
        """Apply a typed point of the trace; called on the run's thread."""
        self._typing.refresh()
        names = self._names()
        if self._points.options != names:
            self._points.options = names

    def _switch(self, layer: str, event: Any) -> None:
        self._dark_chosen |= layer == "dark"
        self._view.show(layer, event.target.value)

    def _names(self) -> tuple[str, ...]:
        return REFERENCE_POINT, *(
            f"joint {k + 1}" for k in range(self._source.platform.n_actuators)
        )

    def _look(self, chosen: tuple[str, Any]) -> None:
        name, client = chosen
        self._view.look(name, [client])

    def _colour(self) -> None:
        kind = COLOURING_CHOICES[one_of(self._colours.value, "leg colour", COLOURING_CHOICES)]
        if kind == "none":
            self._legend.content = ""
            self._view.colour_legs("none")

    def _choose(self) -> None:
        """Draw the path of a named point."""
        point = [0.0, 0.0, 0.0]
        if one_of(self._points.value, "trace of", self._names()) != REFERENCE_POINT:
            number = int(self._points.value.split()[-1]) - 1
            point = self._source.platform.platform_joints[number].tolist()
        self._point.value = tuple(round(1e3 * coordinate, 6) for coordinate in point)
        self._follow()

    def _follow(self) -> None:
        self._view.trace.follow([1e-3 * coordinate for coordinate in self._point.value])
