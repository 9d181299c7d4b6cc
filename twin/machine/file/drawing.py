"""Drawings of machines: files with meshes that platform.toml names, found beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from twin.basics.toml import toml_content
from twin.errors import ParameterError, brief
from twin.machine.quantity import Length, Table

MESH_SUFFIXES = (".glb", ".stl")

MAX_FILE_SIZE = 50e6
"""[byte] Largest size of a mesh file."""

MESH_FIELD = "appearance.mesh"


class Appearance(Table):
    """Drawing of the platform in pictures; nothing that is computed depends on it."""

    mesh: str = Field(description="File beside this one: .glb, upwards along y, or .stl, along z")
    unit: Length = Field(1.0, gt=0, description="Length of one unit of the mesh")


def content_with_drawing(raw: bytes, file: Path) -> dict[str, Any]:
    """Return the content of a TOML text, with the mesh that it may name in the file's folder.

    Raises:
        ParameterError: as `toml_content`; a mesh that is no file below the file's folder.
    """
    content = toml_content(raw, file)
    tables = content.get("configuration")
    for table in (content, *(tables.values() if isinstance(tables, dict) else ())):
        appearance = table.get("appearance") if isinstance(table, dict) else None
        if isinstance(appearance, dict) and "mesh" in appearance:
            appearance["mesh"] = str(_mesh_path(appearance["mesh"], file))
    return content


def _mesh_path(mesh: Any, file: Path) -> Path:
    """Return the path of a mesh that is named relative to a file."""
    if not isinstance(mesh, str) or not mesh or "\0" in mesh:
        raise _refused(file, f"must be the name of a file, not {brief(mesh)}")
    folder = file.parent.resolve()
    path = (folder / mesh).resolve()
    if path.suffix.lower() not in MESH_SUFFIXES:
        raise _refused(file, f"must end in {' or '.join(MESH_SUFFIXES)}, not {brief(mesh)}")
    if not path.is_relative_to(folder):
        raise _refused(file, f"must be in the folder of this file or below it, not {brief(mesh)}")
    try:
        is_file = path.is_file()
        size = path.stat().st_size if is_file else 0
    except OSError as error:
        raise _refused(file, f"cannot use {brief(mesh)} ({error.strerror})") from None
    if not is_file:
        raise _refused(file, f"there is no file {mesh} in {folder}")
    if size > MAX_FILE_SIZE:
        raise _refused(
            file, f"{mesh} is larger than {MAX_FILE_SIZE / 1e6:.0f} MB; reduce its triangles"
        )
    return path


def _refused(file: Path, message: str) -> ParameterError:
    return ParameterError(file, [(MESH_FIELD, message)])
