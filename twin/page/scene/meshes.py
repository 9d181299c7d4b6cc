"""Triangles of the shapes that MuJoCo's model draws; edges are sharp, round faces smooth.

Pages average the normals of triangles that share a vertex. So vertices are shared within a round
face, and doubled along every edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import FloatArray
from twin.engines.mujoco.model import mujoco

AROUND = 48
"""Corners of a drawn circle; a multiple of four, so that quarters end at one."""

ALONG = 24
"""Faces of a sphere from pole to pole; even, so that halves end at one."""

BEVEL = 0.06
"""Width of the bevel of a cylinder's rims over the smaller of its radius and half its height."""


class Mesh(NamedTuple):
    """Triangles, seen from outside."""

    vertices: FloatArray
    """`(v, 3)` [m]"""
    faces: NDArray[np.int64]
    """`(f, 3)` indices of vertices, anticlockwise"""


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Return meshes as one."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)]),
    )


def geom_mesh(model: Any, geom: int, inset: float = 0.0) -> Mesh:
    """Return the triangles of a geom in the frame of its body.

    Args:
        model: MuJoCo's model.
        geom: its index: a sphere, cylinder, box or mesh.
        inset: [m] by which its surface is drawn further inside.
    """
    kinds = mujoco.mjtGeom
    kind, size = model.geom_type[geom], model.geom_size[geom] - inset
    if kind == kinds.mjGEOM_SPHERE:
        mesh = sphere(size[0])
    elif kind == kinds.mjGEOM_CYLINDER:
        mesh = cylinder(size[0], size[1])
    elif kind == kinds.mjGEOM_BOX:
        mesh = _box(size)
    else:
        mesh = _model_mesh(model, model.geom_dataid[geom], inset)
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
    return mesh._replace(vertices=mesh.vertices @ turn.reshape(3, 3).T + model.geom_pos[geom])


def sphere(radius: float) -> Mesh:
    """Return a sphere about the origin."""
    angles = np.linspace(0.0, np.pi, ALONG + 1)
    profile = radius * np.stack([np.sin(angles), -np.cos(angles)], axis=1)
    profile[-1, 0] = 0.0
    return _turned(profile)


def cylinder(radius: float, half: float) -> Mesh:
    """Return a cylinder along z, from -half to half [m], with bevelled rims."""
    bevel = BEVEL * min(radius, half)
    corners = np.array(
        [
            [0.0, -half],
            [radius - bevel, -half],
            [radius, -half + bevel],
            [radius, half - bevel],
            [radius - bevel, half],
            [0.0, half],
        ]
    )
    return joined([_turned(corners[k : k + 2]) for k in range(len(corners) - 1)])


def quarters(mesh: Mesh) -> tuple[Mesh, Mesh]:
    """Return a mesh about the origin as two, in alternate eighths of space."""
    middles = mesh.vertices[mesh.faces].mean(axis=1)
    even = np.prod(np.sign(middles), axis=1) > 0.0
    return mesh._replace(faces=mesh.faces[even]), mesh._replace(faces=mesh.faces[~even])


def _turned(profile: FloatArray) -> Mesh:
    """Return a profile `(p, 2)` of radii and heights, turned about z; it is smooth throughout."""
    angles = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rings = np.empty((len(profile), AROUND, 3))
    rings[..., :2] = profile[:, :1, None] * circle
    rings[..., 2] = profile[:, 1:]
    here = np.arange(AROUND)
    following = np.roll(here, -1)
    faces = []
    for k in range(len(profile) - 1):
        low, high = k * AROUND, (k + 1) * AROUND
        if profile[k, 0] > 0.0:
            faces.append(np.stack([low + here, low + following, high + here], axis=1))
        if profile[k + 1, 0] > 0.0:
            faces.append(np.stack([low + following, high + following, high + here], axis=1))
    return Mesh(rings.reshape(-1, 3), np.concatenate(faces))


def _box(half: FloatArray) -> Mesh:
    """Return a box about the origin of half edges `(3,)`."""
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    sides = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            corners = np.empty((4, 3))
            corners[:, axis] = sign
            corners[:, [(axis + 1) % 3, (axis + 2) % 3]] = square if sign > 0.0 else square[::-1]
            sides.append(Mesh(corners * half, np.array([[0, 1, 2], [0, 2, 3]])))
    return joined(sides)


def _model_mesh(model: Any, number: int, inset: float) -> Mesh:
    """Return a mesh of the model, flat between its edges."""
    first, count = model.mesh_vertadr[number], model.mesh_vertnum[number]
    vertices = model.mesh_vert[first : first + count].astype(float)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    vertices = middle + (vertices - middle) * (1.0 - inset / half)
    first, count = model.mesh_faceadr[number], model.mesh_facenum[number]
    corners = vertices[model.mesh_face[first : first + count]].reshape(-1, 3)
    return Mesh(corners, np.arange(len(corners)).reshape(-1, 3))
