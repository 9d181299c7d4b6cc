"""A machine as nodes of a page's scene: one that moves for each body, its meshes below it.

The nodes hang on one root, which is the base frame: where the base shakes, the whole machine moves
in the world. They belong to the server, so that every page shows them, whenever it is opened.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, one_of
from twin.engines.mechanism.payload import as_segments
from twin.errors import SingularPoseError, UnreachablePoseError
from twin.model.ball.ball import Ball
from twin.model.machine_model import MachineModel
from twin.page.scene.leg_colours import COLOURINGS, Colouring, as_bytes, levels, palette
from twin.simulation.scene import Scene
from twin.viewer.bodies.creases import geom_mesh, quarters
from twin.viewer.bodies.meshes import Mesh, joined
from twin.viewer.bodies.plates import SHADOW
from twin.viewer.scene_model import BALL, SceneModel

BASE = "base"
"""Node of all fixed parts."""

BESIDE = ("ghost", "ball")
"""Bodies without a parent, present in some scenes only."""

LEG = re.compile(r"leg_(\d+)_")
"""Names of the bodies of a leg, with its number from 1."""

COLOURED = {"housing": 0.0, "rod": 0.35, "spring": 0.35}
"""Parts of legs that take the leg's colour, and the share of white in it."""

INSET = 0.001
"""[sizes of the machine] by which ghosts are smaller than the machine that they are drawn over: in
the same place a ghost is hidden."""

RIM = 0.004
"""[sizes of the machine] by which tinted machines are larger. Only their far sides are drawn: in
the same place the other machine keeps its colours, and has a rim."""


class Tint(NamedTuple):
    """Tint that distinguishes a machine from another in the same place."""

    colour: tuple[float, float, float]
    """red, green, blue from 0 to 1"""
    opacity: float


OVERLAY = Tint((0.96, 0.45, 0.05), 0.75)
"""A second engine's machine beside the first."""


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
        """Make the nodes, the machine at home.

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
        self._own: dict[tuple[str, str], Any] = {}
        self._opacities: dict[tuple[str, str], float | None] = {}
        self._numbers: list[int] = []
        self._add_bodies()
        self._beside = {body: self.bodies[body] for body in BESIDE if body in self.bodies}
        self._shown: dict[str, bool] = dict.fromkeys(BESIDE, True)
        self._places = np.full((len(self._numbers), 7), np.nan)
        self._colouring: Colouring = "none"
        self._levels = np.full(platform.n_actuators, -1)
        self.update(Scene(platform.home))

    def update(self, scene: Scene) -> bool:
        """Move all bodies to their places; a body that has not moved sends nothing.

        Returns:
            Whether the machine can be drawn in this scene. If not (a leg cannot reach the pose), it
            keeps its place.

        Raises:
            InputError: wrong shape, no unit quaternion; a ghost or ball that it was made without.
        """
        ball = None if scene.ball is None else scene.ball[:7]
        seen = {"ghost": scene.ghost, "ball": ball, "base_displacement": scene.base_displacement}
        given = (scene.pose, scene.deflection, *seen.values())
        if not all(np.isfinite(each).all() for each in given if each is not None):
            return False
        try:
            self.scene_model.place(scene.pose, scene.deflection, **seen)
        except (UnreachablePoseError, SingularPoseError):
            return False
        data = self.scene_model.data
        places = np.hstack([data.xpos[self._numbers], data.xquat[self._numbers]])
        changed = places != self._places
        nodes = list(self.bodies.values())
        with self._server.atomic():
            self.root.position = self.scene_model.displacement
            for k in np.flatnonzero(changed[:, :3].any(axis=1)):
                nodes[k].position = places[k, :3]
            for k in np.flatnonzero(changed[:, 3:].any(axis=1)):
                nodes[k].wxyz = places[k, 3:]
            for body, node in self._beside.items():
                node.visible = self._shown[body] and seen[body] is not None
        self._places = places
        self._seen = seen
        return True

    def place(self, body: str) -> tuple[FloatArray, FloatArray]:
        """Return origin `(3,)` [m] and rotation to base `(3, 3)` of a body, as last placed."""
        placed = self.scene_model.data.body(body)
        return placed.xpos.copy(), placed.xmat.reshape(3, 3).copy()

    def show(self, body: str, shown: bool) -> None:
        """Show or hide the ghost or the ball, where there is one."""
        self._shown[body] = shown
        if body in self._beside:
            self._beside[body].visible = shown and self._seen[body] is not None

    def colour_legs(self, colouring: Colouring, values: Any = None) -> None:
        """Colour the legs; an unchanged colour sends nothing.

        Args:
            colouring: "none" for the legs' own colours, or the meaning of `values`: "force", the
                share of the peak force; "stroke", the share of the stroke left to the nearest
                limit.
            values: `(n,)` from 0 to 1; a leg with NaN keeps its own colour.

        Raises:
            InputError: no such colouring, wrong shape of `values`.
        """
        one_of(colouring, "colouring", COLOURINGS)
        count = self.platform.n_actuators
        found = np.full(count, -1) if colouring == "none" else levels(values, count)
        changed = found != self._levels
        if colouring != self._colouring:
            changed |= found >= 0
        for (body, part), mesh in self.parts.items():
            leg = LEG.match(body)
            if leg is None or part not in COLOURED or not changed[int(leg[1]) - 1]:
                continue
            level = found[int(leg[1]) - 1]
            own = self._own[body, part]
            mesh.color = (
                own if level < 0 else self._paint(palette(colouring)[level], COLOURED[part])
            )
        self._colouring, self._levels = colouring, found

    def see_through(self, body: str, opacity: float | None) -> None:
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
        for number in range(model.nbody):
            first = model.body_geomadr[number]
            geoms = [k for k in range(first, first + model.body_geomnum[number]) if k != floor]
            if not geoms or (number == 0 and self._tint is not None):
                continue
            name = model.body(number).name if number else BASE
            frame = self._server.scene.add_frame(f"{self.root.name}/{name}", show_axes=False)
            self.bodies[name] = frame
            self._numbers.append(number)
            if name == "ball":
                halves = quarters(geom_mesh(model, geoms[0]))
                for part, mesh, text in zip(("light", "dark"), halves, BALL, strict=True):
                    colour = np.array(text.split(), dtype=float)
                    self._add_part(name, part, mesh, colour, None)
                continue
            self._add_parts(name, geoms)

    def _add_parts(self, name: str, geoms: list[int]) -> None:
        """Add the meshes of one body, one for each colour."""
        model = self.scene_model.model
        inset = INSET * self.size if name == "ghost" else 0.0
        if self._tint is not None:
            inset = -RIM * self.size
        found: dict[int, list[Mesh]] = {}
        for k in geoms:
            thin = model.geom_size[k][model.geom_size[k] > 0.0].min()
            found.setdefault(int(model.geom_matid[k]), []).append(
                geom_mesh(model, k, min(inset, 0.3 * thin))
            )
        for material, meshes in found.items():
            rgba = model.mat_rgba[material]
            part = model.material(material).name
            opacity = float(rgba[3]) if rgba[3] < 1.0 else None
            self._add_part(name, part, joined(meshes), rgba[:3], opacity)

    def _add_part(
        self, body: str, part: str, mesh: Mesh, colour: FloatArray, opacity: float | None
    ) -> None:
        if self._tint is not None:
            opacity = self._tint.opacity
        own = self._paint(colour, 0.0)
        self.parts[body, part] = self._server.scene.add_mesh_simple(
            f"{self.bodies[body].name}/{part}",
            mesh.vertices,
            mesh.faces,
            color=own,
            opacity=opacity,
            side="front" if self._tint is None else "back",
            cast_shadow=part != SHADOW,
        )
        self._own[body, part], self._opacities[body, part] = own, opacity

    def _paint(self, colour: FloatArray, white: float) -> tuple[int, int, int]:
        """Return a colour with a share of white as bytes, or the tint in its place."""
        return as_bytes(
            colour + white * (1.0 - colour) if self._tint is None else self._tint.colour
        )
