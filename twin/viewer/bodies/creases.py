"""Triangles of the geoms that MuJoCo's model draws, sharp at edges and smooth elsewhere.

Pages average the normals of triangles that share a vertex. So vertices are doubled along every edge
that shall look sharp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.engines.mujoco.model import mujoco
from twin.viewer.bodies.meshes import Mesh, cylinder, sphere

SHARP = np.cos(np.radians(35.0))
"""Cosine of the angle between two triangles from which on their edge looks sharp."""


def quarters(mesh: Mesh) -> tuple[Mesh, Mesh]:
    """Return a mesh about the origin as two, in alternate eighths of space."""
    middles = mesh.vertices[mesh.faces].mean(axis=1)
    even = np.prod(np.sign(middles), axis=1) > 0.0
    return mesh._replace(faces=mesh.faces[even]), mesh._replace(faces=mesh.faces[~even])


def creased(mesh: Mesh) -> Mesh:
    """Return a mesh whose triangles share a vertex where they look smooth, and nowhere else."""
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sizes = np.linalg.norm(normals, axis=1, keepdims=True)
    units = normals / np.where(sizes > 0.0, sizes, 1.0)
    flat = mesh.faces.ravel()
    order = np.argsort(flat, kind="stable")
    starts = np.flatnonzero(np.diff(flat[order], prepend=-1))
    counts = np.diff(starts, append=len(flat))
    # All pairs of corners at one vertex, in rows of one corner after the other.
    own = np.repeat(order, np.repeat(counts, counts))
    offsets = np.arange(len(own)) - np.repeat(
        np.cumsum(np.repeat(counts, counts)) - np.repeat(counts, counts), np.repeat(counts, counts)
    )
    other = order[np.repeat(np.repeat(starts, counts), np.repeat(counts, counts)) + offsets]
    alike = np.einsum("ij,ij->i", units[own // 3], units[other // 3]) > SHARP
    mean = np.zeros((len(flat), 3))
    np.add.at(mean, own[alike], normals[other[alike] // 3])
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-300)
    keys = np.column_stack([flat, np.rint(50.0 * mean)])
    _, first, faces = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return Mesh(mesh.vertices[flat[first]], faces.reshape(-1, 3))


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
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
    return creased(mesh.moved(model.geom_pos[geom], turn.reshape(3, 3)))


def _model_mesh(model: Any, number: int, inset: float) -> Mesh:
    """Return a mesh of the model."""
    first, count = model.mesh_vertadr[number], model.mesh_vertnum[number]
    vertices = model.mesh_vert[first : first + count].astype(float)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    vertices = middle + (vertices - middle) * (1.0 - inset / half)
    first, count = model.mesh_faceadr[number], model.mesh_facenum[number]
    return Mesh(vertices, model.mesh_face[first : first + count].astype(np.int64))
