"""The path of a point of the platform, as a line that fades."""

from __future__ import annotations

import time as clock
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, positive
from twin.machine.mechanism.parts import PLATFORM
from twin.page.scene.machine_scene import MachineScene

SEGMENTS = 200
"""Number of the line's segments; constant, so that pages keep their memory."""

PAUSE = 0.1
"""[s] at least between two lines that are sent."""

YOUNG, OLD = (162, 28, 175), (205, 150, 215)
"""Colours of the line's newest and oldest end, red, green, blue."""

WIDTH = 3.0
"""[pixels]"""


class Trace:
    """A line in the base frame.

    Attributes:
        point: `(3,)` [m] in the platform frame, whose path is drawn.
        seconds: [s] of the run that are kept.
        node: of the page's scene.
    """

    def __init__(self, server: Any, machine: MachineScene, seconds: float = 5.0) -> None:
        """Make a line of the reference point, hidden at first.

        Args:
            server: viser's server.
            machine: with the platform.
            seconds: [s] of the run that are kept.

        Raises:
            InputError: not a positive number.
        """
        self._machine = machine
        self.point = np.zeros(3)
        self.seconds = positive(seconds, "seconds")
        self._times: list[float] = []
        self._points: list[FloatArray] = []
        self._sent, self._pending = -np.inf, False
        share = np.linspace(0.0, 1.0, SEGMENTS + 1)[:, None]
        colours = (1.0 - share) * np.array(OLD) + share * np.array(YOUNG)
        self.node = server.scene.add_line_segments(
            f"{machine.root.name}/trace",
            np.zeros((SEGMENTS, 2, 3)),
            _pairs(colours).astype(np.uint8),
            thickness=WIDTH,
            thickness_units="screen",
            visible=False,
        )

    def follow(self, point: Any) -> None:
        """Draw the path of another point, from now on.

        Args:
            point: `(3,)` [m] in the platform frame.

        Raises:
            InputError: wrong shape, not finite.
        """
        self.point = as_vector(point, "point", 3)
        self.clear()

    def clear(self) -> None:
        """Forget the path so far."""
        self._times.clear()
        self._points.clear()
        self._pending = True

    def update(self, time: float) -> None:
        """Add the point's position at a time [s] of the run; an earlier time begins anew."""
        if self._times and time < self._times[-1]:
            self.clear()
        if not self._times or time - self._times[-1] >= self.seconds / SEGMENTS:
            origin, turn = self._machine.place(PLATFORM)
            self._times.append(time)
            self._points.append(origin + turn @ self.point)
            while time - self._times[0] > self.seconds:
                del self._times[0], self._points[0]
            self._pending = True
        now = clock.monotonic()
        if self._pending and self.node.visible and now - self._sent >= PAUSE:
            self._send()
            self._sent, self._pending = now, False

    def show(self, shown: bool) -> None:
        """Show or hide the line."""
        self.node.visible = shown

    def _send(self) -> None:
        """Send the line; while it is short its old segments lie in one point."""
        points = self._points[-SEGMENTS - 1 :] or [self._machine.place(PLATFORM)[0]]
        missing = SEGMENTS + 1 - len(points)
        self.node.points = _pairs(np.array([points[0]] * missing + points))


def _pairs(values: FloatArray) -> FloatArray:
    """Return the ends `(SEGMENTS, 2, 3)` of segments between consecutive values."""
    return np.stack([values[:-1], values[1:]], axis=1)
