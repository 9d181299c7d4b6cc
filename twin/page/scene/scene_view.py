"""The three-dimensional part of a page: machine, backdrop, a second machine, and layers.

The module also has the viewpoints of pages: the first one, and those of the views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, one_of
from twin.machine.mechanism import PLATFORM_NAME
from twin.model.ball import Ball
from twin.model.machine_model import MachineModel
from twin.page.scene.machine_scene import (
    OVERLAY_TINT,
    Colouring,
    MachineScene,
    Trace,
    add_centre_of_mass,
    add_frames,
    add_leg_numbers,
)
from twin.page.server.page_server import darken
from twin.simulation.simulate import Scene
from twin.viewer.camera import View, as_view, framing
from twin.viewer.scene_model import SceneModel

GRID_CELLS = 12.0
"""Approximate number of cells of the ground's grid along the size of a machine."""

SECTION_CELLS = 5
"""Number of cells between two stronger lines."""

FADE_DISTANCE = 7.0
"""[sizes of the machine] Distance from the camera at which the ground fades out."""

PLANE_COLOUR = (222, 227, 233)

LINE_COLOURS = ((203, 210, 219), (176, 185, 198))
"""Colours of thin and strong lines, red, green, blue."""

SKY_COLOURS = ((201, 210, 221), (238, 241, 245))
"""Colours of the background, above and below."""

DARK_SKY_COLOURS = ((28, 31, 37), (58, 63, 72))
"""Colours of the background in the dark, above and below."""

DAYLIGHT_INTENSITY = 2.2
"""Strength of the light from all around, white above and of the ground's colour below."""

BOUNCE_COLOUR = (150, 160, 176)

EDGE_TOLERANCE = 1e-9
"""Tolerance of a ray at a triangle's edge, as a fraction of the triangle, so that neighbours leave
no gap.
"""

MOMENT_LENGTH = 0.25
"""Length of a moment's arrow, which has two heads, over the size of the machine."""

ARROW_RADIUS_RATIO = 0.008
"""Radius of arrows over the size of the machine."""

ARROW_COLOUR = (196, 10, 10)

FIELD_OF_VIEW = 35.0
"""[deg] Angle of view over the height of a page."""

DEFAULT_ASPECT = 0.75
"""Width over height of the free scene on a page of 1280 by 800 pixels."""

FIRST_VIEW = "overview"
"""View in which a page opens."""

VIEW_TOLERANCE = 0.02
"""[sizes of a machine] Distance by which a camera in its first view may be elsewhere."""

MARK_BUILDERS: dict[str, Callable[[Any, MachineScene], list[Any]]] = {
    "base_frame": partial(add_frames, kind="base"),
    "platform_frame": partial(add_frames, kind="platform"),
    "joint_frames": partial(add_frames, kind="joint"),
    "centre_of_mass": add_centre_of_mass,
    "leg_numbers": add_leg_numbers,
}

SEEN_THROUGH = 0.35
"""Opacity of the platform while its centre of mass or the trace is shown: they often lie inside."""


DARK_PLANE_COLOUR = (46, 50, 57)
"""Colour of the ground in the dark."""

DARK_LINE_COLOURS = ((62, 67, 76), (92, 99, 110))
"""Colours of its thin and strong lines in the dark."""


LAMP_INTENSITY = 1.1
"""Strength of a lamp next to the camera of the overview, which models round parts."""

LAMP_POSITION = (2.0, -3.0, 2.5)
"""Place of this lamp, which gives its direction."""


class Backdrop:
    """The ground, the light and the background.

    Attributes:
        cell: [m] between two lines of the ground.
        ground: its node.
    """

    def __init__(self, server: Any, machine: MachineScene) -> None:
        """Make a backdrop in proportion to a machine, without shadows."""
        self._server = server
        self.cell = round_length(machine.size / GRID_CELLS)
        scene = server.scene
        # Reflections of surroundings are slow where no graphics card draws, and pale the colours.
        scene.configure_environment_map(None)
        scene.add_light_hemisphere(
            "/daylight",
            sky_color=(255, 255, 255),
            ground_color=BOUNCE_COLOUR,
            intensity=DAYLIGHT_INTENSITY,
        )
        scene.add_light_directional("/lamp", intensity=LAMP_INTENSITY, position=LAMP_POSITION)
        self.cast_shadows(False)
        self.ground = scene.add_grid(
            "/ground",
            plane="xy",
            infinite_grid=True,
            cell_size=self.cell,
            section_size=SECTION_CELLS * self.cell,
            cell_color=LINE_COLOURS[0],
            section_color=LINE_COLOURS[1],
            fade_distance=FADE_DISTANCE * machine.size,
            fade_strength=1.5,
            plane_color=PLANE_COLOUR,
            plane_opacity=1.0,
            shadow_opacity=0.25,
            position=(0.0, 0.0, float(machine.scene_model.ground[2])),
        )
        self.darken(False)

    def darken(self, dark: bool) -> None:
        """Give ground and background their colours for dark or for light."""
        upper_colour, lower_colour = DARK_SKY_COLOURS if dark else SKY_COLOURS
        fraction = np.linspace(0.0, 1.0, 64)[:, None, None]
        sky = (1.0 - fraction) * np.array(upper_colour) + fraction * np.array(lower_colour)
        rows = np.repeat(sky.astype(np.uint8), 2, axis=1)
        self._server.scene.set_background_image(rows, format="png")
        self.ground.plane_color = DARK_PLANE_COLOUR if dark else PLANE_COLOUR
        self.ground.cell_color, self.ground.section_color = (
            DARK_LINE_COLOURS if dark else LINE_COLOURS
        )

    def cast_shadows(self, cast: bool) -> None:
        """Let the machine cast shadows; slow where no graphics card draws."""
        self._server.scene.configure_default_lights(True, cast_shadow=cast)


def round_length(length: float) -> float:
    """Return a length [m] rounded, on a logarithmic scale, to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(length))
    round_values = power * np.array([1.0, 2.0, 5.0, 10.0])
    return float(round_values[np.abs(np.log(round_values / length)).argmin()])


def touched(machine: MachineScene, origin: Any, direction: Any) -> FloatArray | None:
    """Return the first point `(3,)` [m] of the drawn platform on a ray, in the platform frame.

    Args:
        machine: as it was last placed.
        origin: `(3,)` [m] of the ray in the world.
        direction: `(3,)` of the ray in the world.

    Returns:
        None where the ray passes by the platform.
    """
    platform_position, rotation = machine.body_pose(PLATFORM_NAME)
    ray_start = (np.asarray(origin) - machine.root.position - platform_position) @ rotation
    ray_direction = np.asarray(direction) @ rotation
    distances = [
        nearest(mesh.vertices[mesh.faces], ray_start, ray_direction)
        for (body, _), mesh in machine.parts.items()
        if body == PLATFORM_NAME
    ]
    distance = min(distances, default=np.inf)
    return ray_start + distance * ray_direction if np.isfinite(distance) else None


def nearest(triangles: FloatArray, start: FloatArray, direction: FloatArray) -> float:
    """Return the least multiple of `direction` at which a ray hits triangles `(f, 3, 3)`, or inf.

    Reference: Möller and Trumbore, "Fast, minimum storage ray/triangle intersection", 1997.
    """
    corner, first_edge, second_edge = (
        triangles[:, 0],
        *np.moveaxis(triangles[:, 1:] - triangles[:, :1], 1, 0),
    )
    cross_product = np.cross(direction, second_edge)
    volume = np.einsum("fi,fi->f", first_edge, cross_product)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.einsum("fi,fi->f", start - corner, cross_product) / volume
        normal = np.cross(start - corner, first_edge)
        v = normal @ direction / volume
        distance = np.einsum("fi,fi->f", second_edge, normal) / volume
        is_hit = (
            (u >= -EDGE_TOLERANCE)
            & (v >= -EDGE_TOLERANCE)
            & (u + v <= 1.0 + EDGE_TOLERANCE)
            & (distance > 0.0)
        )
    return float(distance[is_hit].min(initial=np.inf))


MIN_ARROW_LENGTH = 0.12
"""Length of the arrow of a force near zero, as a fraction of the machine's size."""

MAX_ARROW_LENGTH = 0.40
"""Length of the arrow of a force like the platform's weight, as a fraction of the same."""


class PushArrows:
    """Arrows that follow a point of the platform, with directions fixed in the base."""

    def __init__(self, server: Any, machine: MachineScene) -> None:
        """Make the arrows, hidden at first."""
        self._server, self._machine = server, machine
        self.node = server.scene.add_frame(
            f"{machine.root.name}/push", show_axes=False, visible=False
        )
        self._arrows = {
            name: server.scene.add_arrows(
                f"{self.node.name}/{name}",
                np.zeros((n_heads, 2, 3)),
                ARROW_COLOUR,
                shaft_radius=ARROW_RADIUS_RATIO * machine.size,
                head_radius=2.6 * ARROW_RADIUS_RATIO * machine.size,
                head_length=6.0 * ARROW_RADIUS_RATIO * machine.size,
                visible=False,
            )
            for name, n_heads in (("force", 1), ("moment", 2))
        }
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

        """
        force_vector, moment_vector = np.array(force), np.array(moment)
        self._point = np.array(point)
        self._start, self._duration = time, duration
        self._arrows["force"].visible = bool(force_vector.any())
        self._arrows["moment"].visible = bool(moment_vector.any())
        if force_vector.any():
            self._arrows["force"].points = self._straight(force_vector)[None]
        if moment_vector.any():
            tip = MOMENT_LENGTH * self._machine.size * moment_vector
            tip /= np.linalg.norm(moment_vector)
            self._arrows["moment"].points = np.array([[np.zeros(3), tip], [np.zeros(3), 0.8 * tip]])
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
            origin, rotation = self._machine.body_pose(PLATFORM_NAME)
            self.node.position = origin + rotation @ self._point
        self.node.visible = acts and self._shown

    def show(self, shown: bool) -> None:
        """Show or hide pushes."""
        self._shown = shown
        self.node.visible = shown and np.isfinite(self._start)

    def _straight(self, force: FloatArray) -> FloatArray:
        """Return start and end `(2, 3)` [m] of an arrow whose tip is at the point."""
        size = float(np.linalg.norm(force))
        weight = 9.81 * self._machine.platform.parameters.platform.body.mass
        length = MIN_ARROW_LENGTH + (MAX_ARROW_LENGTH - MIN_ARROW_LENGTH) * min(1.0, size / weight)
        return np.stack([-force * length * self._machine.size / size, np.zeros(3)])


NEAR_PLANE = 0.01
"""[sizes of the machine] Distance from the camera beyond which things are drawn."""

FAR_PLANE = 100.0
"""[sizes of the machine] Distance from the camera up to which things are drawn."""


class Viewpoint(NamedTuple):
    """Position and target of a camera, in the world."""

    position: FloatArray
    """position of the camera `(3,)` [m], world frame"""
    target: FloatArray
    """point that the camera looks at `(3,)` [m], world frame"""


def viewpoint(
    machine: MachineScene, view: str | View | tuple[float, float], aspect: float = DEFAULT_ASPECT
) -> Viewpoint:
    """Return the viewpoint from which a machine fills the page.

    Args:
        machine: the machine.
        view: a name of `VIEWS`, or azimuth and elevation [deg].
        aspect: width over height of the picture.

    Raises:
        InputError: no such view.
    """
    looking = as_view(view)
    target, distance = framing(machine.scene_model.corners(), looking, FIELD_OF_VIEW, aspect)
    target = target + machine.scene_model.displacement
    return Viewpoint(target - distance * looking.direction, target)


def start_looking(server: Any, machine: MachineScene) -> Viewpoint:
    """Set the viewpoint of pages that are opened from now on, and return it."""
    first_viewpoint = viewpoint(machine, FIRST_VIEW)
    initial_camera = server.initial_camera
    initial_camera.position, initial_camera.look_at, initial_camera.up = (
        first_viewpoint.position,
        first_viewpoint.target,
        (0.0, 0.0, 1.0),
    )
    initial_camera.fov = np.radians(FIELD_OF_VIEW)
    initial_camera.near, initial_camera.far = NEAR_PLANE * machine.size, FAR_PLANE * machine.size
    return first_viewpoint


def _turn(client: Any, viewpoint: Viewpoint) -> None:
    """Place the camera of a page."""
    with client.atomic():
        client.camera.up_direction = (0.0, 0.0, 1.0)
        client.camera.position = viewpoint.position
        client.camera.look_at = viewpoint.target


class Layer(NamedTuple):
    """A part of the scene that can be switched on and off."""

    title: str
    shown: bool
    """whether the layer is shown at first"""


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
    push: PushArrows

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
        self._first_viewpoints: dict[int, Viewpoint] = {}

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
            is_drawn = self.machine.update(scene)
            if is_drawn:
                self.trace.update(time)
            self.push.update(time)
            self._compare(comparison)
        return is_drawn

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
        is_see_through = self._shown["centre_of_mass"] or self._shown["trace"]
        self.machine.set_opacity(PLATFORM_NAME, SEEN_THROUGH if is_see_through else None)

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
            target_view = viewpoint(self.machine, view, client.camera.aspect)
            _turn(client, target_view)
            if view == FIRST_VIEW:
                self._first_viewpoints[client.client_id] = target_view

    def place(self, target_view: Viewpoint) -> set[int]:
        """Place the cameras of all pages, and return the numbers of their clients."""
        clients = self._server.get_clients()
        for client in clients.values():
            _turn(client, target_view)
        return set(clients)

    @property
    def camera(self) -> Viewpoint | None:
        """Viewpoint of the page whose camera moved last; None for the first view of the machine."""
        clients = self._server.get_clients().values()
        if not clients:
            return None
        last_client = max(clients, key=lambda client: float(client.camera.update_timestamp))
        viewpoint_now = Viewpoint(last_client.camera.position, last_client.camera.look_at)
        deviation = np.subtract(
            viewpoint_now, self._first_viewpoints.get(last_client.client_id, self._start)
        )
        return (
            viewpoint_now if np.abs(deviation).max() > VIEW_TOLERANCE * self.machine.size else None
        )

    def on_click(self, callback: Callable[[Any], None]) -> None:
        """Call this with viser's event for each click on the platform, in place of another."""
        self._clicked = callback
        for (body, _), mesh in self.machine.parts.items():
            if body == PLATFORM_NAME:
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
                    tint=OVERLAY_TINT,
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
        self.trace, self.push = Trace(server, self.machine), PushArrows(server, self.machine)
        self._marks = {
            name: builder(server, self.machine) for name, builder in MARK_BUILDERS.items()
        }
        for name, is_shown in self._shown.items():
            self.show(name, is_shown)
        if self._clicked is not None:
            self.on_click(self._clicked)
