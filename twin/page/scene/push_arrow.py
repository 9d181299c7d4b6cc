"""Arrows of a push on the platform: a straight one for its force, a bent one for its moment."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, positive
from twin.machine.mechanism.parts import PLATFORM
from twin.page.scene.machine_scene import MachineScene

SHORTEST, LONGEST = 0.12, 0.40
"""Length of the arrow over the size of the machine: for no force, and for the platform's weight."""

CURL = 0.09
"""Radius of the moment's arc over the size of the machine."""

ARC = np.radians(270.0)
"""Angle of the moment's arc."""

WIDTH = 0.008
"""Radius of arrows over the size of the machine."""

COLOUR = (196, 10, 10)


class PushArrow:
    """Arrows that follow a point of the platform, with directions fixed in the base."""

    def __init__(self, server: Any, machine: MachineScene) -> None:
        """Make the arrows, hidden at first."""
        self._server, self._machine = server, machine
        self.node = server.scene.add_frame(
            f"{machine.root.name}/push", show_axes=False, visible=False
        )
        self._arrows = {
            part: server.scene.add_arrows(
                f"{self.node.name}/{part}",
                np.zeros((1, 2, 3)),
                COLOUR,
                shaft_radius=WIDTH * machine.size,
                head_radius=2.6 * WIDTH * machine.size,
                head_length=6.0 * WIDTH * machine.size,
                visible=False,
            )
            for part in ("force", "moment")
        }
        self._arc = server.scene.add_line_segments(
            f"{self.node.name}/arc",
            np.zeros((32, 2, 3)),
            COLOUR,
            thickness=1.4 * WIDTH * machine.size,
            visible=False,
        )
        self._point = np.zeros(3)
        self._start, self._duration = np.inf, 0.0
        self._shown = True

    def begin(self, force: Any, moment: Any, point: Any, *, time: float, duration: float) -> None:
        """Show a push while it acts.

        Args:
            force: `(3,)` [N] in base axes.
            moment: `(3,)` [N m] in base axes.
            point: `(3,)` [m] in the platform frame, where the force acts.
            time: [s] of the run, now.
            duration: [s] of the run.

        Raises:
            InputError: wrong shape, not finite, no positive duration.
        """
        along, about = as_vector(force, "force", 3), as_vector(moment, "moment", 3)
        self._point = as_vector(point, "point", 3)
        self._start, self._duration = time, positive(duration, "duration")
        self._arrows["force"].visible = bool(along.any())
        self._arrows["moment"].visible = self._arc.visible = bool(about.any())
        if along.any():
            self._arrows["force"].points = self._straight(along)[None]
        if about.any():
            arc = self._curl(about)
            self._arc.points = np.stack([arc[:-1], arc[1:]], axis=1)
            ahead = arc[-1] - arc[-2]
            ahead *= 6.0 * WIDTH * self._machine.size / np.linalg.norm(ahead)
            self._arrows["moment"].points = np.stack([arc[-1], arc[-1] + ahead])[None]
        self.update(time)

    def update(self, time: float) -> None:
        """Follow the platform; hide the arrows once the push has ended.

        Args:
            time: [s] of the run.
        """
        acts = self._start <= time < self._start + self._duration
        if not acts:
            self._start = np.inf
        elif self._shown:
            origin, turn = self._machine.place(PLATFORM)
            self.node.position = origin + turn @ self._point
        self.node.visible = acts and self._shown

    def show(self, shown: bool) -> None:
        """Show or hide pushes."""
        self._shown = shown
        self.node.visible = shown and np.isfinite(self._start)

    def _straight(self, force: FloatArray) -> FloatArray:
        """Return start and end `(2, 3)` [m] of an arrow whose tip is at the point."""
        size = float(np.linalg.norm(force))
        weight = 9.81 * self._machine.platform.parameters.platform.body.mass
        length = SHORTEST + (LONGEST - SHORTEST) * min(1.0, size / weight)
        return np.stack([-force * length * self._machine.size / size, np.zeros(3)])

    def _curl(self, moment: FloatArray) -> FloatArray:
        """Return the points `(33, 3)` [m] of an arc about the moment, in its sense."""
        axis = moment / np.linalg.norm(moment)
        first = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
        first /= np.linalg.norm(first)
        angles = np.linspace(0.0, ARC, 33)[:, None]
        around = np.cos(angles) * first + np.sin(angles) * np.cross(axis, first)
        return np.asarray(CURL * self._machine.size * around)
