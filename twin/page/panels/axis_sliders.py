"""Sliders of a platform's axes; they follow the machine unless somebody moves them."""

from __future__ import annotations

from time import monotonic
from typing import Any

from twin.page.requests import Requests
from twin.simulation.live.machine_session import MachineSession

HELD = 1.0
"""[s] after a change by a person before the sliders follow the machine again."""

TYPED = 2
"""Digits that can be typed beyond those that are dragged."""

ALONG = {
    "x": "along the base's x axis",
    "y": "along the base's y axis",
    "z": "upwards",
    "yaw": "about the base's z axis",
    "pitch": "about the y axis",
    "roll": "about the x axis",
}


class AxisSliders:
    """One slider per axis: millimetres and degrees from home, dragged or typed."""

    def __init__(self, gui: Any, requests: Requests, session: MachineSession) -> None:
        """Add the sliders where the next controls come."""
        self._gui, self._requests, self._session = gui, requests, session
        self._folder = gui.add_folder(None)
        self._used = -HELD
        self._axes = session.axes
        self._shown: list[float] = []
        self._sliders = self._add()

    def refresh(self) -> None:
        """Show the setpoint of the platform; called on the run's thread."""
        if self._session.axes != self._axes:
            self._axes = self._session.axes
            for slider in self._sliders:
                slider.remove()
            self._sliders = self._add()
        if monotonic() - self._used < HELD:
            return
        playing = self._session.playing
        values = self._session.setpoint if playing else self._session.target
        present = [slider.value for slider in self._sliders]
        if present != self._shown:
            # Somebody has just changed one; the request follows.
            self._shown, self._used = present, monotonic()
            return
        for slider, value in zip(self._sliders, values, strict=True):
            step = slider.step if playing else 0.1**slider.precision
            # The sum has no negative zero.
            shown = round(round(float(value) / step) * step, slider.precision) + 0.0
            slider.value = min(max(shown, slider.min), slider.max)
        self._shown = [slider.value for slider in self._sliders]

    def release(self) -> None:
        """Let the sliders follow the machine at once."""
        self._used = -HELD
        self.refresh()

    def _add(self) -> list[Any]:
        with self._folder:
            sliders = [
                self._gui.add_slider(
                    f"{axis.name} [{axis.unit}]",
                    axis.low,
                    axis.high,
                    _step(axis.high - axis.low),
                    min(max(0.0, axis.low), axis.high),
                    hint=f"From home, {ALONG[axis.name]}; the range is that with all other axes at "
                    "home. The platform stops before the end of an actuator.",
                )
                for axis in self._axes
            ]
        for slider in sliders:
            slider.precision += TYPED
            self._requests.on(slider.on_update, lambda _: self._move())
        self._shown = [slider.value for slider in sliders]
        return sliders

    def _move(self) -> None:
        self._used = monotonic()
        self._shown = [slider.value for slider in self._sliders]
        pairs = zip(self._shown, self._axes, strict=True)
        # While a number is typed it can lie outside the range.
        self._session.move_to([min(max(value, axis.low), axis.high) for value, axis in pairs])


def _step(width: float) -> float:
    """Return a step that divides a range of some `width` into 100 to 1000."""
    step = 1.0
    while step > 0.01 * width:
        step /= 10.0
    return round(step, 9)
