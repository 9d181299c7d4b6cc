"""MuJoCo's model of a machine with all that pictures show, placed by poses alone.

Nothing is simulated here: the joints follow from the platform's pose, so that the state of every
engine can be shown.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from twin.basics.arrays import FloatArray, as_pose, as_vector
from twin.engines.mechanism import as_segments, joint_motion, make_mechanism
from twin.engines.mjcf import add, document, mechanism_xml, scene_xml, text
from twin.engines.mujoco import coordinates, mujoco
from twin.errors import InputError
from twin.machine.mechanism import PLATFORM_NAME, Z_AXIS
from twin.model.ball import Ball
from twin.model.machine_model import MachineModel
from twin.viewer.bodies.machine import dress, light_up, machine_bodies, picture_drawing
from twin.viewer.bodies.meshes import model_vertices

GHOST_COLOUR = "0.10 0.62 0.42 0.35"
"""Red, green, blue, opacity of the platform drawn at the setpoint."""

BALL_COLOURS = ("0.80 0.20 0.16", "0.96 0.78 0.30")
"""The ball's two colours: its checks show how it rolls."""

PLATE_COLOUR = "0.30 0.34 0.40 1"

POST_RADIUS_RATIO = 0.12
"""Radius of the post below the ball's plate, over the plate's radius."""

CYLINDER_EDGES = np.array(
    [[np.cos(a), np.sin(a), z] for a in np.linspace(0.0, 2.0 * np.pi, 24) for z in (-1.0, 1.0)]
)
"""Points `(48, 3)` on both edges of a cylinder of radius and half length one."""

HIDDEN_GROUP = 5
"""Group of geoms that are not drawn: MuJoCo draws those of the first three."""

SHOWN_GROUP = 1
"""Group of geoms that are drawn."""


class SceneModel:
    """A machine in its scene, perhaps with a ghost at the setpoint and a ball.

    Attributes:
        model: MuJoCo's `MjModel` of the scene.
        data: its `MjData`, as it was last placed.
        displacement: `(3,)` [m] of the base in the world.
        ground: `(3,)` [m] of the floor in the base frame where the base has not moved.
    """

    def __init__(
        self,
        platform: MachineModel,
        *,
        ghost: bool = False,
        ball: Ball | None = None,
        payload: Any = None,
        dark: bool = False,
    ) -> None:
        """Compile the scene, the machine at home.

        Args:
            platform: the machine.
            ghost: whether the platform can be drawn a second time, at the setpoint.
            ball: a ball that rolls on a plate of the platform.
            payload: what rides on the platform, drawn at rest on it: an `Occupant`, or segments.
            dark: whether ground and sky are dark.

        Raises:
            InputError: a payload that cannot be used.
        """
        self.platform = platform
        segments = as_segments(payload, platform.parameters.gravity)
        self._machine = make_mechanism(platform.parameters, segments)
        scene = ElementTree.fromstring(scene_xml(platform))
        light_up(scene, dark=dark)
        robot = ElementTree.fromstring(mechanism_xml(self._machine, 1e-3))
        dress(robot, machine_bodies(platform.parameters, self._machine))
        if ghost:
            _add_ghost(scene, robot)
        if ball is not None:
            _add_ball(scene, robot, ball)
        files = {"robot.xml": document(robot).encode()}
        self.model = mujoco.MjModel.from_xml_string(document(scene), files)
        self.data = mujoco.MjData(self.model)
        self.ball = ball
        self._outermost = [_outermost(self.model, k) for k in range(self.model.nmesh)]
        self._joints = coordinates(self.model, self._machine.joint_names)
        self._floor = self.model.geom_pos[self.model.geom("floor").id]
        self._floor[2] = picture_drawing(platform.parameters).floor
        self.ground = self._floor.copy()
        self._movable = {
            name: (self.model.body(name).mocapid[0], self.model.body(name).geomadr[0])
            for name, is_present in (("ghost", ghost), ("ball", ball is not None))
            if is_present
        }
        self._counts = {name: int(self.model.body(name).geomnum[0]) for name in self._movable}
        self.displacement = np.zeros(3)
        self.place(platform.home)

    def place(
        self,
        pose: Any,
        deflection: Any = None,
        *,
        ghost: Any = None,
        ball: Any = None,
        base_displacement: Any = None,
    ) -> None:
        """Set the joints of all bodies from the platform's pose.

        A pose that a fixed foot forbids, as engines with soft loops have them, is taken as the
        nearest that it allows.

        Args:
            pose: `(7,)` of the platform in the base frame.
            deflection: `(2k,)` deflections of springs and their rates; default: all zero.
            ghost: `(7,)` setpoint; None hides it.
            ball: `(7,)` pose of the ball in the base frame; None hides it.
            base_displacement: `(3,)` [m] of the base in the world; default: none.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion; a ghost or a ball that the
                scene was made without.
            UnreachablePoseError: a leg cannot reach the pose.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        displacement = np.zeros(3) if base_displacement is None else base_displacement
        self.displacement = as_vector(displacement, "base_displacement", 3)
        fitting = self.platform.constrain(as_pose(pose)).pose
        legs = self.platform.leg_coordinates(fitting, deflection=deflection)
        self.data.qpos[self._joints] = joint_motion(self._machine, legs).values
        if self._machine.floats:
            first_coordinate = self.model.joint(PLATFORM_NAME).qposadr[0]
            self.data.qpos[first_coordinate : first_coordinate + 7] = fitting
        self._move("ghost", ghost)
        self._move("ball", ball)
        self._floor[:] = self.ground - self.displacement
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)

    def corners(self) -> FloatArray:
        """Return points `(k, 3)` [m] whose convex hull contains all visible parts, as last placed.

        These are points of their edges and surfaces, and for other shapes corners of boxes. Above
        a plate there is room for the ball, wherever it rolls.
        """
        model, data = self.model, self.data
        signs = np.stack(np.meshgrid(*3 * [[-1.0, 1.0]]), axis=-1).reshape(-1, 3)
        shown_geoms = np.flatnonzero(model.geom_group != HIDDEN_GROUP)
        corners = []
        for k in shown_geoms[shown_geoms != model.geom("floor").id]:
            if model.geom_type[k] == mujoco.mjtGeom.mjGEOM_CYLINDER:
                points = CYLINDER_EDGES * model.geom_size[k, [0, 0, 1]]
                if self.ball is not None and k == model.geom("ball_plate").id:
                    points = np.concatenate([points, points + 2.0 * self.ball.radius * Z_AXIS])
            elif model.geom_type[k] == mujoco.mjtGeom.mjGEOM_MESH:
                points = self._outermost[model.geom_dataid[k]]
            else:
                points = model.geom_aabb[k, :3] + signs * model.geom_aabb[k, 3:]
            corners.append(data.geom_xpos[k] + points @ data.geom_xmat[k].reshape(3, 3).T)
        return np.concatenate(corners)

    def _move(self, name: str, pose: Any) -> None:
        """Move a body that follows nothing, or hide it."""
        if name not in self._movable:
            if pose is not None:
                raise InputError(name, f"the scene was made without: give {name}= to make it")
            return
        mocap_index, first_coordinate = self._movable[name]
        geoms = slice(first_coordinate, first_coordinate + self._counts[name])
        self.model.geom_group[geoms] = HIDDEN_GROUP if pose is None else SHOWN_GROUP
        if pose is not None:
            values = as_pose(pose, name)
            self.data.mocap_pos[mocap_index], self.data.mocap_quat[mocap_index] = (
                values[:3],
                values[3:],
            )


def _outermost(model: Any, mesh: int) -> FloatArray:
    """Return the vertices `(k, 3)` [m] of a mesh that are farthest in some direction."""
    vertices = model_vertices(model, mesh)
    return np.asarray(vertices[np.unique((vertices @ CYLINDER_EDGES.T).argmax(axis=0))])


def _add_ghost(scene: Element, robot: Element) -> None:
    """Add a translucent copy of the platform's plate."""
    add(_part(scene, "asset"), "material", name="ghost", rgba=GHOST_COLOUR, specular="0.1")
    body = add(_part(scene, "worldbody"), "body", name="ghost", mocap="true")
    for geom in _platform(robot).findall(f"geom[@material='{PLATFORM_NAME}']"):
        style = dict(geom.attrib) | {"name": f"ghost_{geom.attrib['name']}", "material": "ghost"}
        add(body, "geom", **style)


def _add_ball(scene: Element, robot: Element, ball: Ball) -> None:
    """Add the ball, and its plate on the platform."""
    asset = _part(scene, "asset")
    checks = {"type": "cube", "builtin": "checker", "width": "64", "height": "64"}
    add(asset, "texture", name="ball", rgb1=BALL_COLOURS[0], rgb2=BALL_COLOURS[1], **checks)
    add(asset, "material", name="ball", texture="ball", specular="0.6", shininess="0.7")
    add(asset, "material", name="ball_plate", rgba=PLATE_COLOUR, specular="0.2")
    body = add(_part(scene, "worldbody"), "body", name="ball", mocap="true")
    drawn_class = {"class": "drawn"}
    size = text([ball.radius])
    add(body, "geom", name="ball", type="sphere", size=size, material="ball", **drawn_class)
    half_thickness = 0.5 * ball.plate_thickness
    style = {"type": "cylinder", "material": "ball_plate", **drawn_class}
    size = text([ball.plate_radius, half_thickness])
    plate_center = text([0.0, 0.0, ball.plate_height - half_thickness])
    add(_platform(robot), "geom", name="ball_plate", pos=plate_center, size=size, **style)
    size = text([POST_RADIUS_RATIO * ball.plate_radius])
    axis_ends = text([0.0, 0.0, 0.0, 0.0, 0.0, ball.plate_height - half_thickness])
    add(_platform(robot), "geom", name="ball_post", fromto=axis_ends, size=size, **style)


def _part(scene: Element, tag: str) -> Element:
    element = scene.find(tag)
    assert element is not None
    return element


def _platform(robot: Element) -> Element:
    element = robot.find(f".//body[@name='{PLATFORM_NAME}']")
    assert element is not None
    return element
