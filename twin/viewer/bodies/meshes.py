"""Triangle meshes of simple shapes, closed and seen from outside.

The geoms of MuJoCo's model become triangles too, sharp at edges and smooth elsewhere. Pages average
the normals of triangles that share a vertex. So vertices are doubled along every edge that shall
look sharp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.basics.optional import optional
from twin.engines.mujoco import mujoco
from twin.machine.mechanism import unit_circle

CIRCLE_CORNERS = 44
"""Number of corners of a drawn circle; a multiple of four, so that quarters end at one."""

ROUNDING_CORNERS = 24
"""Number of corners of a circle that rounds an outline."""

SPHERE_FACES = 22
"""Number of faces of a sphere from pole to pole; even, so that halves end at one."""

BEVEL_RATIO = 0.06
"""Width of a bevel divided by the smaller of a cylinder's radius and half its height, or by half
the shortest edge of a box."""

SHARP_EDGE_ANGLE = np.radians(35.0)
"""[rad] Angle between the normals of two triangles above which their common edge looks sharp."""


class Mesh(NamedTuple):
    """A closed surface of triangles."""

    vertices: FloatArray
    """vertices `(v, 3)` [m]"""
    faces: IndexArray
    """`(f, 3)` indices of vertices, anticlockwise"""

    def moved(self, offset: FloatArray, rotation: FloatArray | None = None) -> Mesh:
        """Return the mesh rotated by a matrix `(3, 3)`, then translated by `offset` `(3,)` [m]."""
        vertices = self.vertices if rotation is None else self.vertices @ rotation.T
        return self._replace(vertices=vertices + offset)


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Return several meshes joined into one."""
    first_vertices = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate(
            [
                mesh.faces + first_vertex
                for mesh, first_vertex in zip(meshes, first_vertices, strict=False)
            ]
        ),
    )


def upright(z_direction: FloatArray, x_hint: FloatArray | None = None) -> FloatArray:
    """Return a rotation `(3, 3)` with a z axis in a direction, its x axis near `x_hint`.

    Without the hint, any rotation with this z axis.
    """
    z = z_direction / np.linalg.norm(z_direction)
    x = np.eye(3)[np.abs(z).argmin()] if x_hint is None else x_hint
    x = x - (x @ z) * z
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def sphere(radius: float) -> Mesh:
    """Return a sphere about the origin."""
    angles = np.linspace(0.0, np.pi, SPHERE_FACES + 1)
    profile = radius * np.stack([np.sin(angles), -np.cos(angles)], axis=1)
    profile[[0, -1], 0] = 0.0
    return turned(profile)


def cylinder(radius: float, half: float) -> Mesh:
    """Return a cylinder along z, from -half to half [m], with bevelled rims."""
    return tube(radius, -half, half)


def tube(radius: float, low: float, high: float, corners: int = CIRCLE_CORNERS) -> Mesh:
    """Return a cylinder along z between two heights [m], with bevelled rims."""
    bevel = BEVEL_RATIO * min(radius, 0.5 * (high - low))
    return turned(
        [
            (0.0, low),
            (radius - bevel, low),
            (radius, low + bevel),
            (radius, high - bevel),
            (radius - bevel, high),
            (0.0, high),
        ],
        corners,
    )


def rod(radius: float, start: FloatArray, end: FloatArray) -> Mesh:
    """Return a cylinder between two points `(3,)` [m], with bevelled rims."""
    axis_vector = end - start
    half_length = 0.5 * float(np.linalg.norm(axis_vector))
    return cylinder(radius, half_length).moved(0.5 * (start + end), upright(axis_vector))


def turned(profile: Any, corners: int = CIRCLE_CORNERS) -> Mesh:
    """Return a profile `(p, 2)` of radii and heights [m] from axis to axis, turned about z.

    Seen along the axis it runs upwards outside: its first and its last radius are zero.
    """
    rings = np.asarray(profile, dtype=float)
    inner_rings = rings[1:-1]
    vertices = np.empty((len(inner_rings), corners, 3))
    vertices[..., :2] = inner_rings[:, :1, None] * unit_circle(corners)
    vertices[..., 2] = inner_rings[:, 1:]
    return lofted(vertices, [0.0, 0.0, rings[0, 1]], [0.0, 0.0, rings[-1, 1]])


def lofted(rings: FloatArray, first: Any, last: Any) -> Mesh:
    """Return the surface over rings of corners, closed by a point at each end.

    Args:
        rings: `(r, c, 3)` [m], anticlockwise as seen from the last one.
        first: `(3,)` [m] point that closes the first ring.
        last: `(3,)` [m] point that closes the last ring.
    """
    count, corners = rings.shape[:2]
    low = np.arange(count * corners).reshape(count, corners)
    next_corners = np.roll(low, -1, axis=1)
    first_pole, last_pole = (np.full(corners, count * corners + end) for end in (0, 1))
    faces = [np.stack([next_corners[0], low[0], first_pole], axis=1)]
    for k in range(count - 1):
        faces.append(np.stack([low[k], next_corners[k], low[k + 1]], axis=1))
        faces.append(np.stack([next_corners[k], next_corners[k + 1], low[k + 1]], axis=1))
    faces.append(np.stack([low[-1], next_corners[-1], last_pole], axis=1))
    return Mesh(np.concatenate([rings.reshape(-1, 3), [first, last]]), np.concatenate(faces))


def extruded(outline: FloatArray, low: float, high: float, bevel: float = 0.0) -> Mesh:
    """Return a prism along z between two heights [m], its edges bevelled.

    Args:
        outline: `(m, 2)` corners [m] of a convex polygon, anticlockwise.
        low: height of its lower face.
        high: height of its upper face.
        bevel: [m]
    """
    centroid = outline.mean(axis=0)
    corner_distance = np.linalg.norm(outline - centroid, axis=1, keepdims=True)
    inner_outline = centroid + (outline - centroid) * np.maximum(1.0 - bevel / corner_distance, 0.1)
    rings = [(outline, low + bevel), (outline, high - bevel)]
    if bevel > 0.0:
        rings = [(inner_outline, low), *rings, (inner_outline, high)]
    vertices = [np.column_stack([ring, np.full(len(outline), height)]) for ring, height in rings]
    return lofted(np.array(vertices), [*centroid, low], [*centroid, high])


def around(centers: Any, radii: Any) -> FloatArray:
    """Return the outline `(m, 2)`, anticlockwise, of the smallest convex area around circles.

    Args:
        centers: `(k, 2)` [m] of the circles.
        radii: `(k,)` or one [m] of all.
    """
    positions = np.atleast_2d(np.asarray(centers, dtype=float))
    circle = unit_circle(ROUNDING_CORNERS)
    radius_of_center = np.broadcast_to(np.asarray(radii, dtype=float), len(positions))
    points = (positions[:, None] + radius_of_center[:, None, None] * circle).reshape(-1, 2)
    points = points[np.lexsort(points.T[::-1])]
    return np.array([*_chain(points)[:-1], *_chain(points[::-1])[:-1]])


def box(center: Any, size: Any) -> Mesh:
    """Return a box of a middle `(3,)` and edges `(3,)` [m], its edges bevelled."""
    x, y, z = 0.5 * np.asarray(size, dtype=float)
    square = np.array([[-x, -y], [x, -y], [x, y], [-x, y]])
    return extruded(square, -z, z, BEVEL_RATIO * min(x, y, z)).moved(
        np.asarray(center, dtype=float)
    )


def helix(radius: float, wire: float, low: float, high: float, turns: float) -> Mesh:
    """Return a spring about z.

    Args:
        radius: of the helix [m].
        wire: radius of the wire [m].
        low: height of its lower end [m].
        high: height of its upper end [m].
        turns: of the wire.
    """
    rings, corners = int(20 * turns), 8
    fraction = np.linspace(0.0, 1.0, rings)
    angle = 2.0 * np.pi * turns * fraction
    outward = np.stack([np.cos(angle), np.sin(angle), np.zeros(rings)], axis=1)
    centre = radius * outward + np.outer(low + fraction * (high - low), [0.0, 0.0, 1.0])
    around_wire = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False)[None, :, None]
    ring = np.cos(around_wire) * outward[:, None] - np.sin(around_wire) * np.eye(3)[2]
    return lofted(centre[:, None] + wire * ring, centre[0], centre[-1])


def _chain(points: FloatArray) -> list[FloatArray]:
    """Return the lower side of the convex area around points in their order."""
    chain: list[FloatArray] = []
    for point in points:
        while len(chain) > 1:
            first_vector, second_vector = chain[-1] - chain[-2], point - chain[-1]
            if first_vector[0] * second_vector[1] - first_vector[1] * second_vector[0] > 0.0:
                break
            chain.pop()
        chain.append(point)
    return chain


def quarters(mesh: Mesh) -> tuple[Mesh, Mesh]:
    """Return a mesh about the origin split into two, by alternating octants."""
    middles = mesh.vertices[mesh.faces].mean(axis=1)
    is_even = np.prod(np.sign(middles), axis=1) > 0.0
    return mesh._replace(faces=mesh.faces[is_even]), mesh._replace(faces=mesh.faces[~is_even])


def creased(mesh: Mesh) -> Mesh:
    """Return a mesh whose triangles share a vertex where they look smooth, and nowhere else.

    Raises:
        MissingDependencyError: trimesh is not installed.
    """
    trimesh = optional("trimesh", "The page")
    sharp = trimesh.graph.smooth_shade(
        trimesh.Trimesh(mesh.vertices, mesh.faces, process=False),
        angle=SHARP_EDGE_ANGLE,
        facet_minarea=None,
    )
    return Mesh(np.array(sharp.vertices), np.array(sharp.faces))


def geom_mesh(model: Any, geom: int, inset: float = 0.0) -> Mesh:
    """Return the triangles of a geom in the frame of its body.

    Args:
        model: MuJoCo's model.
        geom: its index: a sphere, cylinder or mesh.
        inset: [m] by which its surface is drawn further inside.
    """
    kinds = mujoco.mjtGeom
    kind, size = model.geom_type[geom], model.geom_size[geom] - inset
    if kind == kinds.mjGEOM_SPHERE:
        mesh = sphere(size[0])
    elif kind == kinds.mjGEOM_CYLINDER:
        mesh = cylinder(size[0], size[1])
    else:
        mesh = _model_mesh(model, model.geom_dataid[geom], inset)
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    return creased(mesh.moved(model.geom_pos[geom], rotation.reshape(3, 3)))


def _model_mesh(model: Any, mesh_index: int, inset: float) -> Mesh:
    """Return a mesh of the model."""
    vertices = model_vertices(model, mesh_index)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    middle, half_size = 0.5 * (low + high), 0.5 * (high - low)
    vertices = middle + (vertices - middle) * (1.0 - inset / half_size)
    first_face, count = model.mesh_faceadr[mesh_index], model.mesh_facenum[mesh_index]
    return Mesh(vertices, model.mesh_face[first_face : first_face + count].astype(np.int64))


def model_vertices(model: Any, mesh: int) -> FloatArray:
    """Return the vertices `(v, 3)` [m] of a mesh of MuJoCo's model."""
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    vertices: FloatArray = model.mesh_vert[first : first + count].astype(float)
    return vertices
