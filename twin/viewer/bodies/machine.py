"""The bodies of a whole machine as pictures show them, from its own parameters.

Models for the engines keep their simple shapes: a machine is simulated without these.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.optional import optional
from twin.engines.mechanism import Mechanism, machine_drawing
from twin.engines.mjcf import add
from twin.errors import InputError
from twin.machine.file.drawing import MESH_FIELD, Appearance
from twin.machine.legs.leg import Leg, LegGeometry
from twin.machine.legs.pillar import PillarLeg
from twin.machine.legs.rss import RssLeg
from twin.machine.legs.strut import StrutLeg
from twin.machine.legs.ups import UpsLeg
from twin.machine.legs.viscoelastic import ViscoelasticLeg
from twin.machine.machine import MachineParameters
from twin.machine.mechanism import (
    BASE_NAME,
    PART_COLORS,
    PLATFORM_NAME,
    Box,
    Cylinder,
    Drawing,
    Shape,
    Sphere,
)
from twin.viewer.bodies.crank import servo_end, servo_leg
from twin.viewer.bodies.fittings import ACCENT_MATERIAL, METAL_MATERIAL, Part, screws
from twin.viewer.bodies.meshes import Mesh, around, box, extruded, joined, rod, sphere
from twin.viewer.bodies.pillar import pillar_leg
from twin.viewer.bodies.telescope import flexure_leg, screw_leg, spring_leg

MAX_TRIANGLES = 200_000
"""Maximum number of triangles of a mesh, which MuJoCo takes from a file, too."""

MIN_CORNERS = 4
"""Different vertices of a mesh, which MuJoCo asks for."""

UNIT_FIELD = "appearance.unit"
"""Field of the length of one unit of a mesh."""

Y_UP_ROTATION = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Rotation of y upwards, as in glTF, to z upwards."""

MIN_JOINT_RATIO = 0.045
"""Smallest radius of the joints as drawn, over that of the machine's base plate."""

MAX_JOINT_RATIO = 1.4
"""Largest ratio of a platform's joint as drawn to that of the machine's model."""

LAMP_POSITION = (0.8, -1.1, 2.55)
"""Place of the lamp, in proportion; it casts no shadow, whose edges would be stairs."""

GROUND_TEXTURE = {"builtin": "flat", "mark": "edge", "width": "160", "height": "160"}
"""Texture of the ground: tiles with fine lines between them."""

GROUND_TILES = 2.0
"""Number of tiles along the size of a machine."""

SHADOW_OPACITY = 0.028
"""Opacity of one layer of a soft shadow."""


MIN_MESH_WIDTH = 1e-6
"""[m] Smallest width of a mesh."""

MAX_MESH_WIDTH = 1e6
"""[m] Largest width of a mesh."""


def drawn_mesh(appearance: Appearance) -> Mesh:
    """Return the mesh of a drawing in the platform frame [m].

    Raises:
        InputError: a file that cannot be read, without triangles or with too many, or whose
            triangles enclose nothing that can be drawn.
        MissingDependencyError: trimesh is not installed.
    """
    path = Path(appearance.mesh)
    try:
        return _read_mesh(path, path.stat().st_mtime_ns, appearance.unit)
    except OSError as error:
        raise InputError(MESH_FIELD, f"cannot read {path} ({error.strerror})") from None


@lru_cache(maxsize=4)
def _read_mesh(path: Path, _changed: int, unit: float) -> Mesh:
    trimesh = optional("trimesh")
    try:
        with np.errstate(all="ignore"):
            mesh = trimesh.load_scene(path).to_mesh()
        vertices, faces = np.array(mesh.vertices), np.array(mesh.faces, dtype=np.int64)
    except OSError:
        raise
    except Exception as error:  # the library's readers fail in ways of their own
        raise InputError(MESH_FIELD, f"{path} is no {path.suffix} file ({error})") from None
    if not 4 <= len(faces) <= MAX_TRIANGLES:
        raise InputError(
            MESH_FIELD, f"{path} has {len(faces)} triangles; 4 to {MAX_TRIANGLES} can be drawn"
        )
    if not np.isfinite(vertices).all():
        raise InputError(MESH_FIELD, f"{path} has vertices that are not finite")
    if not 0 <= faces.min() <= faces.max() < len(vertices):
        message = f"{path} has a triangle with vertex {faces.max()} of {len(vertices)}; write it"
        raise InputError(MESH_FIELD, f"{message} anew")
    _check_size(unit * vertices[faces], path)
    rotation = Y_UP_ROTATION if path.suffix.lower() == ".glb" else np.eye(3)
    return Mesh(unit * vertices @ rotation.T, faces)


def _check_size(corners: FloatArray, path: Path) -> None:
    """Check that triangles `(k, 3, 3)` [m] have a size and corners that can be drawn."""
    extent = float(np.ptp(corners, axis=(0, 1)).max())
    if not MIN_MESH_WIDTH <= extent <= MAX_MESH_WIDTH:
        raise InputError(UNIT_FIELD, f"makes {path} {extent:.3g} m wide; check the unit")
    edges = np.diff(corners, axis=1)
    area = 0.5 * np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1).sum()
    distinct = len(np.unique(corners.reshape(-1, 3).astype(np.float32), axis=0))
    if distinct < MIN_CORNERS or area < MIN_MESH_WIDTH**2:
        message = f"{path} has {distinct} different vertices and an area of {area:.3g} m2: it is"
        raise InputError(MESH_FIELD, f"{message} no body that can be drawn")


SHADOW_MATERIAL = "shadow"
"""Material of a soft shadow."""

SHADOW_LAYERS = 12
"""Number of layers of a soft shadow."""


def base_plate(drawing: Drawing, feet: FloatArray) -> Part:
    """Return the base plate around the feet `(k, 2)` [m] of the legs."""
    edge_margin = 2.4 * drawing.base_joint_radius
    radius = float(np.linalg.norm(feet, axis=1).max()) + edge_margin
    outline = around(feet, edge_margin)
    thickness = drawing.base_thickness
    bevel = min(0.25 * thickness, 0.012 * radius)
    plate = extruded(outline, drawing.floor, drawing.base_top, bevel)
    return Part(BASE_NAME, "base", plate)


def soft_shadows(drawing: Drawing, feet: FloatArray, joints: FloatArray) -> Part:
    """Return thin dark layers below the base plate and below the platform at home.

    Each is nearly clear; where many lie on each other the ground looks darker.

    Args:
        drawing: dimensions of the machine in pictures.
        feet: `(k, 2)` [m] around which the base plate is.
        joints: `(n, 2)` [m] of the platform at home, in the base frame.
    """
    layer_width = 0.1 * drawing.base_radius / SHADOW_LAYERS
    shadow_thickness = 2e-4 * drawing.base_radius
    layers = []
    for k in range(SHADOW_LAYERS):
        # Wide layers lie below narrow ones.
        height = (1 + 2 * k) * shadow_thickness
        ground = around(feet, 2.4 * drawing.base_joint_radius + (SHADOW_LAYERS - k) * layer_width)
        layers.append(
            extruded(ground, drawing.floor + height, drawing.floor + height + shadow_thickness)
        )
        middle = joints.mean(axis=0)
        platform_outline = around(
            middle + (1.0 - 0.6 * k / SHADOW_LAYERS) * (joints - middle), layer_width
        )
        layers.append(
            extruded(
                platform_outline,
                drawing.base_top + height,
                drawing.base_top + height + shadow_thickness,
            )
        )
    return Part(BASE_NAME, SHADOW_MATERIAL, joined(layers))


def platform_plate(drawing: Drawing, joints: FloatArray) -> list[Part]:
    """Return the platform's plate above its joints `(n, 3)` [m], its screws, and its heading."""
    bottom, thickness = drawing.platform_bottom, drawing.platform_thickness
    top = bottom + thickness
    corners = joints[:, :2]
    margin = drawing.platform_radius - float(np.linalg.norm(corners, axis=1).max())
    outline = around(corners, margin)
    if _width(corners) < 1e-2 * drawing.platform_radius:
        outline = around(np.zeros((1, 2)), drawing.platform_radius)
    bevel = min(0.3 * thickness, 0.02 * drawing.platform_radius)
    plate = extruded(outline, bottom, top, bevel)
    head = 0.008 * drawing.platform_radius
    heads: list[Mesh] = []
    for corner in corners:
        heads += screws(np.array([*corner, top]), 0.55 * margin, min(0.13 * margin, 2 * head), 4)
    return [
        Part(PLATFORM_NAME, "platform", plate),
        Part(PLATFORM_NAME, METAL_MATERIAL, joined(heads)),
        Part(PLATFORM_NAME, ACCENT_MATERIAL, _arrow(0.82 * _extent_along_x(outline), top, head)),
    ]


def _arrow(length: float, top: float, thickness: float) -> Mesh:
    """Return an arrow along x on a plate whose upper face is at `top` [m]."""
    width = 0.045 * length
    shaft_start, neck, arrow_tip = 0.25 * length, 0.72 * length, length
    shaft = np.array([[shaft_start, -width], [neck, -width], [neck, width], [shaft_start, width]])
    head = np.array([[neck, -2.6 * width], [arrow_tip, 0.0], [neck, 2.6 * width]])
    return joined([extruded(outline_part, top, top + thickness) for outline_part in (shaft, head)])


def _extent_along_x(outline: FloatArray) -> float:
    """Return how far [m] an outline `(m, 2)`, anticlockwise around the origin, goes along x."""
    next_corners = np.roll(outline, -1, axis=0)
    crossing = (outline[:, 1] <= 0.0) & (next_corners[:, 1] > 0.0)
    (x, y), (u, v) = outline[crossing][0], next_corners[crossing][0]
    return float(x - y * (u - x) / (v - y))


def _width(points: FloatArray) -> float:
    """Return the width [m] of points `(k, 2)` across the line that fits them best."""
    return float(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[-1])


def picture_drawing(parameters: MachineParameters) -> Drawing:
    """Return the dimensions of a machine in pictures: joints of slender legs are drawn larger.

    The base plate lies lower for them; the platform's plate stays where it is.
    """
    drawing = machine_drawing(parameters)
    radius = max(drawing.base_joint_radius, MIN_JOINT_RATIO * drawing.base_radius)
    joint = drawing.platform_joint_radius
    lowered = 1.3 * (radius - drawing.base_joint_radius)
    return drawing._replace(
        base_joint_radius=radius,
        platform_joint_radius=max(joint, min(MAX_JOINT_RATIO * joint, 0.7 * radius)),
        base_top=drawing.base_top - lowered,
    )


def machine_bodies(parameters: MachineParameters, machine: Mechanism) -> list[Part]:
    """Return what every body shows, one part for each of its materials.

    A leg of a kind without a picture of its own shows the shapes of its mechanism, and so does all
    that the platform carries.
    """
    drawing, joints = picture_drawing(parameters), parameters.base.joints.points
    parts: list[Part] = []
    feet = [joints[:, :2]]
    own_bodies = set()
    for leg, leg_geometry in zip(parameters.legs, parameters.home_leg_geometry, strict=True):
        leg_parts = _leg_parts(leg, leg_geometry, drawing, joints)
        if leg_parts:
            own_bodies.add(f"leg_{leg_geometry.number}_")
        if isinstance(leg, RssLeg):
            feet.append(servo_end(leg, leg_geometry, drawing, joints)[None, :2])
        parts += leg_parts
    for name, shapes in (
        (BASE_NAME, machine.base_shapes),
        *((body.name, body.shapes) for body in machine.bodies if body.name != PLATFORM_NAME),
    ):
        if not (
            own_bodies
            if name == BASE_NAME
            else any(name.startswith(prefix) for prefix in own_bodies)
        ):
            parts += [Part(name, shape.color, shape_mesh(shape)) for shape in shapes]
    around_feet = np.concatenate(feet)
    parts.append(base_plate(drawing, around_feet))
    home = np.array(
        [leg_geometry.base + leg_geometry.vector for leg_geometry in parameters.home_leg_geometry]
    )
    parts.append(soft_shadows(drawing, around_feet, home[:, :2]))
    if parameters.appearance is None:
        parts += platform_plate(drawing, parameters.platform.joints.points)
    else:
        parts.append(Part(PLATFORM_NAME, PLATFORM_NAME, drawn_mesh(parameters.appearance)))
    return _merged(parts)


def shape_mesh(shape: Shape) -> Mesh:
    """Return the triangles of a simple shape."""
    if isinstance(shape, Cylinder):
        return rod(shape.radius, shape.start, shape.end)
    if isinstance(shape, Sphere):
        return sphere(shape.radius).moved(shape.center)
    if isinstance(shape, Box):
        return box(shape.center, shape.size)
    return extruded(shape.outline, shape.bottom, shape.top)


def _leg_parts(
    leg: Leg, leg_geometry: LegGeometry, drawing: Drawing, joints: np.ndarray
) -> list[Part]:
    """Return what a leg shows; nothing for a kind without a picture."""
    if isinstance(leg, StrutLeg):
        return flexure_leg(leg, leg_geometry, drawing)
    if isinstance(leg, UpsLeg):
        return screw_leg(leg, leg_geometry, drawing)
    if isinstance(leg, ViscoelasticLeg):
        return spring_leg(leg, leg_geometry, drawing)
    if isinstance(leg, RssLeg):
        return servo_leg(leg, leg_geometry, drawing, joints)
    if isinstance(leg, PillarLeg):
        return pillar_leg(leg, leg_geometry, drawing)
    return []


def _merged(parts: list[Part]) -> list[Part]:
    """Return one part for each body and material, in the order in which they come first."""
    meshes_by_key: dict[tuple[str, str], list[Mesh]] = {}
    for part in parts:
        meshes_by_key.setdefault((part.body, part.material), []).append(part.mesh)
    return [Part(*key, joined(meshes)) for key, meshes in meshes_by_key.items()]


MATERIAL_LOOKS = {
    "base": ((0.46, 0.49, 0.54), 0.2),
    "platform": ((0.90, 0.91, 0.92), 0.2),
    "housing": ((0.13, 0.30, 0.52), 0.5),
    "rod": ((0.78, 0.80, 0.83), 0.8),
    "joint": ((0.13, 0.14, 0.16), 0.4),
    "heading": ((0.95, 0.43, 0.10), 0.3),
    SHADOW_MATERIAL: ((0.0, 0.0, 0.0), 0.0),
}
"""Red, green, blue and shine of materials in pictures; others look as in the machine's model."""


class Scheme(NamedTuple):
    """Colours of what is around a machine: red, green, blue from 0 to 1."""

    ground: tuple[float, float, float]
    lines: tuple[float, float, float]
    horizon: tuple[float, float, float]
    zenith: tuple[float, float, float]


LIGHT_SCHEME = Scheme(
    (0.79, 0.81, 0.84), (0.66, 0.69, 0.74), (0.93, 0.95, 0.97), (0.80, 0.85, 0.90)
)

DARK_SCHEME = Scheme((0.18, 0.20, 0.22), (0.24, 0.26, 0.30), (0.23, 0.25, 0.28), (0.11, 0.12, 0.15))


def light_up(scene: Element, *, dark: bool) -> None:
    """Light a scene evenly, on a ground of tiles with fine joints, in light or dark colours."""
    world, asset = scene.find("worldbody"), scene.find("asset")
    assert world is not None and asset is not None
    colours = DARK_SCHEME if dark else LIGHT_SCHEME
    statistic = scene.find("statistic")
    assert statistic is not None
    size = float(statistic.attrib["extent"])
    for light in world.findall("light"):
        world.remove(light)
    aim = {
        "pos": _numbers(size * np.array(LAMP_POSITION)),
        "dir": _numbers(-np.array(LAMP_POSITION)),
    }
    shine = {"type": "directional", "diffuse": _numbers(3 * [0.5]), "castshadow": "false"}
    add(world, "light", name="lamp", **aim, **shine)
    for element in asset.findall("texture[@name='tiles']"):
        tones = {"rgb1": _numbers(colours.ground), "markrgb": _numbers(colours.lines)}
        element.attrib |= GROUND_TEXTURE | tones
    for element in asset.findall("texture[@name='sky']"):
        element.attrib |= {"rgb1": _numbers(colours.zenith), "rgb2": _numbers(colours.horizon)}
    for element in scene.findall("visual/rgba"):
        element.set("haze", _numbers([*colours.horizon, 1.0]))
    for element in asset.findall("material[@name='floor']"):
        element.set("texrepeat", _numbers(2 * [GROUND_TILES / size]))
    for element in scene.iter("headlight"):
        element.set("ambient", "0.40 0.40 0.42")


def dress(robot: Element, parts: Sequence[Part]) -> None:
    """Replace what the bodies of a MuJoCo document `robot` show by parts.

    The geoms have no mass and touch nothing.
    """
    for parent in robot.iter():
        for geom in parent.findall("geom[@class='drawn']"):
            parent.remove(geom)
    asset = robot.find("asset")
    world = robot.find("worldbody")
    assert asset is not None and world is not None
    for old_element in (*asset.findall("mesh"), *asset.findall("material")):
        if old_element.tag == "mesh" or old_element.get("name") in PART_COLORS:
            asset.remove(old_element)
    bodies = {body.get("name"): body for body in robot.iter("body")} | {BASE_NAME: world}
    for material in dict.fromkeys(part.material for part in parts):
        rgb, shine = (
            MATERIAL_LOOKS[material]
            if material in MATERIAL_LOOKS
            else (PART_COLORS[material][:3], 0.3)
        )
        rgba = _numbers([*rgb, SHADOW_OPACITY if material == SHADOW_MATERIAL else 1.0])
        add(asset, "material", name=material, rgba=rgba, specular=str(shine), shininess="0.6")
    for body, material, mesh in parts:
        name = f"{body}_{material}"
        shape = {"vertex": _numbers(mesh.vertices), "face": _numbers(mesh.faces)}
        add(asset, "mesh", name=name, inertia="shell", **shape)
        add(
            bodies[body],
            "geom",
            name=name,
            type="mesh",
            mesh=name,
            material=material,
            **{"class": "drawn"},
        )


def _numbers(values: Any) -> str:
    """Return numbers to a tenth of a micrometre."""
    return " ".join(map(repr, np.round(np.ravel(values), 7).tolist()))
