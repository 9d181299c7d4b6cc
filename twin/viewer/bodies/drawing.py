"""Meshes of machines from files of CAD programs."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.optional import optional
from twin.errors import InputError
from twin.machine.file.drawing import FIELD, Appearance
from twin.viewer.bodies.meshes import Mesh

MOST = 200_000
"""Triangles of a mesh, which MuJoCo takes from a file, too."""

SMALLEST, LARGEST = 1e-6, 1e6
"""[m] Width of a mesh."""

MIN_CORNERS = 4
"""Different vertices of a mesh, which MuJoCo asks for."""

UNIT = "appearance.unit"
"""Field of the length of one unit of a mesh."""

UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Turns y upwards, as in glTF, to z upwards."""


def drawn_mesh(look: Appearance) -> Mesh:
    """Return the mesh of a drawing in the platform frame [m].

    Raises:
        InputError: a file that cannot be read, without triangles or with too many, or whose
            triangles enclose nothing that can be drawn.
        MissingDependencyError: trimesh is not installed.
    """
    path = Path(look.mesh)
    try:
        return _read(path, path.stat().st_mtime_ns, look.unit)
    except OSError as error:
        raise InputError(FIELD, f"cannot read {path} ({error.strerror})") from None


@lru_cache(maxsize=4)
def _read(path: Path, _changed: int, unit: float) -> Mesh:
    trimesh = optional("trimesh")
    try:
        with np.errstate(all="ignore"):
            found = trimesh.load_scene(path).to_mesh()
        vertices, faces = np.array(found.vertices), np.array(found.faces, dtype=np.int64)
    except OSError:
        raise
    except Exception as error:  # the library's readers fail in ways of their own
        raise InputError(FIELD, f"{path} is no {path.suffix} file ({error})") from None
    if not 4 <= len(faces) <= MOST:
        raise InputError(FIELD, f"{path} has {len(faces)} triangles; 4 to {MOST} can be drawn")
    if not np.isfinite(vertices).all():
        raise InputError(FIELD, f"{path} has vertices that are not finite")
    if not 0 <= faces.min() <= faces.max() < len(vertices):
        message = f"{path} has a triangle with vertex {faces.max()} of {len(vertices)}; write it"
        raise InputError(FIELD, f"{message} anew")
    _check_size(unit * vertices[faces], path)
    turn = UPRIGHT if path.suffix.lower() == ".glb" else np.eye(3)
    return Mesh(unit * vertices @ turn.T, faces)


def _check_size(corners: FloatArray, path: Path) -> None:
    """Check that triangles `(k, 3, 3)` [m] have a size and corners that can be drawn."""
    extent = float(np.ptp(corners, axis=(0, 1)).max())
    if not SMALLEST <= extent <= LARGEST:
        raise InputError(UNIT, f"makes {path} {extent:.3g} m wide; check the unit")
    edges = np.diff(corners, axis=1)
    area = 0.5 * np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1).sum()
    distinct = len(np.unique(corners.reshape(-1, 3).astype(np.float32), axis=0))
    if distinct < MIN_CORNERS or area < SMALLEST**2:
        message = f"{path} has {distinct} different vertices and an area of {area:.3g} m2: it is"
        raise InputError(FIELD, f"{message} no body that can be drawn")
