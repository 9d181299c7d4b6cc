"""Meshes of machines from files of CAD programs."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from twin.basics.optional import optional
from twin.errors import InputError
from twin.machine.file.drawing import FIELD, Appearance
from twin.viewer.bodies.meshes import Mesh

MOST = 200_000
"""Triangles of a mesh, which MuJoCo takes from a file, too."""

UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Turns y upwards, as in glTF, to z upwards."""


def drawn_mesh(look: Appearance) -> Mesh:
    """Return the mesh of a drawing in the platform frame [m].

    Raises:
        InputError: a file that cannot be read, without triangles or with too many.
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
    turn = UPRIGHT if path.suffix.lower() == ".glb" else np.eye(3)
    return Mesh(unit * vertices @ turn.T, faces)
