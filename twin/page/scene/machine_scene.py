"""A machine as nodes of a page's scene: one that moves for each body, its meshes below it.

The nodes hang on one root, which is the base frame: where the base shakes, the whole machine moves
in the world. They belong to the server, so that every page shows them, whenever it is opened.
"""

from __future__ import annotations

import re
import time as clock
from typing import Any, Literal, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.engines.mechanism import as_segments
from twin.errors import SingularPoseError, UnreachablePoseError
from twin.machine.mechanism import PLATFORM_NAME
from twin.machine.payload.anthropometry import rigid_sum
from twin.machine.payload.occupant import with_body
from twin.model.ball import Ball
from twin.model.machine_model import MachineModel
from twin.simulation.simulate import Scene
from twin.viewer.bodies.machine import SHADOW_MATERIAL
from twin.viewer.bodies.meshes import Mesh, geom_mesh, joined, quarters, sphere
from twin.viewer.scene_model import BALL_COLOURS, SceneModel

COLOUR_LEVELS = 32
"""Number of colours of a scale; values within one of them look the same."""

LEGEND_TITLES = {
    "force": "Leg force, share of its peak",
    "stroke": "Stroke left to the nearest limit",
}

LEGEND_TICKS = {"force": ("0", "50 %", "100 %"), "stroke": ("at the limit", "50 %", "mid-stroke")}

BASE_NODE = "base"
"""Node of all fixed parts."""

LOOSE_BODIES = ("ghost", "ball")
"""Bodies without a parent, present in some scenes only."""

LEG_PATTERN = re.compile(r"leg_(\d+)_")
"""Pattern of the names of a leg's bodies, with the leg's number from 1."""

WHITE_FRACTIONS = {"housing": 0.0, "rod": 0.35, "spring": 0.35}
"""Parts of legs that take the leg's colour, and the fraction of white in it."""

GHOST_INSET = 0.001
"""[sizes of the machine] Amount by which a ghost is smaller than the machine, which therefore hides
it where both coincide.
"""

TINT_RIM = 0.004
"""[sizes of the machine] Amount by which tinted machines are larger. Only their far sides are
drawn: in the same place the other machine keeps its colours, and has a rim.
"""

AXIS_LENGTHS = {"base": 0.16, "platform": 0.12, "joint": 0.045}
"""Length of drawn axes over the size of the machine."""

AXIS_RADIUS_RATIO = 0.04
"""Radius of drawn axes over their length."""

MASS_RADIUS_RATIO = 0.022
"""Radius of the sphere at the centre of mass over the size of the machine."""

MASS_COLOURS = ((250, 204, 21), (24, 24, 27))

CENTRE_NODE = "centre_of_mass"

TRACE_SEGMENTS = 200
"""Number of the line's segments; constant, so that pages keep their memory."""

TRACE_TIME = 5.0
"""[s] Time of the run that the line covers."""

MIN_TRACE_PERIOD = 0.1
"""[s] Shortest time between two lines that are sent."""

LINE_WIDTH = 3.0
"""[pixels] Width of the line."""


Colouring = Literal["none", "force", "stroke"]
"""Kind of colours of the legs: their own; fraction of the peak force or torque; fraction of the
stroke left to a limit.
"""

BLUE_STOP = (0.16, 0.42, 0.80)
"""Blue end of a scale: red, green, blue from 0 to 1."""

GREEN_STOP = (0.13, 0.66, 0.38)
"""Green of a scale."""

YELLOW_STOP = (0.95, 0.78, 0.15)
"""Yellow of a scale."""

RED_STOP = (0.78, 0.14, 0.14)
"""Red end of a scale."""

COLOUR_SCALES = {
    "force": (BLUE_STOP, GREEN_STOP, YELLOW_STOP, RED_STOP),
    "stroke": (RED_STOP, YELLOW_STOP, GREEN_STOP),
}
"""Colours of each scale, in equal steps."""


Colour = tuple[int, int, int]
"""Red, green, blue from 0 to 255."""


def as_bytes(colour: Any) -> Colour:
    """Return red, green and blue from 0 to 1 as bytes."""
    red, green, blue = (round(255.0 * float(component)) for component in colour[:3])
    return red, green, blue


def levels(values: Any) -> IndexArray:
    """Return the indices `(n,)` of values `(n,)` on a scale of `COLOUR_LEVELS` colours, -1 for NaN.

    Values are clipped to 0 and 1.
    """
    is_unknown = np.isnan(values)
    fraction = np.clip(np.where(is_unknown, 0.0, values), 0.0, 1.0)
    return np.where(is_unknown, -1, np.rint(fraction * (COLOUR_LEVELS - 1))).astype(np.int64)


def palette(colouring: Colouring) -> FloatArray:
    """Return the colours `(LEVELS, 3)` of a scale, red, green and blue from 0 to 1."""
    stops = np.array(COLOUR_SCALES[colouring])
    positions = np.linspace(0.0, len(stops) - 1.0, COLOUR_LEVELS)
    return np.stack(
        [np.interp(positions, np.arange(len(stops)), channel) for channel in stops.T],
        axis=1,
    )


def legend(colouring: Colouring) -> str:
    """Return the legend of a scale as HTML."""
    stops = ", ".join(f"rgb{as_bytes(stop)}" for stop in COLOUR_SCALES[colouring])
    ticks = "".join(f"<span>{tick}</span>" for tick in LEGEND_TICKS[colouring])
    return (
        '<div class="legend" style="font-size: 0.8em; padding: 0 0.75em">'
        f"{LEGEND_TITLES[colouring]}"
        f'<div style="height: 0.6em; border-radius: 0.3em; margin: 0.25em 0;'
        f' background: linear-gradient(to right, {stops})"></div>'
        f'<div style="display: flex; justify-content: space-between">{ticks}</div></div>'
    )


class Tint(NamedTuple):
    """Tint that distinguishes a machine from another in the same place."""

    colour: tuple[float, float, float]
    """red, green, blue from 0 to 1"""
    opacity: float


OVERLAY_TINT = Tint((0.96, 0.45, 0.05), 0.75)
"""Tint of a second engine's machine next to the first."""


class MachineScene:
    """The nodes of one machine.

    Attributes:
        platform: the machine.
        segments: of the payload on the platform.
        scene_model: with the places of its parts.
        size: [m] of the machine at home.
        root: the node of the base frame.
        bodies: node of each body that is drawn, by the body's name.
        parts: meshes by the body's name and the colour's.
    """

    def __init__(
        self,
        server: Any,
        platform: MachineModel,
        *,
        ball: Ball | None = None,
        payload: Any = None,
        name: str = "machine",
        ghost: bool = True,
        tint: Tint | None = None,
    ) -> None:
        """Create the nodes, with the machine at home.

        Args:
            server: viser's server.
            platform: the machine.
            ball: a ball that rolls on a plate of the platform.
            payload: on the platform, drawn at rest: an `Occupant`, or segments.
            name: of the root, different for each machine on a page.
            ghost: whether the platform is drawn a second time, at the reference pose.
            tint: distinguishes the machine from another on the same base, which is drawn once.

        Raises:
            InputError: a payload that cannot be used.
        """
        self.platform = platform
        self.segments = as_segments(payload, platform.parameters.gravity)
        self.scene_model = SceneModel(platform, ghost=ghost, ball=ball, payload=self.segments)
        corners = self.scene_model.corners()
        self.size = float(np.linalg.norm(corners.max(axis=0) - corners.min(axis=0)))
        self._server, self._tint = server, tint
        self.root = server.scene.add_frame(f"/{name}", show_axes=False)
        self.bodies: dict[str, Any] = {}
        self.parts: dict[tuple[str, str], Any] = {}
        self._own_colours: dict[tuple[str, str], Any] = {}
        self._opacities: dict[tuple[str, str], float | None] = {}
        self._body_numbers: list[int] = []
        self._add_bodies()
        self._loose_bodies = {
            body: self.bodies[body] for body in LOOSE_BODIES if body in self.bodies
        }
        self._shown: dict[str, bool] = dict.fromkeys(LOOSE_BODIES, True)
        self._places = np.full((len(self._body_numbers), 7), np.nan)
        self._colouring: Colouring = "none"
        self._colour_levels = np.full(platform.n_actuators, -1)
        self.update(Scene(platform.home))

    def update(self, scene: Scene) -> bool:
        """Move all bodies to their poses; only bodies that have moved are sent.

        Returns:
            Whether the machine can be drawn in this scene. If not (a leg cannot reach the pose), it
            keeps its place.

        Raises:
            InputError: wrong shape, no unit quaternion; a ghost or ball that it was made without.
        """
        ball = None if scene.ball is None else scene.ball[:7]
        optional_items = {
            "ghost": scene.ghost,
            "ball": ball,
            "base_displacement": scene.base_displacement,
        }
        arrays = (scene.pose, scene.deflection, *optional_items.values())
        if not all(np.isfinite(array).all() for array in arrays if array is not None):
            return False
        try:
            self.scene_model.place(scene.pose, scene.deflection, **optional_items)
        except (UnreachablePoseError, SingularPoseError):
            return False
        data = self.scene_model.data
        body_poses = np.hstack([data.xpos[self._body_numbers], data.xquat[self._body_numbers]])
        has_moved = body_poses != self._places
        nodes = list(self.bodies.values())
        with self._server.atomic():
            self.root.position = self.scene_model.displacement
            for k in np.flatnonzero(has_moved[:, :3].any(axis=1)):
                nodes[k].position = body_poses[k, :3]
            for k in np.flatnonzero(has_moved[:, 3:].any(axis=1)):
                nodes[k].wxyz = body_poses[k, 3:]
            for body, node in self._loose_bodies.items():
                node.visible = self._shown[body] and optional_items[body] is not None
        self._places = body_poses
        self._optional_items = optional_items
        return True

    def body_pose(self, body: str) -> tuple[FloatArray, FloatArray]:
        """Return origin `(3,)` [m] and rotation to base `(3, 3)` of a body, as last placed."""
        placed = self.scene_model.data.body(body)
        return placed.xpos.copy(), placed.xmat.reshape(3, 3).copy()

    def show(self, body: str, shown: bool) -> None:
        """Show or hide the ghost or the ball, where there is one."""
        self._shown[body] = shown
        if body in self._loose_bodies:
            self._loose_bodies[body].visible = shown and self._optional_items[body] is not None

    def colour_legs(self, colouring: Colouring, values: Any = None) -> None:
        """Colour the legs; an unchanged colour sends nothing.

        Args:
            colouring: "none" for the legs' own colours, or the meaning of `values`: "force", the
                fraction of the peak force; "stroke", the fraction of the stroke left to the nearest
                limit.
            values: `(n,)` from 0 to 1; a leg with NaN keeps its own colour.
        """
        count = self.platform.n_actuators
        new_levels = np.full(count, -1) if colouring == "none" else levels(values)
        has_changed = new_levels != self._colour_levels
        if colouring != self._colouring:
            has_changed |= new_levels >= 0
        for (body, part), mesh in self.parts.items():
            leg = LEG_PATTERN.match(body)
            if leg is None or part not in WHITE_FRACTIONS or not has_changed[int(leg[1]) - 1]:
                continue
            level = new_levels[int(leg[1]) - 1]
            own_colour = self._own_colours[body, part]
            mesh.color = (
                own_colour
                if level < 0
                else self._paint(palette(colouring)[level], WHITE_FRACTIONS[part])
            )
        self._colouring, self._colour_levels = colouring, new_levels

    def set_opacity(self, body: str, opacity: float | None) -> None:
        """Draw a body's parts with an opacity; None draws them as they were made."""
        for key, mesh in self.parts.items():
            if key[0] == body:
                mesh.opacity = self._opacities[key] if opacity is None else opacity

    def remove(self) -> None:
        """Remove the machine from all pages."""
        self.root.remove()

    def _add_bodies(self) -> None:
        model = self.scene_model.model
        floor = model.geom("floor").id
        for body_index in range(model.nbody):
            first_geom = model.body_geomadr[body_index]
            geoms = [
                k
                for k in range(first_geom, first_geom + model.body_geomnum[body_index])
                if k != floor
            ]
            if not geoms or (body_index == 0 and self._tint is not None):
                continue
            name = model.body(body_index).name if body_index else BASE_NODE
            frame = self._server.scene.add_frame(f"{self.root.name}/{name}", show_axes=False)
            self.bodies[name] = frame
            self._body_numbers.append(body_index)
            if name == "ball":
                halves = quarters(geom_mesh(model, geoms[0]))
                for part, mesh, text in zip(("light", "dark"), halves, BALL_COLOURS, strict=True):
                    colour = np.array(text.split(), dtype=float)
                    self._add_part(name, part, mesh, colour, None)
                continue
            self._add_parts(name, geoms)

    def _add_parts(self, name: str, geoms: list[int]) -> None:
        """Add the meshes of one body, one for each colour."""
        model = self.scene_model.model
        inset = GHOST_INSET * self.size if name == "ghost" else 0.0
        if self._tint is not None:
            inset = -TINT_RIM * self.size
        meshes_of_material: dict[int, list[Mesh]] = {}
        for k in geoms:
            min_size = model.geom_size[k][model.geom_size[k] > 0.0].min()
            meshes_of_material.setdefault(int(model.geom_matid[k]), []).append(
                geom_mesh(model, k, min(inset, 0.3 * min_size))
            )
        for material, meshes in meshes_of_material.items():
            rgba = model.mat_rgba[material]
            part = model.material(material).name
            opacity = float(rgba[3]) if rgba[3] < 1.0 else None
            self._add_part(name, part, joined(meshes), rgba[:3], opacity)

    def _add_part(
        self, body: str, part: str, mesh: Mesh, colour: FloatArray, opacity: float | None
    ) -> None:
        if self._tint is not None:
            opacity = self._tint.opacity
        own_paint = self._paint(colour, 0.0)
        self.parts[body, part] = self._server.scene.add_mesh_simple(
            f"{self.bodies[body].name}/{part}",
            mesh.vertices,
            mesh.faces,
            color=own_paint,
            opacity=opacity,
            side="front" if self._tint is None else "back",
            cast_shadow=part != SHADOW_MATERIAL,
        )
        self._own_colours[body, part], self._opacities[body, part] = own_paint, opacity

    def _paint(self, colour: FloatArray, white: float) -> tuple[int, int, int]:
        """Return a colour with a fraction of white as bytes, or the tint in its place."""
        return as_bytes(
            colour + white * (1.0 - colour) if self._tint is None else self._tint.colour
        )


def add_frames(server: Any, machine: MachineScene, kind: str) -> list[Any]:
    """Return the nodes of axes, hidden at first: x red, y green, z blue.

    Args:
        server: viser's.
        machine: whose frames they are.
        kind: "base", "platform", or "joint" for the joints of all legs' bodies.
    """
    bodies = {"base": [BASE_NODE], "platform": [PLATFORM_NAME]}.get(
        kind, [body for body in machine.bodies if LEG_PATTERN.match(body)]
    )
    length = AXIS_LENGTHS[kind] * machine.size
    return [
        server.scene.add_frame(
            f"{machine.bodies[body].name}/axes",
            axes_length=length,
            axes_radius=AXIS_RADIUS_RATIO * length,
            visible=False,
        )
        for body in bodies
    ]


def centre_of_mass(machine: MachineScene) -> FloatArray:
    """Return the centre of mass `(3,)` [m] of platform and payload, in the platform frame.

    The payload is at rest; legs are not part of it.
    """
    body = machine.platform.parameters.platform.body
    if not machine.segments:
        return np.array(body.center_of_mass_vector)
    return np.array(with_body(body, rigid_sum(machine.segments)).center)


def add_centre_of_mass(server: Any, machine: MachineScene) -> list[Any]:
    """Return the nodes of the sphere that marks the centre of mass; hidden at first."""
    root = f"{machine.bodies[PLATFORM_NAME].name}/{CENTRE_NODE}"
    frame = server.scene.add_frame(
        root, show_axes=False, position=centre_of_mass(machine), visible=False
    )
    halves = quarters(sphere(MASS_RADIUS_RATIO * machine.size))
    for name, mesh, colour in zip(("light", "dark"), halves, MASS_COLOURS, strict=True):
        server.scene.add_mesh_simple(f"{root}/{name}", mesh.vertices, mesh.faces, color=colour)
    return [frame]


def add_leg_numbers(server: Any, machine: MachineScene) -> list[Any]:
    """Return the labels with the legs' numbers, one at the middle of each; hidden at first."""
    lower_parts = {}
    for (body, part), mesh in machine.parts.items():
        leg = LEG_PATTERN.match(body)
        if leg is None or part != "housing":
            continue
        middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
        lower_parts[leg[1]] = server.scene.add_label(
            f"{machine.bodies[body].name}/number",
            leg[1],
            position=middle,
            anchor="center-center",
            visible=False,
        )
    return list(lower_parts.values())


NEWEST_COLOUR = (162, 28, 175)
"""Colour of the line's newest end: red, green, blue."""

OLDEST_COLOUR = (205, 150, 215)
"""Colour of the line's oldest end."""


class Trace:
    """A line in the base frame.

    Attributes:
        point: `(3,)` [m] in the platform frame, whose path is drawn.
        node: of the page's scene.
    """

    def __init__(self, server: Any, machine: MachineScene) -> None:
        """Make a line of the reference point of a machine, hidden at first, on viser's server."""
        self._machine = machine
        self.point = np.zeros(3)
        self._times: list[float] = []
        self._points: list[FloatArray] = []
        self._sent, self._pending = -np.inf, False
        fraction = np.linspace(0.0, 1.0, TRACE_SEGMENTS + 1)[:, None]
        colours = (1.0 - fraction) * np.array(OLDEST_COLOUR) + fraction * np.array(NEWEST_COLOUR)
        self.node = server.scene.add_line_segments(
            f"{machine.root.name}/trace",
            np.zeros((TRACE_SEGMENTS, 2, 3)),
            _pairs(colours).astype(np.uint8),
            thickness=LINE_WIDTH,
            thickness_units="screen",
            visible=False,
        )

    def follow(self, point: Any) -> None:
        """Draw the path of another point, from now on.

        Args:
            point: `(3,)` [m] in the platform frame.
        """
        self.point = np.array(point)
        self.clear()

    def clear(self) -> None:
        """Forget the path so far."""
        self._times.clear()
        self._points.clear()
        self._pending = True

    def update(self, time: float) -> None:
        """Add the point's position at a time [s] of the run; an earlier time restarts the line."""
        if self._times and time < self._times[-1]:
            self.clear()
        if not self._times or time - self._times[-1] >= TRACE_TIME / TRACE_SEGMENTS:
            origin, rotation = self._machine.body_pose(PLATFORM_NAME)
            self._times.append(time)
            self._points.append(origin + rotation @ self.point)
            while time - self._times[0] > TRACE_TIME:
                del self._times[0], self._points[0]
            self._pending = True
        present_time = clock.monotonic()
        if self._pending and self.node.visible and present_time - self._sent >= MIN_TRACE_PERIOD:
            self._send()
            self._sent, self._pending = present_time, False

    def show(self, shown: bool) -> None:
        """Show or hide the line."""
        self.node.visible = shown

    def _send(self) -> None:
        """Send the line; while it is short its old segments lie in one point."""
        points = self._points[-TRACE_SEGMENTS - 1 :] or [self._machine.body_pose(PLATFORM_NAME)[0]]
        n_missing = TRACE_SEGMENTS + 1 - len(points)
        self.node.points = _pairs(np.array([points[0]] * n_missing + points))


def _pairs(values: FloatArray) -> FloatArray:
    """Return the ends `(SEGMENTS, 2, 3)` of segments between consecutive values."""
    return np.stack([values[:-1], values[1:]], axis=1)
