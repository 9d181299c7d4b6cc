"""Controls of pushes: a force at a point of the platform and a moment, for some time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.page.panels.text import columns, note
from twin.page.requests import Requests
from twin.page.scene.scene_view import SceneView
from twin.page.scene.touch import touched
from twin.simulation.live.machine_run import LONGEST
from twin.simulation.live.machine_session import MachineSession

TEXT = "A push acts at once, or when the run goes on. A click on the platform pushes it there."

STRENGTH = 2.0
"""[m/s2] Adopted: acceleration of the free platform under the proposed force."""

BRIEF = 0.2
"""[s] Adopted: proposed duration."""


class PushPanel:
    """A push is a disturbance wrench that the controller does not know."""

    def __init__(
        self, gui: Any, requests: Requests, session: MachineSession, view: SceneView
    ) -> None:
        """Add the controls where the next ones come."""
        self._session, self._view = session, view
        gui.add_html(columns("x", "y", "z"))
        axes = "x, y and z in base axes, held while it acts."
        self._force, self._moment, self._point = (
            gui.add_vector3(label, (0.0, 0.0, 0.0), step=1.0, hint=hint)
            for label, hint in (
                ("Force [N]", f"In newtons along {axes}"),
                ("Moment [N m]", f"In newton metres about {axes}"),
                (
                    "Point [mm]",
                    "Point at which the force acts, in millimetres from the platform's reference "
                    "point along the platform's axes.",
                ),
            )
        )
        self._duration = gui.add_number(
            "For [s]", BRIEF, min=0.001, max=LONGEST, step=0.1, hint="Duration of the push."
        )
        self._button = gui.add_button("Push", icon="arrow-big-right")
        self._text = gui.add_html("")
        for handle in (self._force, self._moment, self._point, self._duration):
            handle.precision = 6
        self._controls = {
            "force": self._force,
            "moment": self._moment,
            "point": self._point,
            "push_duration": self._duration,
        }
        self._propose()
        requests.on(self._button.on_click, lambda _: self._push())
        requests.on(view.on_click, self._strike)

    def refresh(self) -> None:
        """Show whether a push acts; called on the run's thread."""
        if self._session.platform is not self._platform:
            self._propose()
        acting = self._session.disturbance is not None
        text = "acting" if acting else TEXT
        self._text.content = note(text, "push")

    def _propose(self) -> None:
        """Propose a force that suits the machine."""
        self._platform = self._session.platform
        self._force.value = (usual_force(self._session), 0.0, 0.0)
        self._moment.value = self._point.value = (0.0, 0.0, 0.0)
        self._duration.value = BRIEF
        self._proposed = self._values()

    def _values(self) -> dict[str, Any]:
        return {name: control.value for name, control in self._controls.items()}

    @property
    def chosen(self) -> dict[str, Any]:
        """The push that is set, as controls of a `SetUp`; what is proposed is left out."""
        usual = self._proposed
        return {name: value for name, value in self._values().items() if value != usual[name]}

    def describe(self, controls: Mapping[str, Any]) -> None:
        """Set the push of a `SetUp`; called on the run's thread."""
        self._propose()
        for name, control in self._controls.items():
            control.value = controls.get(name, self._proposed[name])

    def _strike(self, event: Any) -> None:
        """Push where somebody clicks on the platform, away from the camera, as hard as set."""
        point = touched(self._view.machine, event.ray_origin, event.ray_direction)
        if point is None:
            return
        size = float(np.linalg.norm(self._force.value)) or usual_force(self._session)
        along = np.asarray(event.ray_direction) / np.linalg.norm(event.ray_direction)
        self._force.value = _three_digits(size * along)
        self._moment.value = (0.0, 0.0, 0.0)
        self._point.value = _three_digits(1e3 * point)
        self._push()

    def _push(self) -> None:
        point = 1e-3 * np.array(self._point.value)
        force, moment, duration = self._force.value, self._moment.value, self._duration.value
        self._session.disturb(force, moment, point, duration)
        self._view.push.begin(force, moment, point, time=self._session.time, duration=duration)


def _three_digits(vector: FloatArray) -> tuple[float, ...]:
    """Return a vector `(3,)` with three digits of its largest part."""
    step = 10.0 ** (np.floor(np.log10(np.abs(vector).max())) - 2.0)
    return tuple(np.round(np.round(vector / step) * step, 9).tolist())


def usual_force(session: MachineSession) -> float:
    """Return a force [N] of one digit that moves the machine visibly."""
    force = STRENGTH * float(session.platform.mass_matrix(session.platform.home)[0, 0])
    digit = 10.0 ** np.floor(np.log10(force))
    return float(round(np.round(force / digit) * digit, 9))
