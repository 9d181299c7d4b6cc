"""The three-dimensional part of a page: machine, backdrop, a second machine, and layers.

Viewpoints of pages: the first one, and those of the views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, one_of
from twin.machine.mechanism.parts import PLATFORM
from twin.model.ball.ball import Ball
from twin.model.machine_model import MachineModel
from twin.page.scene.backdrop import Backdrop
from twin.page.scene.leg_colours import Colouring
from twin.page.scene.machine_scene import OVERLAY, MachineScene
from twin.page.scene.marks import (
    add_base_frame,
    add_centre_of_mass,
    add_joint_frames,
    add_leg_numbers,
    add_platform_frame,
)
from twin.page.scene.push_arrow import PushArrow
from twin.page.scene.trace import Trace
from twin.page.server.viser_internals import darken
from twin.simulation.scene import Scene
from twin.viewer.scene_model import SceneModel
from twin.viewer.view import View, as_view, framing

OPENING = 35.0
"""[deg] over the height of a page."""

ASPECT = 0.75
"""Width over height of the free scene on a page of 1280 by 800 pixels."""

NEAREST, FARTHEST = 0.01, 100.0
"""[sizes of a machine] Distances from the camera between which things are drawn."""


FIRST_VIEW = "overview"
"""View in which a page opens."""

NEARBY = 0.02
"""[sizes of a machine] by which a camera in its first view may be elsewhere."""


class Viewpoint(NamedTuple):
    """Position and target of a camera, in the world."""

    position: FloatArray
    """`(3,)` [m]"""
    target: FloatArray
    """`(3,)` [m]"""


def viewpoint(
    machine: MachineScene, view: str | View | tuple[float, float], aspect: float = ASPECT
) -> Viewpoint:
    """Return the viewpoint from which a machine fills the page.

    Args:
        machine: the machine.
        view: a name of `VIEWS`, or azimuth and elevation [deg].
        aspect: width over height of the picture.

    Raises:
        InputError: no such view.
    """
    direction = as_view(view)
    azimuth, elevation = np.radians(direction)
    ahead = np.array([np.cos(azimuth), np.sin(azimuth), 0.0]) * np.cos(elevation)
    ahead[2] = np.sin(elevation)
    target, distance = framing(machine.scene_model.corners(), direction, OPENING, aspect)
    target = target + machine.scene_model.displacement
    return Viewpoint(target - distance * ahead, target)


def start_looking(server: Any, machine: MachineScene) -> Viewpoint:
    """Set the viewpoint of pages that are opened from now on, and return it."""
    found = viewpoint(machine, FIRST_VIEW)
    first = server.initial_camera
    first.position, first.look_at, first.up = found.position, found.target, (0.0, 0.0, 1.0)
    first.fov = np.radians(OPENING)
    first.near, first.far = NEAREST * machine.size, FARTHEST * machine.size
    return found


def _turn(client: Any, found: Viewpoint) -> None:
    """Place the camera of a page."""
    with client.atomic():
        client.camera.up_direction = (0.0, 0.0, 1.0)
        client.camera.position = found.position
        client.camera.look_at = found.target


class Layer(NamedTuple):
    """A part of the scene that can be switched on and off."""

    title: str
    shown: bool
    """at first"""


LAYERS = {
    "ground": Layer("Ground", True),
    "dark": Layer("Dark", False),
    "shadows": Layer("Shadows", False),
    "ghost": Layer("Setpoint pose", True),
    "push": Layer("Push", True),
    "trace": Layer("Trace", False),
    "centre_of_mass": Layer("Centre of mass", False),
    "base_frame": Layer("Base frame", False),
    "platform_frame": Layer("Platform frame", False),
    "joint_frames": Layer("Joint frames", False),
    "leg_numbers": Layer("Leg numbers", False),
}
"""Layers by name, in the order of their switches."""

MARKS = {
    "base_frame": add_base_frame,
    "platform_frame": add_platform_frame,
    "joint_frames": add_joint_frames,
    "centre_of_mass": add_centre_of_mass,
    "leg_numbers": add_leg_numbers,
}

SEEN_THROUGH = 0.35
"""Opacity of the platform while its centre of mass or the trace is shown: they often lie inside."""


class SceneView:
    """The scene of a page.

    Attributes:
        machine: the machine.
        overlay: the machine of a second engine; None until there is one.
        backdrop: behind them.
        trace: of a point of the platform.
        push: arrows of a push on the platform.
    """

    machine: MachineScene
    overlay: MachineScene | None
    backdrop: Backdrop
    trace: Trace
    push: PushArrow

    def __init__(
        self, server: Any, platform: MachineModel, *, ball: Ball | None = None, payload: Any = None
    ) -> None:
        """Show a machine at home.

        Args:
            server: viser's server.
            platform: the machine.
            ball: a ball that rolls on a plate of the platform.
            payload: on the platform: an `Occupant`, or segments.

        Raises:
            InputError: a payload that cannot be used.
        """
        self._server = server
        self._clicked: Callable[[Any], None] | None = None
        self._shown = {name: layer.shown for name, layer in LAYERS.items()}
        with server.atomic():
            self._build(platform, ball, payload)
        self._start = start_looking(server, self.machine)
        self._first: dict[int, Viewpoint] = {}

    def replace(
        self, platform: MachineModel, *, ball: Ball | None = None, payload: Any = None
    ) -> None:
        """Show another machine, or another configuration of it; layers stay as they are switched.

        Cameras stay, too; `look` turns them. Arguments and errors are those of the class.
        """
        SceneModel(platform, ball=ball, payload=payload)  # errors leave what there is
        with self._server.atomic():
            self.remove()
            self._build(platform, ball, payload)
        self._start = start_looking(self._server, self.machine)

    def update(self, scene: Scene, time: float, comparison: Scene | None = None) -> bool:
        """Draw a scene.

        Args:
            scene: of the machine.
            time: [s] of the run.
            comparison: scene of the second machine; None hides it.

        Returns:
            Whether the machine can be drawn in this scene; if not, it keeps its place.

        Raises:
            InputError: as `MachineScene.update`.
        """
        with self._server.atomic():
            drawn = self.machine.update(scene)
            if drawn:
                self.trace.update(time)
            self.push.update(time)
            self._compare(comparison)
        return drawn

    def colour_legs(self, colouring: Colouring, values: Any = None) -> None:
        """Colour the machine's legs; arguments and errors are those of `MachineScene`."""
        with self._server.atomic():
            self.machine.colour_legs(colouring, values)

    def show(self, layer: str, shown: bool) -> None:
        """Switch a layer on or off.

        Raises:
            InputError: no such layer.
        """
        self._shown[one_of(layer, "layer", tuple(LAYERS))] = shown
        if layer == "ground":
            self.backdrop.ground.visible = shown
        elif layer == "dark":
            self.backdrop.darken(shown)
            darken(self._server, shown)
        elif layer == "shadows":
            self.backdrop.cast_shadows(shown)
        elif layer == "ghost":
            self.machine.show("ghost", shown)
        elif layer == "push":
            self.push.show(shown)
        elif layer == "trace":
            self.trace.show(shown)
        else:
            for node in self._marks[layer]:
                node.visible = shown
        inside = self._shown["centre_of_mass"] or self._shown["trace"]
        self.machine.see_through(PLATFORM, SEEN_THROUGH if inside else None)

    def shown(self, layer: str) -> bool:
        """Return whether a layer is switched on.

        Raises:
            InputError: no such layer.
        """
        return self._shown[one_of(layer, "layer", tuple(LAYERS))]

    def look(self, view: str, clients: Iterable[Any] | None = None) -> None:
        """Turn cameras to the machine.

        Args:
            view: a name of `VIEWS`.
            clients: viser's clients; default: all.

        Raises:
            InputError: no such view.
        """
        pages = self._server.get_clients().values() if clients is None else clients
        for client in pages:
            found = viewpoint(self.machine, view, client.camera.aspect)
            _turn(client, found)
            if view == FIRST_VIEW:
                self._first[client.client_id] = found

    def place(self, found: Viewpoint) -> set[int]:
        """Place the cameras of all pages, and return the numbers of their clients."""
        clients = self._server.get_clients()
        for client in clients.values():
            _turn(client, found)
        return set(clients)

    @property
    def camera(self) -> Viewpoint | None:
        """Viewpoint of the page whose camera moved last; None for the first view of the machine."""
        clients = self._server.get_clients().values()
        if not clients:
            return None
        last = max(clients, key=lambda each: float(each.camera.update_timestamp))
        found = Viewpoint(last.camera.position, last.camera.look_at)
        away = np.subtract(found, self._first.get(last.client_id, self._start))
        return found if np.abs(away).max() > NEARBY * self.machine.size else None

    def on_click(self, callback: Callable[[Any], None]) -> None:
        """Call this with viser's event for each click on the platform, in place of another."""
        self._clicked = callback
        for (body, _), mesh in self.machine.parts.items():
            if body == PLATFORM:
                mesh.on_click(callback)

    def remove(self) -> None:
        """Remove all machines from the pages; the backdrop stays."""
        self.machine.remove()
        if self.overlay is not None:
            self.overlay.remove()
            self.overlay = None

    def _compare(self, scene: Scene | None) -> None:
        if scene is not None:
            if self.overlay is None:
                self.overlay = MachineScene(
                    self._server,
                    self.machine.platform,
                    ball=self._ball,
                    payload=self.machine.segments,
                    name="comparison",
                    ghost=False,
                    tint=OVERLAY,
                )
            self.overlay.update(scene._replace(ghost=None))
        if self.overlay is not None:
            self.overlay.root.visible = scene is not None

    def _build(self, platform: MachineModel, ball: Ball | None, payload: Any) -> None:
        server = self._server
        self._ball = ball
        self.machine = MachineScene(server, platform, ball=ball, payload=payload)
        self.overlay = None
        self.backdrop = Backdrop(server, self.machine)
        self.trace, self.push = Trace(server, self.machine), PushArrow(server, self.machine)
        self._marks = {name: make(server, self.machine) for name, make in MARKS.items()}
        for name, shown in self._shown.items():
            self.show(name, shown)
        if self._clicked is not None:
            self.on_click(self._clicked)
